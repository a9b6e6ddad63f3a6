"""Approval by elicitation: the client shows the change to its user, who accepts or declines."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

from mcp.server.context import ServerRequestContext

from fsagent_tools import Request, Verdict
from fsagent_tools_mcp.meta import ANSWER, REQUEST

NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}}
CANNOT_ASK = "this client cannot ask its user (it has no elicitation)"


class InputRequired(Exception):
    """The client has to answer before the call can go on: it is sent once more, with the answer."""

    def __init__(self, request: Request, call: str) -> None:
        super().__init__(request.tool)
        self.request, self.call = request, call

    def result(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """wanted: what else the client is asked for."""
        form = {"mode": "form", "message": _message(self.request), "requestedSchema": NO_FIELDS}
        return {
            "resultType": "input_required",
            "inputRequests": {ANSWER: {"method": "elicitation/create", "params": form}, **wanted},
            "requestState": f"{self.call} {self.request.fingerprint}",
            "_meta": {REQUEST: self.request.to_dict()},
        }


def call_id(params: Any) -> str:
    """The same for a call that is sent once more."""
    return (params.request_state or "").partition(" ")[0] or uuid4().hex


def asker(
    context: ServerRequestContext[Any], params: Any, call: str
) -> Callable[[Request], Awaitable[Verdict]]:
    """For `approving`. Raises `InputRequired` where the protocol has no requests to clients.

    An answer counts for the change that was shown, which its fingerprint names: what has changed
    since is asked about again.
    """

    async def ask(request: Request) -> Verdict:
        session = context.session
        can = session.client_capabilities
        if can is None or can.elicitation is None:
            return CANNOT_ASK
        if session.can_send_request:
            asked = _message(request), NO_FIELDS, context.request_id
            return _verdict((await session.elicit_form(*asked)).action)
        given = (params.input_responses or {}).get(ANSWER)
        _, _, shown = (params.request_state or "").partition(" ")
        if (action := getattr(given, "action", None)) and shown == request.fingerprint:
            return _verdict(action)
        raise InputRequired(request, call)

    return ask


def _verdict(action: str) -> Verdict:
    return True if action == "accept" else f"the user chose to {action}"


def _message(request: Request) -> str:
    shown = request.diff or "\n".join(f"{k}: {v}" for k, v in request.arguments.items())
    seen = "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in shown)
    return f"Allow {request.tool} ({request.effect.value})?\n\n{seen}"
