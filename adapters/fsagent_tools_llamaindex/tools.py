"""Core tools as FunctionTools."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Unpack

from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.workflow import Context, Event, WorkflowRuntimeError

from fsagent_tools import Options, Tool, Toolset, WorkspaceSource, emitting, select_tools
from fsagent_tools_llamaindex.approval import inside
from fsagent_tools_llamaindex.content import output_of
from fsagent_tools_llamaindex.travel import following


class ContextOptions(Options, total=False):
    """`Options`, and what a workflow's `Context` has to do with the files.

    checkpoints: a `Context` that was kept and is used again gets the files that it had then, at the
    first call of a tool (default False; needs a workspace with a history).
    """

    checkpoints: bool


def get_tools(
    workspace: WorkspaceSource,
    toolset: Toolset | str | None = None,
    **options: Unpack[ContextOptions],
) -> list[FunctionTool | Any]:  # Any: agents take a list of more kinds, and lists are invariant
    """The toolset's tools, for `FunctionAgent(tools=...)` or `AgentWorkflow`.

    `options` are those of `ContextOptions`. Raises `ConfigInvalid` for a wrong one.
    """
    chosen: dict[str, Any] = {**options}
    kind = FollowingTool if chosen.pop("checkpoints", False) else FsAgentTool
    return [kind(tool) for tool in select_tools(workspace, toolset, **chosen)]


async def aget_tools(
    workspace: WorkspaceSource,
    toolset: Toolset | str | None = None,
    **options: Unpack[ContextOptions],
) -> list[FunctionTool | Any]:
    """`get_tools` for a running event loop, which goes on while files are read."""
    return await asyncio.to_thread(get_tools, workspace, toolset, **options)


class OutputDelta(Event):
    """Live output of a running tool, on the workflow's event stream."""

    tool_name: str
    delta: str


@dataclass
class FsAgentMetadata(ToolMetadata):
    """What a tool may do, beside what LlamaIndex knows of it."""

    effect: str = ""
    permissions: tuple[str, ...] = ()
    risk: str = ""
    side_effects: tuple[str, ...] = ()


class FsAgentTool(FunctionTool):
    """A FunctionTool that hands arguments to the core as the model sent them.

    A copy works in the same workspace. A pickle has how that was made, and nothing of what
    happened in it.
    """

    def __init__(self, tool: Tool, metadata: ToolMetadata | None = None) -> None:
        run, arun = functions(tool)
        super().__init__(run, metadata or _metadata(tool), arun)
        self.core = tool

    def __reduce__(self) -> tuple[Any, ...]:
        own = None if isinstance(self.metadata, FsAgentMetadata) else self.metadata
        return type(self), (self.core, own)

    def call(self, /, *given: Any, **arguments: Any) -> ToolOutput:
        """Run the tool; a refusal comes back with `is_error`, and its text says so."""
        sent = self.core.by_position(given, arguments)
        with _running(self.core) as here:
            outcome = here.call(sent)
        return output_of(outcome, self.metadata.get_name(), sent)

    async def acall(self, /, *given: Any, **arguments: Any) -> ToolOutput:
        """`call` in a thread; cancelling the awaiting task stops the work."""
        sent = self.core.by_position(given, arguments)
        with _running(self.core) as here, emitting(_sink(self.core, _step())):
            outcome = await here.acall(sent)
        return output_of(outcome, self.metadata.get_name(), sent)


class FollowingTool(FsAgentTool):
    """The tool of `get_tools(checkpoints=True)`."""

    def __init__(self, tool: Tool, metadata: ToolMetadata | None = None) -> None:
        super().__init__(tool, metadata)
        if tool.pool is None:
            _ = tool.workspace.history  # raises where there is none

    async def acall(self, /, *given: Any, **arguments: Any) -> ToolOutput:
        context = _step()
        if context is None:
            return await super().acall(*given, **arguments)
        with self.core.within(context) as here:
            async with following(context, here):
                return await super().acall(*given, **arguments)


def functions(tool: Tool) -> tuple[Callable[..., str], Callable[..., Awaitable[str]]]:
    """The tool as Python functions, sync and async, that answer with text.

    Agents that write code are shown their signature and documentation.
    """

    def run(*given: Any, **arguments: Any) -> str:
        with _running(tool) as here:
            return here.call(tool.by_position(given, arguments)).text

    async def arun(*given: Any, **arguments: Any) -> str:
        with _running(tool) as here, emitting(_sink(tool, _step())):
            return (await here.acall(tool.by_position(given, arguments))).text

    told = [f"{n}: {f['description']}" for n, f in tool.schema["properties"].items()]
    for function in (run, arun):
        function.__name__ = tool.name
        function.__doc__ = "\n".join([tool.description, "", *told])
        vars(function)["__signature__"] = tool.signature
    return run, arun


def _metadata(tool: Tool) -> FsAgentMetadata:
    return FsAgentMetadata(
        tool.description,
        tool.name,
        tool.arguments,
        effect=tool.effect.value,
        permissions=tool.permissions,
        risk=tool.risk,
        side_effects=tool.side_effects,
    )


@contextmanager
def _running(tool: Tool) -> Iterator[Tool]:
    """The tool in the step of a workflow that runs it, if one does."""
    context = _step()
    with tool.within(context) as here, inside(context):
        yield here


def _step() -> "Context | None":
    try:
        return Context.get_step_context()
    except WorkflowRuntimeError:
        return None


def _sink(tool: Tool, context: "Context | None") -> Callable[[str], None] | None:
    if context is None:
        return None

    def write(text: str) -> None:
        context.write_event_to_stream(OutputDelta(tool_name=tool.name, delta=text))

    return write
