"""Core tools as FunctionTools, and as a tool spec."""

import asyncio
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from llama_index.core.base.llms.types import ContentBlock, DocumentBlock, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec
from llama_index.core.workflow import Event

from fsagent_tools import Outcome, Tool, emitting, identified, select_tools
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.types import AnyToolset, Options, WorkspaceSource, with_signature
from fsagent_tools_llamaindex.approval import call_of, in_turn, step_context

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
    workspace: WorkspaceSource, toolset: AnyToolset = None, **options: Unpack[ContextOptions]
) -> list["FsAgentTool | Any"]:  # Any: agents take a list of more kinds, and lists are invariant
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
    workspace: WorkspaceSource, toolset: AnyToolset = None, **options: Unpack[ContextOptions]
) -> list["FsAgentTool | Any"]:
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

    A copy works in the same workspace; a pickle has how that was made, and nothing of its past.
    """

    def __init__(
        self, tool: Tool, metadata: ToolMetadata | None = None, images: Images = "tool"
    ) -> None:
        def run(*given: Any, **arguments: Any) -> str:
            return self.call(*given, **arguments).content

        async def arun(*given: Any, **arguments: Any) -> str:
            return (await self.acall(*given, **arguments)).content

        fields = [f"{n}: {f['description']}" for n, f in tool.schema["properties"].items()]
        for function in (run, arun):  # agents that write code are shown what these are
            function.__name__, vars(function)["__signature__"] = tool.name, tool.signature
            function.__doc__ = "\n".join([tool.description, "", *fields])
        facts = tool.effect.value, tool.permissions, tool.risk, tool.side_effects
        own = FsAgentMetadata(tool.description, tool.name, tool.arguments, False, *facts)
        super().__init__(run, metadata or own, arun)
        self.core, self.images, self._given = tool, images, metadata

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.core, self._given, self.images)

    def call(self, /, *given: Any, **arguments: Any) -> ToolOutput:
        """Run the tool; a refusal comes back with `is_error`, and its text says so."""
        sent = self.core.by_position(given, arguments)
        with self.core.within(step_context()) as here, identified(call=call_of(sent)):
            return output_of(here.call(sent), self.metadata.get_name(), sent, self.images)

    async def acall(self, /, *given: Any, **arguments: Any) -> ToolOutput:
        """`call` in a thread; cancelling the awaiting task stops the work."""
        sent = self.core.by_position(given, arguments)
        context, call = step_context(), call_of(sent)

        def write(text: str) -> None:
            if context:
                context.write_event_to_stream(OutputDelta(tool_name=self.core.name, delta=text))

        turn = in_turn(self.core.effect_of(sent), call)
        with self.core.within(context) as here, identified(call=call), emitting(write), turn:
            return output_of(await here.acall(sent), self.metadata.get_name(), sent, self.images)


def output_of(outcome: Outcome, name: str, sent: Any, images: Images = "tool") -> ToolOutput:
    """Text first, images and documents after it; `raw_output` is `Outcome.to_dict()`."""
    blocks: list[ContentBlock] = [TextBlock(text=outcome.text)]
    for block in outcome.blocks if images == "tool" else ():
        data, kind = b64decode(block.data), block.mime_type
        if block.kind == "image":
            blocks.append(ImageBlock(image=data, image_mimetype=kind))
        else:
            blocks.append(DocumentBlock(data=data, document_mimetype=kind))
    raw: dict[str, Any] = {"raw_input": sent, "raw_output": outcome.to_dict()}
    return ToolOutput(tool_name=name, blocks=blocks, is_error=not outcome.ok, **raw)


class FsAgentToolSpec(BaseToolSpec):
    """A tool spec with the tools of `get_tools`, which takes the same arguments.

    Each tool is also a method: `spec.read("a.txt")` returns text, and so does `await spec.aread`.
    """

    def __init__(
        self,
        workspace: WorkspaceSource,
        toolset: AnyToolset = None,
        **options: Unpack[ContextOptions],
    ) -> None:
        self._tools = {tool.core.name: tool for tool in get_tools(workspace, toolset, **options)}
        self.spec_functions = [*self._tools]
        for name, tool in self._tools.items():
            vars(self).update({name: tool.fn, f"a{name}": tool.async_fn})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Any]: ...

    def to_tool_list(
        self,
        spec_functions: Sequence[SPEC_FUNCTION_TYPE] | None = None,
        func_to_metadata_mapping: Mapping[str, ToolMetadata] | None = None,
    ) -> list[FunctionTool]:
        """All, or those named; a pair is the two methods of one. Raises `KeyError` for others."""
        own, names = func_to_metadata_mapping or {}, spec_functions or self.spec_functions
        pairs = [(one, one) if isinstance(one, str) else one for one in names]
        found = [(self._tools[name], own.get(name) or own.get(other)) for name, other in pairs]
        return [FsAgentTool(tool.core, metadata, tool.images) for tool, metadata in found]
