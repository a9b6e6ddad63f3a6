"""Version 1 of the MCP library, from 1.24, in the shape of version 2.

Protocols until 2025-11-25; of that of 2026-07-28 the calls that are one POST each.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from types import SimpleNamespace
from typing import Any, ClassVar

from anyio import CancelScope
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

types: Any = import_module("mcp.types")  # a type checker has those of version 2
_low: Any = import_module("mcp.server.lowlevel.server")
_McpError: Any = import_module("mcp.shared.exceptions").McpError
_Manager: Any = import_module("mcp.server.streamable_http_manager").StreamableHTTPSessionManager
_KINDS = {
    "tools/list": (types.ListToolsRequest, types.ListToolsResult),
    "tools/call": (types.CallToolRequest, types.CallToolResult),
}
_LARGEST = 4 << 20  # bytes of a request, as in version 2
_TOO_LARGE = f"A request has at most {_LARGEST >> 20} MB."
VERSION = "2026-07-28"
_NEWEST = types.LATEST_PROTOCOL_VERSION.encode()


def _itself(cls: type, parameters: object) -> type:
    return cls


class MCPError(_McpError):  # type: ignore[misc]
    """Answered as an error of the protocol."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(types.ErrorData(code=code, message=message))


@dataclass
class _Connection:
    session_id: str | None = None
    state: dict[str, Any] = field(default_factory=dict)
    exit_stack: AsyncExitStack = field(default_factory=AsyncExitStack)


_connection: ContextVar[_Connection] = ContextVar("connection")


class _Session:
    """That of version 1, and what only that of version 2 has."""

    can_send_request = True

    def __init__(self, session: Any, token: str | int | None, request_id: str | int) -> None:
        self._session, self._token, self._request_id = session, token, request_id
        self._connection = _connection.get()
        known = session.client_params
        self.client_capabilities = known.capabilities if known else None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        if self._token is not None:
            told = self._token, progress, total, message, str(self._request_id)
            await self._session.send_progress_notification(*told)


@dataclass(kw_only=True)
class ServerRequestContext:
    """Of one call."""

    __class_getitem__: ClassVar[Any] = classmethod(_itself)
    session: Any
    lifespan_context: Any
    request_id: str | int
    meta: Mapping[str, Any]
    request: Any


class Server(_low.Server):  # type: ignore[misc]
    """A server whose handlers take a context and parameters, and return what is sent."""

    __class_getitem__: ClassVar[Any] = classmethod(_itself)

    def __init__(self, name: str, *, get_tool_input_schema: Any = None, **more: Any) -> None:
        super().__init__(name, **more)

    def add_request_handler(
        self, method: str, params_type: Any, handler: Callable[..., Awaitable[Any]]
    ) -> None:
        kind, result = _KINDS[method]

        async def handle(request: Any) -> Any:
            found = await handler(_context(), _params(request))
            waits = found["resultType"] != "complete"
            return types.ServerResult((types.EmptyResult if waits else result)(**found))

        self.request_handlers[kind] = handle

    async def run(self, read_stream: Any, write_stream: Any, *given: Any, **more: Any) -> None:
        """Ends with its input, and with it what is under way."""
        connection = _Connection()
        _connection.set(connection)
        async with connection.exit_stack:
            with CancelScope() as scope:
                lines = _Ending(read_stream, scope.cancel)
                await super().run(lines, write_stream, *given, **more)

    async def _handle_request(self, message: Any, *given: Any) -> None:
        """Has one answer: after its cancellation no other, and from its own on no cancellation.

        In the library, a second answer and a cancelled one end the server.
        """
        respond = message.respond

        async def once(response: Any) -> None:
            message._session._in_flight.pop(message.request_id, None)
            if not message.cancelled:
                await respond(response)

        message.respond = once
        await super()._handle_request(message, *given)

    def streamable_http_app(self, *, host: str, transport_security: Any) -> Starlette:
        of_sessions, of_posts = (
            _Manager(app=self, security_settings=transport_security, stateless=stateless)
            for stateless in (False, True)
        )

        @asynccontextmanager
        async def lifespan(app: Starlette) -> Any:
            async with of_sessions.run(), of_posts.run():
                yield

        return Starlette(
            routes=[Route("/mcp", _Endpoint(of_sessions, of_posts))], lifespan=lifespan
        )


class _Endpoint:
    def __init__(self, of_sessions: Any, of_posts: Any) -> None:
        self._of_sessions, self._of_posts = of_sessions, of_posts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = dict(scope["headers"])
        if len(size := sent.get(b"content-length", b"0")) > 20 or int(size) > _LARGEST:
            await PlainTextResponse(_TOO_LARGE, 413)(scope, receive, send)
            return
        receive = _bounded(receive)
        asked = sent.get(b"mcp-protocol-version") == VERSION.encode()
        if asked and sent.get(b"mcp-method", b"").decode(errors="replace") in _KINDS:
            sent[b"mcp-protocol-version"] = _NEWEST
            here: Scope = {**scope, "headers": [*sent.items()]}
            await self._of_posts.handle_request(here, receive, send)
        else:
            await self._of_sessions.handle_request(scope, receive, send)


def _bounded(receive: Receive) -> Receive:
    """For bodies that do not tell their size; before 1.30 the library takes any."""
    left = _LARGEST

    async def receiving() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise ValueError(_TOO_LARGE)
        return message

    return receiving


class _Ending:
    """A stream of messages, and what is to be done at its end."""

    def __init__(self, stream: Any, ended: Callable[[], None]) -> None:
        self._stream, self._ended = stream, ended

    async def __aenter__(self) -> Any:
        await self._stream.__aenter__()
        return self

    def __aiter__(self) -> Any:
        return aiter(self._stream)

    async def __aexit__(self, *error: Any) -> None:
        self._ended()
        await self._stream.__aexit__(*error)


def _context() -> ServerRequestContext:
    known = _low.request_ctx.get()
    meta = known.meta.model_dump(by_alias=True, exclude_none=True) if known.meta else {}
    session = _Session(known.session, meta.get("progressToken"), known.request_id)
    headers = getattr(known.request, "headers", {})
    session._connection.session_id = headers.get("mcp-session-id")
    return ServerRequestContext(
        session=session,
        lifespan_context=known.lifespan_context,
        request_id=known.request_id,
        meta=meta,
        request=known.request,
    )


def _params(request: Any) -> Any:
    """As version 2 has them: an answer with what was asked is sent with the call."""
    if not isinstance(request, types.CallToolRequest):
        return None
    params = request.params
    more = params.model_extra or {}
    given = more.get("inputResponses") or {}
    return SimpleNamespace(
        name=params.name,
        arguments=params.arguments,
        meta=_context().meta,
        request_state=more.get("requestState"),
        input_responses={k: types.ElicitResult.model_validate(one) for k, one in given.items()},
    )
