"""The client of a call: what it is asked and told."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from mcp import types
from mcp.server.context import ServerRequestContext

from fsagent_tools import Effect, Request, Tool, Verdict
from fsagent_tools.errors import ActionDenied

_OURS = "io.github.fsagent-tools/"
SESSION = f"{_OURS}session"  # of a call: the name of its session
REQUEST = f"{_OURS}request"  # of a result that requires an answer: `Request.to_dict()`
ANSWER = "approval"  # a request for input, and the answer to it
ROOTS = "roots"  # another
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


@asynccontextmanager
async def reporting(
    context: ServerRequestContext[Any, Any],
) -> AsyncIterator[Callable[[str], None]]:
    """Inside the block, the function takes live output, on this loop; at its end all is told."""
    texts: asyncio.Queue[str | None] = asyncio.Queue()
    telling = asyncio.create_task(_report(context, texts))
    try:
        yield texts.put_nowait
    except BaseException:
        telling.cancel()
        raise
    texts.put_nowait(None)
    await telling


async def _report(
    context: ServerRequestContext[Any, Any], texts: "asyncio.Queue[str | None]"
) -> None:
    told = 0
    while (text := await texts.get()) is not None:
        told += len(text)
        await context.session.report_progress(told, message=text)


def wanted(context: ServerRequestContext[Any, Any]) -> Mapping[str, Any]:
    """What a client that has roots is asked for with whatever else it is asked for."""
    can = context.session.client_capabilities
    return {} if can is None or can.roots is None else {ROOTS: {"method": "roots/list"}}


async def roots_of(
    context: ServerRequestContext[Any, Any], params: Any
) -> Sequence[types.Root] | None:
    """What the client told; () where it has none, None where it has to be asked first."""
    if not wanted(context):
        return ()
    if context.session.can_send_request:
        asked = types.ListRootsRequest()  # `list_roots` warns that the protocol is about to lose it
        return (await context.session.send_request(asked, types.ListRootsResult)).roots
    told = (params.input_responses or {}).get(ROOTS)
    return told.roots if isinstance(told, types.ListRootsResult) else None


def beneath(tool: Tool, roots: Sequence[types.Root]) -> Tool:
    """The tool for files that are beneath one of the roots. Raises `ActionDenied`.

    An empty list says nothing. What runs programs is refused where roots are narrower than the
    workspace, since programs reach all of it.
    """
    if not roots:
        return tool
    top = os.path.realpath(tool.workspace.root)
    given = [os.path.realpath(unquote(urlsplit(str(root.uri)).path)) for root in roots]
    if any(os.path.commonpath((top, one)) == one for one in given):
        return tool
    if tool.effect is Effect.EXECUTE:
        raise ActionDenied(
            f"{tool.name} runs programs, which can reach more than the roots of this client.",
            hint="Use the tools for files.",
        )
    inside = [one for one in given if one.startswith(f"{top}{os.sep}")]
    paths = [os.path.relpath(one, top) for one in inside]
    return replace(tool, workspace=tool.workspace.view(beneath=paths))
