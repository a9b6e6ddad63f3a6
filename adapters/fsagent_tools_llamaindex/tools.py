"""Core tools as FunctionTools, and as a tool spec."""

import asyncio
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from llama_index.core.base.llms.types import ContentBlock, DocumentBlock, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec
from llama_index.core.workflow import Context, Event, WorkflowRuntimeError

from fsagent_tools import Outcome, Tool, Toolset, emitting, identified, select_tools
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.types import Options, WorkspaceSource, with_signature
from fsagent_tools_llamaindex.approval import call_of, in_turn, inside

Images = Literal["tool", "off"]


class ContextOptions(Options, total=False):
    """`Options`, and what tools put out.

    Attributes:
        images: "tool" (default) puts pictures and documents into a tool's output, as blocks that
            LlamaIndex's LLM class sends as its provider accepts them; "off" leaves them out.
    """

    images: Images


@with_signature
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


@with_signature
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
        facts: dict[str, Any] = {
            "effect": tool.effect.value,
            "risk": tool.risk,
            "permissions": tool.permissions,
        }
        made = FsAgentMetadata(
            tool.description, tool.name, tool.arguments, side_effects=tool.side_effects, **facts
        )
        super().__init__(run, metadata or made, arun)
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


def output_of(
    outcome: Outcome, tool_name: str, arguments: dict[str, Any], *, images: Images = "tool"
) -> ToolOutput:
    """Text first, images and documents after it; `raw_output` is `Outcome.to_dict()`."""
    blocks: list[ContentBlock] = [TextBlock(text=outcome.text)]
    for block in outcome.blocks if images == "tool" else ():
        data, kind = b64decode(block.data), block.mime_type
        if block.kind == "image":
            blocks.append(ImageBlock(image=data, image_mimetype=kind))
        else:
            blocks.append(DocumentBlock(data=data, document_mimetype=kind))
    return ToolOutput(
        tool_name=tool_name,
        blocks=blocks,
        raw_input=arguments,
        raw_output=outcome.to_dict(),
        is_error=not outcome.ok,
    )


class FsAgentToolSpec(BaseToolSpec):
    """A tool spec with the tools of `get_tools`, which takes the same arguments.

    Each tool is also a method: `spec.read("a.txt")` returns text, and so does `await spec.aread`.
    """

    def __init__(
        self,
        workspace: WorkspaceSource,
        toolset: Toolset | str | None = None,
        **options: Unpack[ContextOptions],
    ) -> None:
        made: list[Any] = get_tools(workspace, toolset, **options)
        self._tools: dict[str, FsAgentTool] = {tool.core.name: tool for tool in made}
        self.spec_functions = [*self._tools]
        for name, tool in self._tools.items():
            vars(self).update(zip((name, f"a{name}"), functions(tool.core), strict=True))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Any]: ...

    def to_tool_list(
        self,
        spec_functions: Sequence[SPEC_FUNCTION_TYPE] | None = None,
        func_to_metadata_mapping: Mapping[str, ToolMetadata] | None = None,
    ) -> list[FunctionTool]:
        """All tools, or those named in `spec_functions`, where a pair is a tool's two methods.

        Raises `KeyError` for an unknown name.
        """
        metadata = func_to_metadata_mapping or {}
        made: list[FunctionTool] = []
        for one in spec_functions or self.spec_functions:
            names = (one, one) if isinstance(one, str) else one
            tool = self._tools[names[0]]
            own = metadata.get(names[0]) or metadata.get(names[1])
            made.append(FsAgentTool(tool.core, own, tool.images))
        return made


def functions(tool: Tool) -> tuple[Callable[..., str], Callable[..., Awaitable[str]]]:
    """The tool as Python functions, sync and async, that answer with text.

    Agents that write code are shown their signature and documentation.
    """

    def run(*given: Any, **arguments: Any) -> str:
        return _answer(tool, tool.by_position(given, arguments)).text

    async def arun(*given: Any, **arguments: Any) -> str:
        return (await _aanswer(tool, tool.by_position(given, arguments))).text

    fields = [f"{n}: {f['description']}" for n, f in tool.schema["properties"].items()]
    for function in (run, arun):
        function.__name__ = tool.name
        function.__doc__ = "\n".join([tool.description, "", *fields])
        vars(function)["__signature__"] = tool.signature
    return run, arun


def _answer(tool: Tool, sent: dict[str, Any]) -> Outcome:
    with _running(tool, sent) as (here, _):
        return here.call(sent)


async def _aanswer(tool: Tool, sent: dict[str, Any]) -> Outcome:
    with _running(tool, sent) as (here, context):

        def write(text: str) -> None:
            context.write_event_to_stream(OutputDelta(tool_name=tool.name, delta=text))

        with emitting(write if context else None), in_turn(tool.effect_of(sent), sent):
            return await here.acall(sent)


@contextmanager
def _running(tool: Tool, sent: dict[str, Any]) -> Iterator[tuple[Tool, Any]]:
    """The tool in the step of a workflow that runs it, if one does, and the step's context."""
    try:
        context: Any = Context.get_step_context()
    except WorkflowRuntimeError:
        context = None
    with tool.within(context) as here, inside(context), identified(call=call_of(sent)):
        yield here, context
