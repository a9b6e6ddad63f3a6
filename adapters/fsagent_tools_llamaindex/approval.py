"""Approval by LlamaIndex's own events: the step waits until an answer is sent."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any
from warnings import catch_warnings

from llama_index.core.agent.workflow.workflow_events import ToolCall
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent, Workflow
from llama_index_instrumentation.dispatcher import active_instrument_tags
from workflows.context.state_store import UnserializableKeyWarning
from workflows.errors import WorkflowRuntimeError
from workflows.handler import WorkflowHandler
from workflows.runtime.types.results import StepWorkerStateContextVar, WaitingForEvent

from fsagent_tools import Effect, Request, Verdict
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.types import calls_of


class ApprovalRequired(InputRequiredEvent):
    """`request` is `Request.to_dict()`; `fingerprint` is what an answer quotes."""

    fingerprint: str
    request: dict[str, object]


class ApprovalGiven(HumanResponseEvent):
    """The answer, for `handler.ctx.send_event`."""

    fingerprint: str
    approved: bool
    reason: str = ""


async def ask(request: Request) -> Verdict:
    """For `Workspace(approve=ask)`: emits `ApprovalRequired`, waits for its `ApprovalGiven`.

    Raises `ConfigInvalid` outside an agent's workflow.
    """
    if (context := step_context()) is None:
        raise ConfigInvalid("Approval by events needs a workflow.", hint="Run an agent.")
    quoted: Any = {"fingerprint": f"{request.fingerprint}:{_work_item()}"}
    asked = ApprovalRequired(request=replace(request, **quoted).to_dict(), **quoted)
    waiter = f"{request.tool}:{quoted['fingerprint']}"
    answer = await context.wait_for_event(ApprovalGiven, asked, waiter, quoted, timeout=None)
    return True if answer.approved else answer.reason


async def save_run(context: Context) -> dict[str, Any]:
    """A run that waits for an answer, as data for JSON, from the `ctx` of its handler."""
    with catch_warnings(action="ignore", category=UnserializableKeyWarning):
        saved = context.to_dict()
    history = await (await context.store.get("memory")).aget()
    return {"context": saved, "history": [each.model_dump(mode="json") for each in history]}


async def resume_run(
    agent: Workflow, saved: Mapping[str, Any], memory: BaseMemory | None = None
) -> WorkflowHandler:
    """Go on with a saved run, in any process that has the files; the handler's `ctx` is answered.

    Args:
        agent: Made as that of the run.
        saved: What `save_run` returned.
        memory: The agent's, which no context saves; by default a buffer of the saved history.
    """
    handler = agent.run(ctx=Context.from_dict(agent, {**saved["context"]}))
    if memory is None:
        history = [ChatMessage.model_validate(each) for each in saved["history"]]
        memory = ChatMemoryBuffer.from_defaults(history, getattr(agent, "llm", None))
    await handler.ctx.store.set("memory", memory)
    return handler


def step_context() -> Context | None:
    """That of the workflow's step which calls this, if one does."""
    with suppress(WorkflowRuntimeError):
        return Context.get_step_context()
    return None


def call_of(sent: Mapping[str, object]) -> str | None:
    """The ID of the model's call that a step carries out, which a saved `Context` has, too."""
    event = getattr(StepWorkerStateContextVar.get(None), "event", None)
    if not isinstance(event, ToolCall) or event.tool_kwargs != sent:
        return None
    # Some models have the tool's name for an ID, or none: then that of the step, if it has one.
    return event.tool_id if event.tool_id not in ("", event.tool_name) else _work_item() or None


def in_turn(effect: Effect, call: str | None) -> AbstractContextManager[None]:
    """The turn of a call among those of its run, which begin in the order of their message."""
    run = active_instrument_tags.get().get("llamaindex.run_id")
    if not run or not call:
        return nullcontext()
    name = _work_item() or call

    def held(pause: Any, _: bool) -> Exception:
        """It waits for the answer that the earlier call waits for, and asks nothing."""
        mine = {"waiter_id": f"turn:{name}", "waiter_event": None}
        return WaitingForEvent(pause.add.model_copy(update=mine))

    return calls_of(run).turn(name, effect, WaitingForEvent, held)


def _work_item() -> str:
    """What tells equal calls apart, also when run again; "" where LlamaIndex has no such number."""
    state = getattr(StepWorkerStateContextVar.get(None), "state", None)
    return getattr(state, "work_item_id", None) or ""
