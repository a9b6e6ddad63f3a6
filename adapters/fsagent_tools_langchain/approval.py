"""Approval by LangGraph's own interrupt: the graph pauses until it is resumed with an answer."""

from collections.abc import Mapping

from langgraph.types import interrupt

from fsagent_tools import Request, Verdict


def ask(request: Request) -> Verdict:
    """For `Workspace(approve=ask)`; needs a checkpointer.

    The interrupt's value is `Request.to_dict()`. Resume with `{"approved": True, "fingerprint":
    ...}` that quotes the request's, or `{"approved": False, "reason": ...}`. An approval of
    something else, or of what has changed since, is asked for again.
    """
    while True:
        answer = interrupt(request.to_dict())
        if not isinstance(answer, Mapping) or answer.get("approved") is not True:
            reason = answer.get("reason") if isinstance(answer, Mapping) else None
            return str(reason or "an approval quotes the request's fingerprint" if answer else "")
        if answer.get("fingerprint") == request.fingerprint:
            return True
