"""Core tools as StructuredTools."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Unpack, get_args

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, create_model

from fsagent_tools import Outcome, Tool, approving, emitting, identified, select_tools
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.types import AnyToolset, Options, WorkspaceSource, with_signature
from fsagent_tools_langchain.interrupts import holding
from fsagent_tools_langchain.live import ToolRuntime, ids_of, in_turn, sink

Content = str | list[str | dict[str, Any]]
Artifact = Literal["facts", "full", "off"]
Images = Literal["tool", "user", "off"]
DOCUMENTED = ("workspace", "line_ids", "compact", "file_ops", "filesystem")  # follow a document


class MessageOptions(Options, total=False):
    """`Options`, and what the messages of tools contain.

    Attributes:
        artifact: "full" is `Outcome.to_dict()`, with the whole text and the pictures; checkpoints
            then store each answer twice. "facts" has the same keys, with None for each long value.
            "off" is None, for hosts whose middleware redacts messages: it does not see artifacts.
            By default "full" in toolsets that follow a document, which promises it, else "facts".
        images: "tool" (default) puts pictures and documents into the tool's message, which
            Anthropic, Gemini and OpenAI's Responses API accept and OpenAI's chat completions
            refuse. "off" leaves them out. "user": `FsAgentMiddleware` sends them to the model in a
            user message after the tools', which is its default for OpenAI's chat completions.
    """

    artifact: Artifact
    images: Images


@dataclass(frozen=True)
class Form:
    """How outcomes become messages. Raises `ConfigInvalid`."""

    artifact: Artifact | None = None
    images: Images = "tool"

    def __post_init__(self) -> None:
        for name, right in (("artifact", get_args(Artifact)), ("images", get_args(Images))):
            if getattr(self, name) not in (None, *right):
                raise ConfigInvalid(f"{name} is one of {', '.join(right)}.")

    def result(self, tool: Tool, outcome: Outcome, tool_call_id: str | None) -> tuple[Any, Any]:
        """Content and artifact; of a refusal a whole message, or LangChain drops the artifact."""
        content = self.content(outcome)
        which = self.artifact or ("full" if tool.toolset in DOCUMENTED else "facts")
        kept = outcome.facts() if which == "facts" else outcome.to_dict()
        artifact = None if which == "off" else kept
        if not outcome.ok and tool_call_id is not None:
            told: Any = {"tool_call_id": tool_call_id, "name": tool.name, "status": "error"}
            return ToolMessage(content, artifact=artifact, **told), artifact
        return content, artifact

    def content(self, outcome: Outcome) -> Content:
        """Text, or standard content blocks when the outcome has an image or a document."""
        if not outcome.blocks or self.images == "off":
            return outcome.text
        blocks = [
            {"type": b.kind, "base64": b.data, "mime_type": b.mime_type} for b in outcome.blocks
        ]
        return [{"type": "text", "text": outcome.text}, *blocks]


@with_signature
def get_tools(
    workspace: WorkspaceSource, toolset: AnyToolset = None, **options: Unpack[MessageOptions]
) -> list[StructuredTool]:
    """The toolset's tools, for `create_agent(tools=...)`, a `ToolNode` or `bind_tools`.

    Args:
        workspace: A `Workspace`, a path, or a function that returns a workspace or path for the
            `ToolRuntime` of a call (None outside a graph). A workspace that many runs use in turn
            stays open, others are closed.
        toolset: A toolset or its name; by default the configured one, else "lines".
        **options: Those of `MessageOptions`.

    Raises:
        ConfigInvalid: If an option is wrong; the message names the right ones.
    """
    chosen: dict[str, Any] = {**options}
    form = Form(chosen.pop("artifact", None), chosen.pop("images", "tool"))
    return [adapt(tool, form) for tool in select_tools(workspace, toolset, **chosen)]


@with_signature
async def aget_tools(
    workspace: WorkspaceSource, toolset: AnyToolset = None, **options: Unpack[MessageOptions]
) -> list[StructuredTool]:
    """`get_tools` for a running event loop, which is not blocked while files are read."""
    return await asyncio.to_thread(get_tools, workspace, toolset, **options)


class FsAgentToolkit(BaseToolkit):
    """The tools of `get_tools`, which takes the same arguments, created once."""

    model_config = ConfigDict(extra="forbid")
    _tools: list[BaseTool] = PrivateAttr()

    def __init__(
        self,
        workspace: WorkspaceSource,
        toolset: AnyToolset = None,
        **options: Unpack[MessageOptions],
    ) -> None:
        super().__init__()
        self._tools = [*get_tools(workspace, toolset, **options)]

    def get_tools(self) -> list[BaseTool]:
        return list(self._tools)


@dataclass(frozen=True)
class Sent:
    """A call as it came from a model or a person. reviewed: a person may have been asked."""

    arguments: dict[str, Any] | str
    call_id: str | None = None
    runtime: "ToolRuntime[Any, Any] | None" = None
    reviewed: bool = False


class FsAgentTool(StructuredTool):
    """A StructuredTool whose arguments reach the core as the model sent them.

    A copy works in the same workspace. A pickle has how that was made, and nothing of what
    happened in it. reviewed: `interrupt_on` has it asked about.
    """

    core: Any = Field(exclude=True, repr=False)
    form: Any = Field(exclude=True, repr=False)
    reviewed: bool = Field(default=False, exclude=True, repr=False)

    @property
    def tool_call_schema(self) -> type[BaseModel]:
        """The visible parameters; LangChain would make a model without our lean JSON schema."""
        return self.args_schema  # type: ignore[return-value]

    @cached_property
    def twin(self) -> "FsAgentTool":
        """The tool with a schema for the strict mode of a provider, or without, if this has it."""
        return adapt(replace(self.core, strict=not self.core.strict), self.form)

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
        return (Sent(arguments, tool_call_id, runtime, self.reviewed),), {}

    def __getstate__(self) -> dict[Any, Any]:
        state = super().__getstate__()
        made = {*_functions(self.core, self.form), "twin"}
        return {**state, "__dict__": {k: v for k, v in vars(self).items() if k not in made}}

    def __setstate__(self, state: dict[Any, Any]) -> None:
        super().__setstate__(state)
        vars(self).update(_functions(self.core, self.form))


def adapt(tool: Tool, form: Form = Form()) -> FsAgentTool:
    """One core tool as a StructuredTool; langchain-anthropic sends `native` for its schema."""
    native = tool.native("anthropic")
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
        extras={"provider_tool_definition": native} if native else None,
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
        with _running(tool, call, waits=False) as here:
            return form.result(tool, here.call(call.arguments), call.call_id)

    async def arun(
        *given: Any,
        runtime: ToolRuntime = None,  # type: ignore[assignment] # the one injected form
        **more: Any,
    ) -> tuple[Any, dict[str, Any] | None]:
        call = sent(given, more)
        with _running(tool, call, waits=True) as here:
            return form.result(tool, await here.acall(call.arguments), call.call_id)

    for function in (run, arun):
        function.__name__, function.__doc__ = tool.name, tool.description
        vars(function)["__signature__"] = tool.signature
    return {"func": run, "coroutine": arun, "args_schema": _args_schema(tool)}


def _args_schema(tool: Tool) -> type[BaseModel]:
    """Without additionalProperties, which LangChain adds and of which Gemini's client warns."""
    if not tool.strict:
        return tool.arguments
    made: type[BaseModel] = create_model(tool.name, __base__=tool.arguments)
    schema = _without(tool.arguments.model_json_schema(), "additionalProperties")
    made.model_json_schema = lambda *_, **__: deepcopy(schema)  # type: ignore[method-assign]
    return made


def _without(schema: Any, keyword: str) -> Any:
    if isinstance(schema, dict):
        return {k: _without(value, keyword) for k, value in schema.items() if k != keyword}
    return [_without(one, keyword) for one in schema] if isinstance(schema, list) else schema


@contextmanager
def _running(tool: Tool, call: Sent, *, waits: bool) -> Iterator[Tool]:
    ids = ids_of(call.runtime, call.call_id)
    with (
        ExitStack() as stack,
        tool.within(call.runtime) as here,
        emitting(sink(call.runtime, tool.name)),
        identified(**ids),
        in_turn(tool.effect_of(call.arguments), call.runtime, call.call_id, ids),
    ):
        if call.reviewed and call.runtime:
            held = holding(here, call.runtime, call.arguments, waits=waits)
            stack.enter_context(approving(held))
        yield here
