"""Approval by LlamaIndex's own events: the step waits until an answer is sent."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from typing import Any
from warnings import catch_warnings

from llama_index.core.agent.workflow.workflow_events import ToolCall
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer
from llama_index.core.workflow import (
    Context,
    HumanResponseEvent,
    InputRequiredEvent,
    JsonSerializer,
    Workflow,
)
from llama_index_instrumentation.dispatcher import active_instrument_tags
from workflows.context.state_store import UnserializableKeyWarning
from workflows.handler import WorkflowHandler
from workflows.runtime.types.results import StepWorkerStateContextVar, WaitingForEvent

from fsagent_tools import Effect, Request, Verdict
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.types import calls_of

_running: ContextVar[Context | None] = ContextVar("fsagent_workflow", default=None)


@contextmanager
def inside(context: Context | None) -> Iterator[None]:
    """Inside the block, calls belong to the workflow of `context`, if it is one's."""
    token = _running.set(context)
    try:
        yield
    finally:
        _running.reset(token)


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
    context = _running.get()
    if context is None:
        raise ConfigInvalid("Approval by events needs a workflow.", hint="Run an agent.")
    fingerprint = f"{request.fingerprint}{_work_item()}"
    told = replace(request, fingerprint=fingerprint).to_dict()
    answer = await context.wait_for_event(
        ApprovalGiven,
        waiter_event=ApprovalRequired(fingerprint=fingerprint, request=told),
        waiter_id=f"{request.tool}:{fingerprint}",
        requirements={"fingerprint": fingerprint},
        timeout=None,
    )
    return True if answer.approved else answer.reason


async def save_run(context: Context) -> dict[str, Any]:
    """A run that waits for an answer, as data for JSON, from the `ctx` of its handler."""
    with catch_warnings(action="ignore", category=UnserializableKeyWarning):
        saved = context.to_dict(serializer=JsonSerializer())
    history = await (await context.store.get("memory")).aget()
    return {"context": saved, "history": [each.model_dump(mode="json") for each in history]}


async def resume_run(
    agent: Workflow, saved: Mapping[str, Any], memory: BaseMemory | None = None
) -> WorkflowHandler:
    """Go on with a saved run, in any process that has the files.

    The answer is sent to the handler's `ctx`. LlamaIndex leaves an agent's memory out of a saved
    context, and misses it later in a run that it takes up again.

    Args:
        agent: Made as that of the run.
        saved: What `save_run` returned.
        memory: The agent's; by default a `ChatMemoryBuffer` of the saved history.
    """
    context = Context.from_dict(agent, {**saved["context"]}, serializer=JsonSerializer())
    handler = agent.run(ctx=context)
    history = [ChatMessage.model_validate(each) for each in saved["history"]]
    memory = memory or ChatMemoryBuffer.from_defaults(
        chat_history=history, llm=getattr(agent, "llm", None)
    )
    await handler.ctx.store.set("memory", memory)
    return handler


def call_of(sent: Mapping[str, object]) -> str | None:
    """The ID of the model's call that the step carries out, which a saved `Context` has, too.

    None for calls that are no step of an agent's, for a model's that have the tool's name for an
    ID, or none, and where LlamaIndex does not say what a step is about.
    """
    event = _step_for(sent)
    return event.tool_id if event and event.tool_id not in ("", event.tool_name) else None


def _step_for(sent: Mapping[str, object]) -> ToolCall | None:
    """What an agent's step is about that carries out this call."""
    event = getattr(StepWorkerStateContextVar.get(None), "event", None)
    return event if isinstance(event, ToolCall) and event.tool_kwargs == sent else None


def in_turn(effect: Effect, sent: Mapping[str, object]) -> AbstractContextManager[None]:
    """The turn of a call among those of its run, which begin in the order of their message."""
    run = active_instrument_tags.get().get("llamaindex.run_id")
    call = _step_for(sent) and (_work_item() or call_of(sent))
    if not run or not call:
        return nullcontext()

    def held(pause: Any, _: bool) -> Exception:
        """It waits for the answer that the earlier call waits for, and asks nothing."""
        mine = {"waiter_id": f"turn:{call}", "waiter_event": None}
        return WaitingForEvent(pause.add.model_copy(update=mine))

    return calls_of(run).turn(call, effect, WaitingForEvent, held)


def _work_item() -> str:
    """What tells a call from one of the same message with the same arguments, also when the step is
    run again for the answer. "" where LlamaIndex does not number them: one of both then waits on.
    """
    try:
        item = getattr(StepWorkerStateContextVar.get().state, "work_item_id", None)
    except LookupError:
        item = None
    return f":{item}" if item else ""
