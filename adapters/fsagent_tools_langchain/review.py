"""Approval in the form of LangChain's human in the loop: one interrupt for each AI message."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentState, HumanInTheLoopMiddleware
from langchain.agents.middleware.human_in_the_loop import InterruptOnConfig
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt import ToolRuntime
from langgraph.types import interrupt

from fsagent_tools import Request, Verdict, approving, identified
from fsagent_tools.errors import ConfigInvalid

FORM = '{"decisions": [{"type": "approve"}, {"type": "reject", "message": ...}, ...]}'


def interrupt_on(tools: Iterable[BaseTool]) -> dict[str, bool | InterruptOnConfig]:
    """For `HumanInTheLoopMiddleware(interrupt_on=...)`: our tools whose effects need approval.

    Which those are, `Workspace(approve_effects=...)` says. A call is described by its diff; one
    that changes nothing or will be refused is not asked about.
    """
    return {tool.name: _configured(tool) for tool in tools if _asks(tool)}


class ReviewedState(AgentState[Any]):
    """What was approved, by tool call ID."""

    hitl_edited_tool_calls: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    fsagent_approved: NotRequired[Annotated[dict[str, str], PrivateStateAttr]]


class FsAgentApproval(HumanInTheLoopMiddleware[Any, Any, Any]):
    """Asks about all calls of an AI message in one interrupt, before any of them runs.

    `tools` are those of `get_tools`; what else is in the list is not asked about. The interrupt is
    LangChain's `HITLRequest` with our diff as description; resume with `{"decisions": [...]}`:
    approve, edit or reject. Only what was shown can happen: when a file changed in between, the
    graph asks again. Raises `ConfigInvalid` for decisions of another form; the request then still
    waits for some. Needs a checkpointer.
    """

    state_schema = ReviewedState

    def __init__(self, tools: Iterable[BaseTool]) -> None:
        self._own = {tool.name: tool for tool in tools if _asks(tool)}
        super().__init__(interrupt_on(self._own.values()))

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        messages = state["messages"]
        last = next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)
        calls = [c for c in (last.tool_calls if last else ()) if c["name"] in self._own]
        run = partial(_tool_runtime, state, runtime)
        requests = {c["id"]: _preview(self._own[c["name"]], c, run(c)) for c in calls}
        shown = {id_: request.fingerprint for id_, request in requests.items() if request}
        if not shown:
            return {"fsagent_approved": {}} if state.get("fsagent_approved") else None

        def decide() -> Any:  # on a copy: decisions about what has changed are thrown away
            copies: Any = {**state, "messages": [m.model_copy() for m in messages]}
            return super(FsAgentApproval, self).after_model(copies, runtime)

        update = self._answered([*shown.values()], decide)
        kept = next(m for m in update["messages"] if isinstance(m, AIMessage)).tool_calls
        before = state.get("fsagent_approved") or {}  # of this message, by another middleware
        known = {**{c["id"]: before[c["id"]] for c in kept if c["id"] in before}, **shown}
        approved = {call["id"]: known[call["id"]] for call in kept if call["id"] in known}
        for id_, edited in update.get("hitl_edited_tool_calls", {}).items():
            approved[id_] = self._edited({"id": id_, **edited}, run)
        return {**update, "fsagent_approved": approved}

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        with self._approving(request):
            return super().wrap_tool_call(request, handler)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        with self._approving(request):
            return await super().awrap_tool_call(request, handler)

    @contextmanager
    def _approving(self, call: Any) -> Iterator[None]:
        approved = (call.state.get("fsagent_approved") or {}).get(call.tool_call["id"])

        def approve(request: Request) -> Verdict:
            return request.fingerprint == approved or self._again(request)

        with approving(approve):
            yield

    def _again(self, request: Request) -> Verdict:
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

        return self._answered([request.fingerprint], decide)  # type: ignore[no-any-return]

    def _answered(self, shown: Sequence[str], decide: Callable[[], Any]) -> Any:
        """What `decide` makes of the first decisions about exactly this.

        A task is run from its start for each answer, and gets all answers again in their order.
        """
        ledger = next(iter(self._own.values())).core.workspace.ledger  # type: ignore[attr-defined]
        malformed: Exception | None = None
        for turn in count():
            key = f"asked:{get_config()['configurable']['checkpoint_ns']}:{turn}"
            current = ledger.noted(key) == [*shown]
            try:
                decided = decide()
            except GraphInterrupt:
                ledger.note(key, shown)
                if malformed:
                    hint = f"Resume with {FORM}, a decision for each request."
                    raise ConfigInvalid("These are no decisions.", hint=hint) from malformed
                raise
            except (TypeError, KeyError, ValueError) as error:
                malformed = error if current else None
                continue
            malformed = None
            if current:
                return decided
        raise AssertionError  # `count` does not end

    def _edited(self, call: dict[str, Any], run: Callable[[Any], Any]) -> str:
        """The fingerprint of a call as the person wrote it, who thereby approves it."""
        tool = self._own.get(call["name"])
        request = tool and _preview(tool, call, run(call))
        return request.fingerprint if request else ""


def describe(request: Request) -> str:
    """What a person reads: the diff, or the arguments of what has none."""
    arguments = json.dumps(dict(request.arguments), ensure_ascii=False, default=str)
    return request.diff or f"{request.tool} {arguments}"


def _asks(tool: Any) -> bool:
    core = getattr(tool, "core", None)
    return core is not None and core.effect in core.workspace.approve_effects


def _preview(tool: Any, call: Any, run: Any) -> Request | None:
    with tool.core.within(run) as here, identified(call=call["id"]):
        request: Request | None = here.preview(call["args"])
    return request


def _tool_runtime(state: Any, runtime: Any, call: Any) -> ToolRuntime[Any, Any]:
    """What the tool itself will get, as far as a function that tells its workspace needs it."""
    return ToolRuntime(
        state=state,
        context=runtime.context,
        config=get_config(),
        stream_writer=runtime.stream_writer,
        tool_call_id=call["id"],
        store=runtime.store,
    )


def _configured(tool: BaseTool) -> InterruptOnConfig:
    def description(tool_call: Any, state: Any, runtime: Any) -> str:
        request = _preview(tool, tool_call, _tool_runtime(state, runtime, tool_call))
        return describe(request) if request else ""

    return {
        "allowed_decisions": ["approve", "edit", "reject"],
        "description": description,
        "when": lambda asked: _preview(tool, asked.tool_call, asked.runtime) is not None,
    }
