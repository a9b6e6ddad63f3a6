"""Core tools as FunctionTools."""

from collections.abc import Callable
from typing import Any, Unpack

from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.workflow import Context, Event

from fsagent_tools import Effect, Options, Tool, Toolset, WorkspaceSource, emitting, select_tools
from fsagent_tools_llamaindex.approval import ask, inside
from fsagent_tools_llamaindex.content import output_of

CONTEXT = "_workflow_context"  # no parameter of an action begins with an underscore


def get_tools(
    workspace: WorkspaceSource,
    toolset: Toolset | str = "workspace",
    **options: Unpack[Options],
) -> list[FunctionTool | Any]:  # Any: agents take a list of more kinds, and lists are invariant
    """The toolset's tools, for `FunctionAgent(tools=...)` or `AgentWorkflow`.

    `options` are those of `fsagent_tools.options.Options`. Raises `ConfigInvalid` for a wrong one.
    """
    return [FsAgentTool(tool) for tool in select_tools(workspace, toolset, **options)]


class OutputDelta(Event):
    """Live output of a running tool, on the workflow's event stream."""

    tool_name: str
    delta: str


class FsAgentTool(FunctionTool):
    """A FunctionTool that hands arguments to the core as the model sent them."""

    def __init__(self, tool: Tool, metadata: ToolMetadata | None = None) -> None:
        def run(**arguments: Any) -> str:
            return tool.call(arguments).text

        async def arun(**arguments: Any) -> str:
            return (await tool.acall(arguments)).text

        for function in (run, arun):
            function.__name__, function.__doc__ = tool.name, tool.description
        super().__init__(run, metadata or _metadata(tool), arun)
        self.core = tool
        # CodeActAgent refuses tools with a context: only those that run for long or ask have one.
        self.requires_context = (
            tool.effect in (Effect.EXECUTE, Effect.NETWORK)
            or tool.workspace.approve is ask
            or tool.pool is not None
        )
        self.ctx_param_name = CONTEXT if self.requires_context else None

    def call(self, /, **arguments: Any) -> ToolOutput:  # type: ignore[override] # by name only
        """Run the tool; a refusal comes back with `is_error`, and its text says so."""
        context = arguments.pop(CONTEXT, None)
        with self.core.within(context) as here, emitting(_sink(here, context)), inside(context):
            outcome = here.call(arguments)
        return output_of(outcome, self.metadata.get_name(), arguments)

    async def acall(self, /, **arguments: Any) -> ToolOutput:  # type: ignore[override] # as above
        """`call` in a thread; cancelling the awaiting task stops the work."""
        context = arguments.pop(CONTEXT, None)
        with self.core.within(context) as here, emitting(_sink(here, context)), inside(context):
            outcome = await here.acall(arguments)
        return output_of(outcome, self.metadata.get_name(), arguments)


def _metadata(tool: Tool) -> ToolMetadata:
    return ToolMetadata(tool.description, tool.name, tool.arguments)


def _sink(tool: Tool, context: Any) -> Callable[[str], None] | None:
    if not isinstance(context, Context):
        return None

    def write(text: str) -> None:
        context.write_event_to_stream(OutputDelta(tool_name=tool.name, delta=text))

    return write
