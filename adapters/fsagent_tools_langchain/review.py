"""Approval in the form of LangChain's human in the loop: one interrupt for each AI message."""

from asyncio import get_running_loop, to_thread
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentState, HumanInTheLoopMiddleware
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool
from langgraph.types import interrupt

from fsagent_tools import Request, Verdict, approving
from fsagent_tools_langchain.decisions import Questions, loop_of_graph
from fsagent_tools_langchain.preview import SHOWN, asks, describe, interrupt_on, preview


class ReviewedState(AgentState[Any]):
    """What was approved, by tool call ID."""

    hitl_edited_tool_calls: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    fsagent_approved: NotRequired[Annotated[dict[str, str], PrivateStateAttr]]


class FsAgentApproval(HumanInTheLoopMiddleware[Any, Any, Any]):
    """Asks about all calls of an AI message in one interrupt, before any of them runs.

    The interrupt is LangChain's `HITLRequest` with our diff as description. Resume with
    `{"decisions": [...]}`: approve, edit or reject. Only what was shown can happen: if a file
    changes in between, the graph asks again. Needs a checkpointer.

    Args:
        tools: Those of `get_tools`; other tools in the list are not asked about.

    Raises:
        ConfigInvalid: If decisions have another form; the request stays open.
    """

    state_schema = ReviewedState

    def __init__(self, tools: Iterable[BaseTool]) -> None:
        self._own: dict[str, Any] = {tool.name: tool for tool in tools if asks(tool)}
        super().__init__(interrupt_on(self._own.values()))

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        messages = state["messages"]
        last = next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)
        requests = {}
        for call in last.tool_calls if last else ():
            if request := self._preview(call, state, runtime):
                requests[call["id"]] = request
        if not requests:
            return {"fsagent_approved": {}} if state.get("fsagent_approved") else None
        shown = {
            id_: describe(request, (other for other in requests.values() if other is not request))
            for id_, request in requests.items()
        }

        def decide() -> Any:  # on a copy: decisions about what has changed are thrown away
            copied = [message.model_copy() for message in messages]
            copies: Any = {**state, "messages": copied, SHOWN: shown}
            return super(FsAgentApproval, self).after_model(copies, runtime)

        known = {id_: request.fingerprint for id_, request in requests.items()}
        update = Questions().ask([*known.values()], decide)
        for id_, edited in update.get("hitl_edited_tool_calls", {}).items():
            # As the person wrote it, who thereby approves it.
            request = self._preview({"id": id_, **edited}, state, runtime)
            known[id_] = request.fingerprint if request else ""
        kept = next(m for m in update["messages"] if isinstance(m, AIMessage)).tool_calls
        known = {**(state.get("fsagent_approved") or {}), **known}  # first: another middleware's
        approved = {call["id"]: known[call["id"]] for call in kept if call["id"] in known}
        return {**update, "fsagent_approved": approved}

    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        loop_of_graph.set(get_running_loop())
        return await to_thread(self.after_model, state, runtime)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        with self._approving(request):
            return super().wrap_tool_call(request, handler)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        loop_of_graph.set(get_running_loop())
        with self._approving(request):
            return await super().awrap_tool_call(request, handler)

    @contextmanager
    def _approving(self, call: Any) -> Iterator[None]:
        approved = (call.state.get("fsagent_approved") or {}).get(call.tool_call["id"])
        questions = Questions()

        def approve(request: Request) -> Verdict:
            return request.fingerprint == approved or _again(request, questions)

        with approving(approve):
            yield

    def _preview(self, call: Any, state: Any, runtime: Any) -> Request | None:
        tool = self._own.get(call["name"])
        return preview(tool, call, state, runtime) if asks(tool) else None


def _again(request: Request, questions: Questions) -> Verdict:
    """Ask about a call that is no longer what was shown."""
    action = {"name": request.tool, "args": {**request.arguments}}
    review = {"action_name": request.tool, "allowed_decisions": ["approve", "reject"]}
    asked = {
        "action_requests": [{**action, "description": describe(request)}],
        "review_configs": [review],
    }

    def decide() -> Verdict:
        (decision,) = interrupt(asked)["decisions"]
        if decision["type"] not in review["allowed_decisions"]:
            raise ValueError(decision["type"])
        return decision["type"] == "approve" or str(decision.get("message") or "")

    return questions.ask([request.fingerprint], decide)
