"""Files that follow a `Context`: it knows which ones belong to it."""

import os
from asyncio import to_thread
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

from llama_index.core.workflow import Context

from fsagent_tools import Effect, Tool, identified
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.types import Lineage, Position, ThreadRun

KEY = "fsagent"  # in the state: the thread's name, and its position
UNCHANGED = (Effect.READ, Effect.NETWORK)  # effects after which the files are the same
_runs = WeakKeyDictionary[Any, ThreadRun]()  # by the stores of their contexts


@asynccontextmanager
async def following(context: Context, tool: Tool) -> AsyncIterator[None]:
    """Around a call: the files are those of the context before it, and it knows them after it.

    Raises as `Lineage.arrive` does, and `ConfigInvalid` for a state of fixed fields.
    """
    step, run = os.urandom(8).hex(), _runs.setdefault(context.store, ThreadRun(lasting=False))

    def arrive(thread: Lineage, known: Position | None) -> Position | None:
        return thread.arrive(known, step) or known

    with run.working():
        name = await _moved(context, tool, run, arrive)
        with identified(session=name):
            yield
        if tool.effect not in UNCHANGED:
            await _moved(context, tool, run, lambda thread, _: thread.leave(step))


async def _moved(
    context: Context,
    tool: Tool,
    run: ThreadRun,
    move: Callable[[Lineage, Position | None], Position | None],
) -> str:
    """Let `move` tell the state's position, one call at a time; returns the thread's name."""
    async with context.store.edit_state() as state:
        known: dict[str, Any] = state.get(KEY) or {"thread": os.urandom(8).hex()}
        position = known.get("position")
        moved = await to_thread(move, Lineage(tool.workspace, known["thread"], "", run), position)
        try:
            state[KEY] = {**known, "position": moved}
        except (TypeError, ValueError):
            raise ConfigInvalid(
                f"The context's state takes no {KEY!r}.", hint="Give it a DictState."
            ) from None
    return str(known["thread"])
