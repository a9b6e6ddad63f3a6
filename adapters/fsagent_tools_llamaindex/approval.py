"""Approval by LlamaIndex's own events: the step waits until an answer is sent."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent

from fsagent_tools import Request, Verdict
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
    required = ApprovalRequired(fingerprint=request.fingerprint, request=request.to_dict())
    answer = await context.wait_for_event(
        ApprovalGiven,
        waiter_event=required,
        waiter_id=f"{request.tool}:{request.fingerprint}",
        requirements={"fingerprint": request.fingerprint},
        timeout=None,
    )
    return True if answer.approved else answer.reason
