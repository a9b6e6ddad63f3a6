"""Approval by elicitation: the client shows the change to its user, who accepts or declines."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

from mcp import types
from mcp.server.context import ServerRequestContext

from fsagent_tools import Request, Verdict
from fsagent_tools_mcp.meta import ANSWER, ASK, CALL, REQUEST

NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}}
CANNOT_ASK = "this client cannot ask its user (it has no elicitation)"


class InputRequired(Exception):
    """The client has to answer before the call can go on: it is sent once more, with the answer."""

    def __init__(self, request: Request, call: str) -> None:
        super().__init__(request.tool)
        self.request, self.call = request, call

    def result(self, wanted: Mapping[str, types.InputRequest]) -> types.InputRequiredResult:
        """wanted: what else the client is asked for."""
        asked = types.ElicitRequest(params=_form(self.request))
        state = f"{self.call} {self.request.fingerprint}"
        told: Any = {REQUEST: self.request.to_dict()}
        return types.InputRequiredResult(
            input_requests={ANSWER: asked, **wanted}, request_state=state, _meta=told
        )


def call_id(params: types.CallToolRequestParams) -> str:
    """The same for a call that is sent once more."""
    meta: Mapping[str, Any] = params.meta or {}
    return (params.request_state or "").partition(" ")[0] or meta.get(CALL) or uuid4().hex


def asker(
    context: ServerRequestContext[Any], params: types.CallToolRequestParams, call: str
) -> Callable[[Request], Awaitable[Verdict]]:
    """For `approving`. Raises `InputRequired` where the protocol has no requests to clients.

    An answer counts for the change that was shown, which its fingerprint names: what has changed
    since is asked about again.
    """

    async def ask(request: Request) -> Verdict:
        session = context.session
        can, own = session.client_capabilities, (context.meta or {}).get(ASK)
        if (can is None or can.elicitation is None) and not own:
            return CANNOT_ASK
        if session.can_send_request and not own:
            form = _form(request)
            answer = await session.elicit_form(
                form.message, form.requested_schema, context.request_id
            )
            return _verdict(answer)
        given = (params.input_responses or {}).get(ANSWER)
        _, _, shown = (params.request_state or "").partition(" ")
        if isinstance(given, types.ElicitResult) and shown == request.fingerprint:
            return _verdict(given)
        raise InputRequired(request, call)

    return ask


def _verdict(answer: types.ElicitResult) -> Verdict:
    return True if answer.action == "accept" else f"the user chose to {answer.action}"


def _form(request: Request) -> types.ElicitRequestFormParams:
    shown = request.diff or "\n".join(f"{k}: {v}" for k, v in request.arguments.items())
    seen = "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in shown)
    message = f"Allow {request.tool} ({request.effect.value})?\n\n{seen}"
    return types.ElicitRequestFormParams(message=message, requested_schema=NO_FIELDS)
