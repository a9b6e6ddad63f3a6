"""Servers over stdio and streamable HTTP, and `fsagent serve`, which runs one until it is ended."""

import argparse
import asyncio
import json
import os
import select
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hmac import compare_digest
from io import BufferedReader, FileIO, TextIOWrapper
from pathlib import Path
from typing import Any

import uvicorn
from anyio import wrap_file
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from fsagent_tools import Toolset, Workspace, Workspaces
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools_mcp.client import session_of
from fsagent_tools_mcp.server import server

TOKEN = "FSAGENT_SERVE_TOKEN"  # a variable: what is on the command line, every user can read
ABOUT = "Serve the tools to MCP clients, over stdio or HTTP."
MORE = "--root, --toolset and --config are for every command: see `fsagent --help`."
HTTP = f"serve at http://HOST:PORT/mcp instead of stdio; clients send the token {TOKEN}"
LONE_SURROGATE = "The request has a lone surrogate, which is not a character. Nothing was done."
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Seconds that a connection is kept for its next request, and that requests have to end.
TIMEOUTS: Any = {"timeout_keep_alive": 60, "timeout_graceful_shutdown": 5}


def command(
    words: Sequence[str], root: Path, toolset: Toolset, open_: Callable[..., Workspace]
) -> int:
    """Serve until the end. open_: path, options of `Workspace` -> as configured."""
    parser = argparse.ArgumentParser("fsagent serve", description=ABOUT, epilog=MORE)
    parser.add_argument("--http", metavar="[HOST:]PORT", type=_address, help=HTTP)
    parser.add_argument("--ask", action="store_true", help="ask the client's user before changes")
    parser.add_argument("--readonly", action="store_true", help="no tools that change files")
    options = parser.parse_args(words)
    if options.readonly:
        open_ = partial(open_, policy=replace(open_(root).policy, readonly=True))
    each = Workspaces(lambda context: (root, session_of(context)), open_)
    made = server(each, toolset, approval=options.ask)
    if options.http:
        _serve_http(made, *options.http)
    else:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the thread that reads stdin wakes for none
        asyncio.run(_serve_stdio(made))
    return 0


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 2**16):
        raise argparse.ArgumentTypeError(f"{text!r} is not PORT or HOST:PORT, such as 8000")
    return host.strip("[]") or "127.0.0.1", int(port)


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
    if token and not (token.isascii() and token.isprintable() and token == token.strip()):
        raise ConfigInvalid("token has characters that no header can carry, such as a line break.")
    names = LOOPBACK if host in LOOPBACK else (host,)
    hosts = [(f"[{name}]" if ":" in name else name).lower() for name in names]
    addresses = [f"{name}:{port or '*'}" for name in hosts]
    addresses += hosts if port == 80 else []  # which clients leave out
    security = TransportSecuritySettings(
        # 0.0.0.0 and :: are reached by names that are not known here.
        enable_dns_rebinding_protection=host not in ("0.0.0.0", "::"),
        allowed_hosts=addresses,
        allowed_origins=[f"http://{address}" for address in addresses],
    )
    app = server.streamable_http_app(host=host, transport_security=security)
    expected = None if token is None else f"Bearer {token}".encode()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        """Answers 401 without the token. Names of hosts have no case, and the SDK compares it."""
        answer: ASGIApp = app
        if scope["type"] == "http":
            names = (b"host", b"origin")
            headers = [(k, v.lower() if k in names else v) for k, v in scope["headers"]]
            scope = {**scope, "headers": headers}
            if expected and not compare_digest(dict(headers).get(b"authorization", b""), expected):
                wrong = "A bearer token is missing or wrong."
                answer = PlainTextResponse(wrong, 401, headers={"WWW-Authenticate": "Bearer"})
        await answer(scope, receive, send)

    return guarded


def _serve_http(server: Server[Any], host: str, port: int) -> None:
    """At a free port for port 0; says on stderr where."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio does not
    except OSError as e:
        raise ConfigInvalid(f"The server cannot listen at {host}:{port}: {e.strerror}.") from e
    port = listening.getsockname()[1]
    app = http_app(server, host=host, port=port, token=os.environ.get(TOKEN) or None)
    shown = f"[{host}]" if ":" in host else host
    print(f"fsagent: serving at http://{shown}:{port}/mcp", file=sys.stderr, flush=True)
    config = uvicorn.Config(app, log_level="warning", ws="none", **TIMEOUTS)
    uvicorn.Server(config).run(sockets=[listening])


async def _serve_stdio(server: Server[Any]) -> None:
    """The SDK keeps what anybody prints off the wire; here is what it lacks."""
    raw = BufferedReader(StandardInput(os.dup(0), os.dup(1)))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # the client's words are for nobody else
    lines = wrap_file(TextIOWrapper(raw, "utf-8", "replace", "\n"))

    async def requests() -> AsyncIterator[str]:
        async for line in lines:
            if "\\ud" in line.lower() and (refusal := _refusal(line)):
                await write.send(refusal)
            else:
                yield line

    try:
        async with stdio_server(requests()) as (read, write):  # type: ignore[arg-type] # it iterates
            await server.run(read, write, server.create_initialization_options())
    except* BrokenPipeError:
        pass  # nobody reads the answers any more


class StandardInput(FileIO):
    """Ends, too, when nobody reads the answers any more: who closes them waits for nothing."""

    def __init__(self, descriptor: int, answers: int) -> None:
        super().__init__(descriptor)
        self._answers, self._events = answers, select.poll()
        self._events.register(descriptor, select.POLLIN)
        self._events.register(answers, 0)  # a closed other end is reported all the same

    def readinto(self, buffer: Any) -> int:
        return 0 if self._answers in dict(self._events.poll()) else super().readinto(buffer)


def _refusal(line: str) -> SessionMessage | None:
    """The answer to a request with half of a character, which the SDK cannot read and drops."""
    with suppress(ValueError, KeyError, TypeError, RecursionError):  # of what is no request
        request = json.loads(line)
        try:
            json.dumps(request, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            if "method" in request:
                error = types.ErrorData(code=types.INVALID_PARAMS, message=LONE_SURROGATE)
                answer = types.JSONRPCError(jsonrpc="2.0", id=request["id"], error=error)
                return SessionMessage(answer)
    return None
