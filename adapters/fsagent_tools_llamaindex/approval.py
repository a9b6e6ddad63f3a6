"""Approval by LlamaIndex's own events: the step waits until an answer is sent."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from llama_index.core.agent.workflow.workflow_events import ToolCall
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from workflows.runtime.types.results import StepWorkerStateContextVar

from fsagent_tools import Outcome, Request, Verdict
from fsagent_tools.errors import ConfigInvalid

_running: ContextVar["Context | None"] = ContextVar("fsagent_workflow", default=None)


@contextmanager
def inside(context: object) -> Iterator[None]:
    """Inside the block, calls belong to the workflow of `context`, if it is one's."""
    token = _running.set(context if isinstance(context, Context) else None)
    try:
        yield
    finally:
        _running.reset(token)


class ApprovalRequired(InputRequiredEvent):
    """`request` is `Request.to_dict()`; `fingerprint` is what an answer quotes."""

    fingerprint: str
    request: dict[str, object]


class ApprovalGiven(HumanResponseEvent):
    """The answer, for `handler.ctx.send_event`.

    arguments: with which the call is approved in place of its own; the model is told of them.
    """

    fingerprint: str
    approved: bool
    reason: str = ""
    arguments: dict[str, object] | None = None


class EditedArguments(Exception):
    """The call is approved with other arguments."""

    def __init__(self, arguments: Mapping[str, object]) -> None:
        super().__init__("The call is approved with other arguments.")
        self.arguments = dict(arguments)

    def told(self, outcome: Outcome) -> Outcome:
        """What the call gave, for a model that asked for something else."""
        changed = f"The user changed the arguments to {json.dumps(self.arguments)}."
        return replace(outcome, text=f"{changed}\n{outcome.text}")


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
    if answer.approved and answer.arguments is not None:
        raise EditedArguments(answer.arguments)
    return True if answer.approved else answer.reason


def call_of(sent: Mapping[str, object]) -> str | None:
    """The ID of the model's call that the step carries out, which a saved `Context` has, too.

    None for calls that are no step of an agent's, for a model's that have the tool's name for an
    ID, or none, and where LlamaIndex does not say what a step is about.
    """
    event = getattr(StepWorkerStateContextVar.get(None), "event", None)
    if not isinstance(event, ToolCall) or event.tool_kwargs != sent:
        return None
    return event.tool_id if event.tool_id not in ("", event.tool_name) else None


def _work_item() -> str:
    """What tells a call from one of the same message with the same arguments, also when the step is
    run again for the answer. "" where LlamaIndex does not number them: one of both then waits on.
    """
    try:
        item = getattr(StepWorkerStateContextVar.get().state, "work_item_id", None)
    except LookupError:
        item = None
    return f":{item}" if item else ""
