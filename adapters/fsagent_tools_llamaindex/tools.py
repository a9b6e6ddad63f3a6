"""Core tools as FunctionTools."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Unpack, get_args

from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.workflow import Context, Event, WorkflowRuntimeError

from fsagent_tools import Outcome, Tool, Toolset, emitting, identified, select_tools
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.types import Options, WorkspaceSource
from fsagent_tools_llamaindex.approval import call_of, in_turn, inside
from fsagent_tools_llamaindex.content import Images, output_of


class ContextOptions(Options, total=False):
    """`Options`, and how they concern agents and workflows of LlamaIndex.

    Attributes:
        images: "tool" (default) puts pictures and documents into a tool's output, as blocks that
            LlamaIndex's LLM class sends as its provider accepts them; "off" leaves them out.
    """

    images: Images


def get_tools(
    workspace: WorkspaceSource,
    toolset: Toolset | str | None = None,
    **options: Unpack[ContextOptions],
) -> list[FunctionTool | Any]:  # Any: agents take a list of more kinds, and lists are invariant
    """The toolset's tools, for `FunctionAgent(tools=...)` or `AgentWorkflow`.

    Args:
        workspace: A `Workspace`, a path, or a function that returns a workspace or path for the
            workflow's `Context` of a call (None outside one).
        toolset: A toolset or its name; by default the configured one, else "lines".
        **options: Those of `ContextOptions`.

    Raises:
        ConfigInvalid: If an option is wrong; the message names the right ones.
    """
    chosen: dict[str, Any] = {**options}
    images: Images = chosen.pop("images", "tool")
    if images not in get_args(Images):
        raise ConfigInvalid(f"images is one of {', '.join(get_args(Images))}.")
    return [FsAgentTool(tool, None, images) for tool in select_tools(workspace, toolset, **chosen)]


async def aget_tools(
    workspace: WorkspaceSource,
    toolset: Toolset | str | None = None,
    **options: Unpack[ContextOptions],
) -> list[FunctionTool | Any]:
    """`get_tools` for a running event loop, which is not blocked while files are read."""
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

    def __init__(
        self, tool: Tool, metadata: ToolMetadata | None = None, images: Images = "tool"
    ) -> None:
        run, arun = functions(tool)
        super().__init__(run, metadata or _metadata(tool), arun)
        self.core, self.images = tool, images

    def __reduce__(self) -> tuple[Any, ...]:
        own = None if isinstance(self.metadata, FsAgentMetadata) else self.metadata
        return type(self), (self.core, own, self.images)

    def call(self, /, *given: Any, **arguments: Any) -> ToolOutput:
        """Run the tool; a refusal comes back with `is_error`, and its text says so."""
        sent = self.core.by_position(given, arguments)
        return self._output(_answer(self.core, sent), sent)

    async def acall(self, /, *given: Any, **arguments: Any) -> ToolOutput:
        """`call` in a thread; cancelling the awaiting task stops the work."""
        sent = self.core.by_position(given, arguments)
        return self._output(await _aanswer(self.core, sent), sent)

    def _output(self, outcome: Outcome, sent: dict[str, Any]) -> ToolOutput:
        return output_of(outcome, self.metadata.get_name(), sent, images=self.images)


def functions(tool: Tool) -> tuple[Callable[..., str], Callable[..., Awaitable[str]]]:
    """The tool as Python functions, sync and async, that answer with text.

    Agents that write code are shown their signature and documentation.
    """

    def run(*given: Any, **arguments: Any) -> str:
        return _answer(tool, tool.by_position(given, arguments)).text

    async def arun(*given: Any, **arguments: Any) -> str:
        return (await _aanswer(tool, tool.by_position(given, arguments))).text

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


def _answer(tool: Tool, sent: dict[str, Any]) -> Outcome:
    with _running(tool, sent) as here:
        return here.call(sent)


async def _aanswer(tool: Tool, sent: dict[str, Any]) -> Outcome:
    with (
        _running(tool, sent) as here,
        emitting(_sink(tool, _step())),
        in_turn(tool.effect_of(sent), sent),
    ):
        return await here.acall(sent)


@contextmanager
def _running(tool: Tool, sent: dict[str, Any]) -> Iterator[Tool]:
    """The tool in the step of a workflow that runs it, if one does."""
    context = _step()
    identity = identified(call=call_of(sent))
    with tool.within(context) as here, inside(context), identity:
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
