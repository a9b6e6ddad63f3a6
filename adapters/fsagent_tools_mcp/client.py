"""A channel to a server of this package: calls over streamable HTTP, from any thread."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as NotYet
from functools import cache
from typing import Any, TypeVar

import httpx2
from mcp import MCPError, types
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from fsagent_tools import Block, Effect, Shape
from fsagent_tools.errors import Cancelled
from fsagent_tools.remote import (
    Described,
    Question,
    RemoteReply,
    Sending,
    lost,
    unreachable,
    unsliced,
)
from fsagent_tools_mcp.meta import ANSWER, ASK, CALL, CODE, EFFECT, REQUEST, SESSION, SHAPE, WHOLE

LOOK = 0.05  # seconds between two looks whether the caller gave up
CONNECT = 10.0  # seconds
_T = TypeVar("_T")


class HttpChannel:
    """For `remote_toolset`. url: of the server, with or without `/mcp`; token: its bearer token.

    Connects at the first call, and anew after the server was away.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        url = url.rstrip("/")
        self._url = url if url.endswith("/mcp") else f"{url}/mcp"
        self._where = f"The tool server at {self._url}"
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self._client: asyncio.Future[Client] | None = None  # touched on the loop alone

    def tools(self) -> Sequence[Described]:
        """Raises `NetworkError`."""

        async def listed(client: Client) -> Sequence[Described]:
            return [_described(tool) for tool in (await client.list_tools()).tools]

        return self._on_the_loop(listed, threading.Event(), changes=False)

    def call(self, sending: Sending) -> RemoteReply | Question:
        """Raises `NetworkError`, `OutcomeUnknown`, `Cancelled`."""

        async def called(client: Client) -> RemoteReply | Question:
            accepted = types.ElicitResult(action="accept", content={})
            meta: Any = {SESSION: sending.session, CALL: sending.call}
            meta |= {ASK: sending.ask, WHOLE: True}
            found = await client.session.call_tool(
                sending.name,
                dict(sending.arguments),
                progress_callback=_progress(sending.emit),
                meta=meta,
                input_responses={ANSWER: accepted} if sending.answer else None,
                request_state=sending.answer or None,
                allow_input_required=True,
            )
            if isinstance(found, types.InputRequiredResult):
                return _question(found)
            return _reply(found)

        return self._on_the_loop(called, sending.cancelled, changes=not sending.ask)

    def _on_the_loop(
        self,
        work: Callable[[Client], Awaitable[_T]],
        cancelled: threading.Event,
        *,
        changes: bool,
    ) -> _T:
        future = asyncio.run_coroutine_threadsafe(self._connected(work, changes), _loop())
        while True:
            try:
                return future.result(LOOK)
            except NotYet:
                if cancelled.is_set():
                    future.cancel()
            except CancelledError:
                raise Cancelled("The call was cancelled; the server was told so.") from None

    async def _connected(self, work: Callable[[Client], Awaitable[_T]], changes: bool) -> _T:
        if self._client is None:
            self._client = asyncio.get_running_loop().create_future()
            self._keeper = asyncio.create_task(self._keep(self._client))
        connection = self._client
        try:
            client = await asyncio.shield(connection)
        except Exception as error:
            self._client = None
            raise unreachable(self._where, _told(error)) from error
        try:
            return await work(client)
        except (MCPError, httpx2.HTTPError, OSError) as error:
            if self._client is connection:
                self._client = None
                self._keeper.cancel()
            if not changes:
                raise unreachable(self._where, _told(error)) from error
            raise lost(self._where, error) from error

    async def _keep(self, opened: "asyncio.Future[Client]") -> None:
        """Hold the connection: its contexts have to end in the task that began them."""
        try:
            timeout = httpx2.Timeout(None, connect=CONNECT)
            async with (
                httpx2.AsyncClient(headers=self._headers, timeout=timeout) as http,
                Client(streamable_http_client(self._url, http_client=http)) as client,
            ):
                opened.set_result(client)
                await asyncio.Event().wait()
        except Exception as error:  # noqa: BLE001 - raised where the connection is awaited
            if not opened.done():
                opened.set_exception(error)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """One loop for all channels, in a thread of its own that ends with the process."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="fsagent-channels", daemon=True).start()
    return loop


def _told(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def _progress(emit: Callable[[str], None] | None) -> Any:
    if emit is None:
        return None

    async def told(progress: float, total: float | None, message: str | None) -> None:
        emit(message or "")

    return told


def _described(tool: types.Tool) -> Described:
    meta: Mapping[str, Any] = tool.meta or {}
    reads = bool(tool.annotations and tool.annotations.read_only_hint)
    effect = Effect(meta[EFFECT]) if EFFECT in meta else (Effect.READ if reads else Effect.EXECUTE)
    shape = Shape(**meta.get(SHAPE, {}))
    return Described(tool.name, tool.description or "", tool.input_schema, effect, shape)


def _question(found: types.InputRequiredResult) -> Question:
    request: Mapping[str, Any] = (found.meta or {}).get(REQUEST, {})
    paths, diff = request.get("paths", ()), request.get("diff", "")
    return Question(found.request_state or "", tuple(paths), diff)


def _reply(found: types.CallToolResult) -> RemoteReply:
    text = next((part.text for part in found.content if isinstance(part, types.TextContent)), "")
    blocks = [block for part in found.content if (block := _block(part))]
    told = unsliced(found.structured_content or {"success": not found.is_error}, text)
    code = str((found.meta or {}).get(CODE) or ("ERROR" if found.is_error else "OK"))
    return RemoteReply(text, code, told, tuple(blocks))


def _block(part: types.ContentBlock) -> Block | None:
    if isinstance(part, types.ImageContent):
        return Block("image", part.mime_type, part.data)
    if isinstance(part, types.EmbeddedResource) and isinstance(
        part.resource, types.BlobResourceContents
    ):
        return Block("file", part.resource.mime_type or "", part.resource.blob)
    return None
