"""Tools by the model of each request: a run may go on with a model of another family."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, ToolMessage

from fsagent_tools import select_dialects, toolset_for
from fsagent_tools.types import WorkspaceSource
from fsagent_tools_langchain.content import Form
from fsagent_tools_langchain.tools import FsAgentTool, adapt

_MADE_WITH = "fsagent_toolset"  # in the metadata of a message: the toolset of its calls


class Dialects:
    """The tools of each toolset that a model may get, all of one session."""

    def __init__(self, workspace: WorkspaceSource, form: Form, options: Any) -> None:
        self._families = options.get("families")
        made = select_dialects(workspace, **options)
        self._tools = {to: {t.name: adapt(t, form) for t in tools} for to, tools in made.items()}
        every = reversed(self._tools.values())  # the default's come last and stay
        self.by_name = {n: tool for tools in every for n, tool in tools.items()}

    def offered(self, request: ModelRequest[Any]) -> tuple[str, ModelRequest[Any]]:
        """The toolset of the model, and the request with its tools in place of all of ours.

        An action that a middleware before this one took away is missing in each toolset.
        """
        name = toolset_for(request.model, self._families)
        given, ours = {getattr(one, "name", "") for one in request.tools}, self.by_name
        gone = {_action(tool) for own, tool in ours.items() if own not in given}
        tools = [one for one in request.tools if getattr(one, "name", "") not in ours]
        tools += [tool for tool in self._tools[name].values() if _action(tool) not in gone]
        return name, request.override(tools=tools)

    def shown(self, call: Any, state: Any) -> Mapping[str, FsAgentTool]:
        """The tools that a call was made with, by name; where its message does not say, all."""
        for message in reversed(state["messages"]):
            calls = message.tool_calls if isinstance(message, AIMessage) else ()
            if any(call["id"] == one["id"] for one in calls):
                return self._tools.get(message.response_metadata.get(_MADE_WITH, ""), self.by_name)
        return self.by_name


def _action(tool: FsAgentTool) -> str:
    return str(tool.core.entry.action.name)


class Choosing:
    """Hooks of `FsAgentMiddleware(toolset="auto")`, before those of the class behind it."""

    dialects: Dialects

    def _made(self, workspace: WorkspaceSource, _: Any, options: Any) -> list[FsAgentTool]:
        rest = {**options}
        form = Form(rest.pop("artifact", None), rest.pop("images", "tool"))
        self.dialects = Dialects(workspace, form, rest)
        return [*self.dialects.by_name.values()]

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Any:
        name, request = self.dialects.offered(request)

        def marked(asked: ModelRequest[Any]) -> ModelResponse[Any]:
            return _marked(handler(asked), name)

        return super().wrap_model_call(request, marked)  # type: ignore[misc]

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> Any:
        name, request = self.dialects.offered(request)

        async def marked(asked: ModelRequest[Any]) -> ModelResponse[Any]:
            return _marked(await handler(asked), name)

        return await super().awrap_model_call(request, marked)  # type: ignore[misc]

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        if refusal := self._refusal(request):
            return refusal
        return super().wrap_tool_call(self._meant(request), handler)  # type: ignore[misc]

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        if refusal := self._refusal(request):
            return refusal
        return await super().awrap_tool_call(self._meant(request), handler)  # type: ignore[misc]

    def _meant(self, request: Any) -> Any:
        tool = self._tool_of(request.tool_call, request.state)
        return request.override(tool=tool) if tool else request

    def _refusal(self, request: Any) -> ToolMessage | None:
        """Of a tool that another model may have, and this one was not shown."""
        call, shown = request.tool_call, self.dialects.shown(request.tool_call, request.state)
        if call["name"] in shown or call["name"] not in self.dialects.by_name:
            return None
        told = f"Error: There is no tool {call['name']!r}. There are: {', '.join(shown)}."
        return ToolMessage(told, tool_call_id=call["id"], name=call["name"], status="error")

    def _tool_of(self, call: Any, state: Any) -> FsAgentTool | None:
        return self.dialects.shown(call, state).get(call["name"])


def _marked(response: ModelResponse[Any], name: str) -> ModelResponse[Any]:
    for message in response.result:
        message.response_metadata[_MADE_WITH] = name
    return response
