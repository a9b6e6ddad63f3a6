"""Files that follow a `Context`: it knows which ones belong to it."""

import os
from asyncio import to_thread
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from llama_index.core.workflow import Context

from fsagent_tools import Effect, Lineage, Position, Tool, identified
from fsagent_tools.errors import ConfigInvalid

KEY = "fsagent"  # in the state: the thread's name, and its position
UNCHANGED = (Effect.READ, Effect.NETWORK)  # effects after which the files are the same


@asynccontextmanager
async def following(context: Context, tool: Tool) -> AsyncIterator[None]:
    """Around a call: the files are those of the context before it, and it knows them after it.

    Raises as `Lineage.arrive` does, and `ConfigInvalid` for a state of fixed fields.
    """
    step = os.urandom(8).hex()

    def arrive(thread: Lineage, known: Position | None) -> Position | None:
        return thread.arrive(known, step) or known

    name = await _moved(context, tool, arrive)
    with identified(session=name):
        yield
    if tool.effect not in UNCHANGED:
        await _moved(context, tool, lambda thread, _: thread.leave(step))


async def _moved(
    context: Context, tool: Tool, move: Callable[[Lineage, Position | None], Position | None]
) -> str:
    """Let `move` tell the state's position, one call at a time; returns the thread's name."""
    async with context.store.edit_state() as state:
        known: dict[str, Any] = state.get(KEY) or {"thread": os.urandom(8).hex()}
        position = known.get("position")
        moved = await to_thread(move, Lineage(tool.workspace, known["thread"]), position)
        try:
            state[KEY] = {**known, "position": moved}
        except (TypeError, ValueError):
            raise ConfigInvalid(
                f"The context's state takes no {KEY!r}.", hint="Give it a DictState."
            ) from None
    return str(known["thread"])
