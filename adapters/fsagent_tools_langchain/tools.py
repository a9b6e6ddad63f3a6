"""Core tools as StructuredTools."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

from langchain_core.tools import StructuredTool
from pydantic import BaseModel, Field, create_model

from fsagent_tools import Tool, Toolset, emitting, identified, select_tools
from fsagent_tools.types import WorkspaceSource
from fsagent_tools_langchain.content import Form, MessageOptions
from fsagent_tools_langchain.live import ToolRuntime, ids_of, in_turn, sink


def get_tools(
    workspace: WorkspaceSource,
    toolset: Toolset | str | None = None,
    **options: Unpack[MessageOptions],
) -> list[StructuredTool]:
    """The toolset's tools, for `create_agent(tools=...)`, a `ToolNode` or `bind_tools`.

    Args:
        workspace: A `Workspace`, a path, or a function that returns a workspace or path for the
            `ToolRuntime` of a call (None outside a graph). A workspace that many runs use in turn
            stays open, others are closed.
        toolset: A toolset or its name; by default the configured one, else "lines".
        **options: Those of `content.MessageOptions`.

    Raises:
        ConfigInvalid: If an option is wrong; the message names the right ones.
    """
    chosen: dict[str, Any] = {**options}
    form = Form(chosen.pop("artifact", None), chosen.pop("images", "tool"))
    return [adapt(tool, form) for tool in select_tools(workspace, toolset, **chosen)]


async def aget_tools(
    workspace: WorkspaceSource,
    toolset: Toolset | str | None = None,
    **options: Unpack[MessageOptions],
) -> list[StructuredTool]:
    """`get_tools` for a running event loop, which is not blocked while files are read."""
    return await asyncio.to_thread(get_tools, workspace, toolset, **options)


@dataclass(frozen=True)
class Sent:
    """A call as it came from a model or a person."""

    arguments: dict[str, Any] | str
    call_id: str | None = None
    runtime: "ToolRuntime[Any, Any] | None" = None


class FsAgentTool(StructuredTool):
    """A StructuredTool whose arguments reach the core as the model sent them.

    A copy works in the same workspace. A pickle has how that was made, and nothing of what
    happened in it.
    """

    core: Any = Field(exclude=True, repr=False)
    form: Any = Field(exclude=True, repr=False)

    @property
    def tool_call_schema(self) -> type[BaseModel]:
        """The visible parameters; LangChain would make a model without our lean JSON schema."""
        arguments: type[BaseModel] = self.core.arguments
        return arguments

    @cached_property
    def strict(self) -> "FsAgentTool":
        """The tool with a schema for the strict mode of a provider."""
        return self if self.core.strict else adapt(replace(self.core, strict=True), self.form)

    @property
    def _injected_args_keys(self) -> frozenset[str]:
        return frozenset({"runtime"})  # the signature, where LangChain looks, is for readers

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # Positional: a keyword that a model makes up could be one of LangChain's own.
        if isinstance(tool_input, str):
            is_json = tool_input.lstrip().startswith("{")
            arguments = tool_input if is_json else self.core.by_position([tool_input], {})
            return (Sent(arguments, tool_call_id),), {}
        arguments = dict(tool_input)
        injected = isinstance(arguments.get("runtime"), ToolRuntime)
        runtime = arguments.pop("runtime") if injected else None
        return (Sent(arguments, tool_call_id, runtime),), {}

    def __getstate__(self) -> dict[Any, Any]:
        state = super().__getstate__()
        made = {*_functions(self.core, self.form), "strict"}
        return {**state, "__dict__": {k: v for k, v in vars(self).items() if k not in made}}

    def __setstate__(self, state: dict[Any, Any]) -> None:
        super().__setstate__(state)
        vars(self).update(_functions(self.core, self.form))


def _native(tool: Tool) -> dict[str, Any]:
    """What langchain-anthropic sends in place of the schema."""
    made = tool.native("anthropic")
    return {"extras": {"provider_tool_definition": made}} if made else {}


def adapt(tool: Tool, form: Form = Form()) -> FsAgentTool:  # noqa: B008 frozen
    """One core tool as a StructuredTool."""
    return FsAgentTool(
        name=tool.name,
        description=tool.description,
        **_functions(tool, form),
        response_format="content_and_artifact",
        core=tool,
        form=form,
        metadata={
            "effect": tool.effect.value,
            "permissions": list(tool.permissions),
            "risk": tool.risk,
            "side_effects": list(tool.side_effects),
        },
        tags=["fsagent", tool.effect.value],
        **_native(tool),
    )


def _functions(tool: Tool, form: Form) -> dict[str, Any]:
    """What runs a tool, sync and async, and its schema: what no pickle can hold."""

    def sent(given: tuple[Any, ...], more: dict[str, Any]) -> Sent:
        whole = len(given) == 1 and isinstance(given[0], Sent)
        return given[0] if whole else Sent(tool.by_position(given, more))

    def run(
        *given: Any,
        runtime: ToolRuntime = None,  # type: ignore[assignment] # the one injected form
        **more: Any,
    ) -> tuple[Any, dict[str, Any] | None]:
        call = sent(given, more)
        with _running(tool, call) as here:
            return form.result(tool, here.call(call.arguments), call.call_id)

    async def arun(
        *given: Any,
        runtime: ToolRuntime = None,  # type: ignore[assignment] # the one injected form
        **more: Any,
    ) -> tuple[Any, dict[str, Any] | None]:
        call = sent(given, more)
        with _running(tool, call) as here:
            return form.result(tool, await here.acall(call.arguments), call.call_id)

    for function in (run, arun):
        function.__name__, function.__doc__ = tool.name, tool.description
        vars(function)["__signature__"] = tool.signature
    return {"func": run, "coroutine": arun, "args_schema": _args_schema(tool)}


def _args_schema(tool: Tool) -> type[BaseModel]:
    """Gemini's converter is the one that takes its schema, and warns of additionalProperties."""
    if not tool.strict:
        return tool.arguments

    def schema(*given: Any, **more: Any) -> Any:
        return _without(tool.arguments.model_json_schema(*given, **more), "additionalProperties")

    made: type[BaseModel] = create_model(tool.name, __base__=tool.arguments)
    made.model_json_schema = schema  # type: ignore[method-assign]
    return made


def _without(schema: Any, keyword: str) -> Any:
    if isinstance(schema, dict):
        return {k: _without(value, keyword) for k, value in schema.items() if k != keyword}
    return [_without(one, keyword) for one in schema] if isinstance(schema, list) else schema


@contextmanager
def _running(tool: Tool, call: Sent) -> Iterator[Tool]:
    ids = ids_of(call.runtime, call.call_id)
    with (
        tool.within(call.runtime) as here,
        emitting(sink(call.runtime, tool.name)),
        identified(**ids),
        in_turn(tool.effect_of(call.arguments), call.runtime, call.call_id, ids),
    ):
        yield here
