"""The server over streamable HTTP, as an ASGI application."""

from hmac import compare_digest
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools_mcp.meta import check_token

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def http_app(
    server: Server[Any], *, host: str = "127.0.0.1", port: int = 0, token: str | None = None
) -> ASGIApp:
    """An ASGI application, for uvicorn or another server; the tools are at the path `/mcp`.

    Requests are only answered if their Host and, from a browser, their Origin name `host`, so that
    no web page reaches the tools under another name.

    Args:
        server: What `server` returned.
        host: The address that is served.
        port: The port that is served; 0 accepts any.
        token: What clients send as `Authorization: Bearer`; required unless `host` is loopback.

    Raises:
        ConfigInvalid: If a token is required and missing.
    """
    if token is None and host not in LOOPBACK:
        raise ConfigInvalid(
            f"Anyone who can reach {host} could use the tools.",
            hint="Set a token (for `fsagent serve` in FSAGENT_SERVE_TOKEN), or bind to 127.0.0.1.",
        )
    check_token(token or "")
    names = LOOPBACK if host in LOOPBACK else (host,)
    hosts = [(f"[{name}]" if ":" in name else name).lower() for name in names]
    places = [f"{name}:{port or '*'}" for name in hosts]
    if port == 80:  # which clients leave out
        places += hosts
    anywhere = host in ("0.0.0.0", "::")  # reached by names that are not known here
    safe = TransportSecuritySettings(
        enable_dns_rebinding_protection=not anywhere,
        allowed_hosts=places,
        allowed_origins=[f"http://{place}" for place in places],
    )
    app = server.streamable_http_app(host=host, transport_security=safe)
    app.user_middleware.append(Middleware(Door, token=token))
    return app


class Door:
    """Answers 401 to requests without the token, and writes names of hosts in small letters: they
    have no case, and the SDK compares them as they are.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app, self._wanted = app, None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = Headers(scope=scope).get("authorization", "").encode()
            if self._wanted and not compare_digest(given, self._wanted):
                told = "A bearer token is missing or wrong."
                refused = PlainTextResponse(told, 401, headers={"WWW-Authenticate": "Bearer"})
                await refused(scope, receive, send)
                return
            small = (b"host", b"origin")
            headers = [(k, v.lower() if k in small else v) for k, v in scope["headers"]]
            scope = {**scope, "headers": headers}
        await self._app(scope, receive, send)
