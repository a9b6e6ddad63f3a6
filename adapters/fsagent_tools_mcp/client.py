"""The client of a call, which has roots, listens to live output and asks its user for approval."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import unquote
from uuid import uuid4

from mcp import types
from mcp.server.context import ServerRequestContext as Context
from mcp.shared.message import ServerMessageMetadata

from fsagent_tools import Effect, Request, Tool, Verdict, approving, emitting, identified
from fsagent_tools.errors import ActionDenied

SESSION = "io.github.fsagent-tools/session"  # in `_meta` of a call: the name of its session
_NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}}
_A = TypeVar("_A", types.ListRootsResult, types.ElicitResult)


class InputRequired(Exception):
    """The client has to answer before the call can go on, and then sends it again."""


class Client:
    """Who made a call, and is asked by requests or, in the protocol of 2026-07-28, by a result that
    requires input: then the call is sent again with the answers, and has the same name, `call`.
    """

    def __init__(self, context: Context, params: types.CallToolRequestParams) -> None:
        self._context, self._session = context, context.session
        self._answers = params.input_responses or {}
        self._capabilities = self._session.client_capabilities or types.ClientCapabilities()
        self.call = params.request_state or uuid4().hex

    @asynccontextmanager
    async def calling(self, tool: Tool, *, approval: bool) -> AsyncIterator[Tool]:
        """The tool for this call, whose live output becomes progress. approval: asks the user."""
        roots: Sequence[types.Root] = ()
        if self._capabilities.roots is not None:
            asked = types.ListRootsRequest()
            roots = (await self._answer("roots", asked, types.ListRootsResult, None)).roots
        output: asyncio.Queue[str | None] = asyncio.Queue()

        async def report() -> None:
            length = 0
            while (text := await output.get()) is not None:
                length += len(text)
                await self._session.report_progress(length, message=text)

        reporting = asyncio.create_task(report())
        ids = identified(session=session_of(self._context), call=self.call)
        asking = approving(self._approve) if approval else nullcontext()
        try:
            with ids, asking, emitting(output.put_nowait), tool.within(self._context) as here:
                yield _beneath(roots, here)
            output.put_nowait(None)
            await reporting
        finally:
            reporting.cancel()

    async def _approve(self, request: Request) -> Verdict:
        """What has changed since it was shown has another fingerprint, and is asked about again."""
        if self._capabilities.elicitation is None:
            return "this client cannot ask its user (it has no elicitation)"
        text = request.diff or "\n".join(f"{k}: {v}" for k, v in request.arguments.items())
        visible = "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)
        message = f"Allow {request.tool} ({request.effect.value})?\n\n{visible}"
        form = types.ElicitRequestFormParams(message=message, requested_schema=_NO_FIELDS)
        asked, name = types.ElicitRequest(params=form), f"approval {request.fingerprint}"
        meta = {"io.github.fsagent-tools/request": request.to_dict()}
        answer = await self._answer(name, asked, types.ElicitResult, meta)
        return answer.action == "accept" or f"the user chose to {answer.action}"

    async def _answer(self, name: str, asks: types.InputRequest, kind: type[_A], meta: Any) -> _A:
        """meta: `_meta` of the result where it is one that asks. Raises `InputRequired` with it."""
        if self._session.can_send_request:
            related = ServerMessageMetadata(related_request_id=self._context.request_id)
            return await self._session.send_request(asks, kind, metadata=related)
        answer = self._answers.get(name)
        if isinstance(answer, kind):
            return answer
        asked = {name: asks}
        if self._capabilities.roots is not None:  # answers are only those of the last time
            asked["roots"] = types.ListRootsRequest()
        reply = types.InputRequiredResult(input_requests=asked, request_state=self.call, _meta=meta)
        raise InputRequired(reply)


def session_of(context: Context) -> str | None:
    """What the client names its session, else the transport's, which only HTTP has."""
    named = (context.meta or {}).get(SESSION)
    return named if isinstance(named, str) else context.session._connection.session_id


def _beneath(roots: Sequence[types.Root], tool: Tool) -> Tool:
    """The tool for files beneath one of the roots, which only tighten; none say nothing.

    Raises `ActionDenied` if it runs programs, which reach more, and roots are narrower.
    """
    top = os.path.realpath(tool.workspace.root)
    paths = [os.path.realpath(unquote(root.uri.path or "")) for root in roots]
    if not roots or any(os.path.commonpath((top, path)) == path for path in paths):
        return tool
    if tool.effect is Effect.EXECUTE:
        reach = f"{tool.name} runs programs, which can reach more than the roots of this client."
        raise ActionDenied(reach, hint="Use the tools for files.")
    inside = [os.path.relpath(path, top) for path in paths if path.startswith(f"{top}{os.sep}")]
    return replace(tool, workspace=tool.workspace.view(beneath=inside))
