"""Files that follow a thread: each state of the graph knows which files belong to it."""

import os
from asyncio import to_thread
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any, NotRequired
from weakref import WeakValueDictionary

from langchain.agents.middleware import AgentState, ModelRequest
from langchain.agents.middleware.types import ExtendedModelResponse, PrivateStateAttr
from langchain_core.messages import ToolMessage
from langgraph.channels import UntrackedValue
from langgraph.config import get_config
from langgraph.types import Command

from fsagent_tools import Effect, Tool
from fsagent_tools.types import Lineage, Position, ThreadRun
from fsagent_tools_langchain.live import ids_of
from fsagent_tools_langchain.preview import run_of

KEY, RUN = "fsagent_position", "fsagent_run"
UNCHANGED = (Effect.READ, Effect.NETWORK)  # effects after which the files are the same
_runs = WeakValueDictionary[str, ThreadRun]()


def later(one: Position | None, other: Position | None) -> Position | None:
    """The reducer: of calls that ran beside each other, the last one knows all that changed."""
    return max((one, other), key=lambda position: position["at"] if position else -1)


class RunChannel(UntrackedValue[str]):
    """A name for the run, which goes on as long as a graph holds its channels. Never saved."""

    def from_checkpoint(self, checkpoint: Any) -> "RunChannel":
        new = super().from_checkpoint(checkpoint)
        name = os.urandom(8).hex()
        new.value = RunName(name)
        _runs[name] = new.value.run = ThreadRun()
        return new

    def get(self) -> str:
        """Without the run: whoever keeps a state does not keep it."""
        return str(super().get())


class RunName(str):
    """Holds the run."""

    run: ThreadRun


class FollowedState(AgentState[Any]):
    """`fsagent_position`: the checkpoint of the workspace that belongs to the state.

    fsagent_run: which run of the thread it is.
    """

    fsagent_position: NotRequired[Annotated[Position | None, PrivateStateAttr, later]]
    fsagent_run: NotRequired[Annotated[str, PrivateStateAttr, RunChannel]]


class Following:
    """Hooks of `FsAgentMiddleware(checkpoints=True)`, before those of the class behind it."""

    tools: Any
    state_schema = FollowedState

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self.tools[0].core.pool is None:
            _ = self.tools[0].core.workspace.history  # raises where there is none

    def wrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
        with _run(request.state).working():
            moved = self._arrive(request.state, request.runtime)
            return _told(super().wrap_model_call(request, handler), moved)  # type: ignore[misc]

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
        with _run(request.state).working():
            moved = await to_thread(self._arrive, request.state, request.runtime)
            result = await super().awrap_model_call(request, handler)  # type: ignore[misc]
            return _told(result, moved)

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        with _run(request.state).working():
            moved = self._arrive(request.state, request.runtime)
            result = super().wrap_tool_call(request, handler)  # type: ignore[misc]
            return _updated(result, self._leave(request) or moved)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        with _run(request.state).working():
            moved = await to_thread(self._arrive, request.state, request.runtime)
            result = await super().awrap_tool_call(request, handler)  # type: ignore[misc]
            return _updated(result, await to_thread(self._leave, request) or moved)

    def _arrive(self, state: Any, runtime: Any) -> Position | None:
        """The files of the state; a position, where the state is to have a new one."""
        back = "checkpoint_id" in get_config().get("metadata", {})
        with self._lineage(state, runtime) as lineage:
            step = runtime.execution_info.checkpoint_id
            return lineage.arrive(state.get(KEY), step, back=back) if lineage else None

    def _leave(self, request: Any) -> Position | None:
        core = getattr(request.tool, "core", None)
        if isinstance(core, Tool) and core.effect in UNCHANGED:
            return None
        with self._lineage(request.state, request.runtime) as lineage:
            step = request.runtime.execution_info.checkpoint_id
            return lineage.leave(step) if lineage else None

    @contextmanager
    def _lineage(self, state: Any, runtime: Any) -> Iterator[Lineage | None]:
        """None without a thread: nothing keeps states then."""
        run = run_of(state, runtime)
        thread = ids_of(run, None)["session"]
        if thread is None:
            yield None
            return
        part = runtime.execution_info.checkpoint_ns.rpartition("|")[0]
        with self.tools[0].core.within(run) as here:
            yield Lineage(here.workspace, thread, part, _run(state))


def _run(state: Any) -> ThreadRun:
    return _runs.get(state.get(RUN, "")) or ThreadRun()


def _told(response: Any, moved: Position | None) -> Any:
    if moved is None:
        return response
    return ExtendedModelResponse(response, Command(update={KEY: moved}))


def _updated(result: Any, moved: Position | None) -> Any:
    """The result of a tool with a position for the state."""
    if moved is None:
        return result
    if isinstance(result, ToolMessage):
        return Command(update={"messages": [result], KEY: moved})
    if isinstance(result, Command) and result.graph is None and isinstance(result.update, dict):
        return replace(result, update={**result.update, KEY: moved})
    return result
