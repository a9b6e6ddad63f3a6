"""Core tools as StructuredTools."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Unpack

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from pydantic import BaseModel, Field

from fsagent_tools import (
    Tool,
    Toolset,
    WorkspaceSource,
    emitting,
    identified,
    select_tools,
)
from fsagent_tools_langchain.content import Form, MessageOptions
from fsagent_tools_langchain.live import ToolRuntime, ids_of, sink


def get_tools(
    workspace: WorkspaceSource,
    toolset: Toolset | str = "workspace",
    **options: Unpack[MessageOptions],
) -> list[StructuredTool]:
    """The toolset's tools, for `create_agent(tools=...)`, a ToolNode or `bind_tools`.

    workspace: a `Workspace`, a path, or a function that tells one of these for the `ToolRuntime` of
    a call (None outside a graph); one that many runs use in turn is kept open, others are closed.
    `options` are those of `content.MessageOptions`. Raises `ConfigInvalid` for a wrong one.
    """
    chosen: dict[str, Any] = {**options}
    form = Form(chosen.pop("artifact", "facts"), chosen.pop("images", "tool"))
    return [adapt(tool, form) for tool in select_tools(workspace, toolset, **chosen)]


class FsAgentTool(StructuredTool):
    """A StructuredTool whose arguments reach the core as the model sent them."""

    core: Any = Field(exclude=True, repr=False)

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        """The visible parameters; `args_schema` is their JSON schema."""
        arguments: type[BaseModel] = self.core.arguments
        return arguments

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # Positional: a keyword that a model makes up could be one of LangChain's own.
        if isinstance(tool_input, str):
            return (tool_input, tool_call_id, None), {}
        arguments = dict(tool_input)
        injected = isinstance(arguments.get("runtime"), ToolRuntime)
        return (arguments, tool_call_id, arguments.pop("runtime") if injected else None), {}


def adapt(tool: Tool, form: Form = Form()) -> FsAgentTool:  # noqa: B008 frozen
    """One core tool as a StructuredTool."""

    def run(
        arguments: dict[str, Any] | str,
        tool_call_id: str | None = None,
        runtime: ToolRuntime = None,  # type: ignore[assignment] # the one injected form
    ) -> tuple[Any, dict[str, Any]]:
        with tool.within(runtime) as here, _known(tool, tool_call_id, runtime):
            return form.result(tool, here.call(arguments), tool_call_id)

    async def arun(
        arguments: dict[str, Any] | str,
        tool_call_id: str | None = None,
        runtime: ToolRuntime = None,  # type: ignore[assignment] # the one injected form
    ) -> tuple[Any, dict[str, Any]]:
        with tool.within(runtime) as here, _known(tool, tool_call_id, runtime):
            return form.result(tool, await here.acall(arguments), tool_call_id)

    return FsAgentTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.schema,
        func=run,
        coroutine=arun,
        response_format="content_and_artifact",
        core=tool,
        metadata={
            "effect": tool.effect.value,
            "permissions": list(tool.permissions),
            "risk": tool.risk,
        },
        tags=["fsagent", tool.effect.value],
    )


@contextmanager
def _known(tool: Tool, tool_call_id: str | None, runtime: ToolRuntime) -> Iterator[None]:
    with emitting(sink(runtime, tool.name)), identified(**ids_of(runtime, tool_call_id)):
        yield
