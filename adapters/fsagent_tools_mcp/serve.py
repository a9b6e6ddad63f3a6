"""`fsagent serve`: run a server until its client, or the terminal, ends it."""

import argparse
import asyncio
import json
import os
import re
import select
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hmac import compare_digest
from pathlib import Path
from typing import Any

import uvicorn
from anyio import Lock, to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from fsagent_tools import Toolset, Workspace, Workspaces
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools_mcp.server import seats, server

TOKEN = "FSAGENT_SERVE_TOKEN"  # a variable: what is on the command line, every user can read
ABOUT = "Serve the tools to MCP clients, over stdio or HTTP."
MORE = "--root, --toolset and --config are for every command: see `fsagent --help`."
KEEP = 60  # seconds that a connection is kept for its next request; clients of ours end it before
LAST = 5  # seconds that are left to requests under way when it is told to end


def command(
    words: Sequence[str], root: Path, toolset: Toolset, open_: Callable[..., Workspace]
) -> int:
    """Serve until the end. open_: path, options of `Workspace` -> as configured."""
    parser = argparse.ArgumentParser("fsagent serve", description=ABOUT, epilog=MORE)
    parser.add_argument(
        "--http",
        metavar="[HOST:]PORT",
        type=_address,
        help=f"serve at http://HOST:PORT/mcp instead of stdio; clients send the token {TOKEN}",
    )
    parser.add_argument("--ask", action="store_true", help="ask the client's user before changes")
    parser.add_argument("--readonly", action="store_true", help="no tools that change files")
    options = parser.parse_args(words)
    if not root.is_dir():
        raise ConfigInvalid(f"There is no directory {root}.")
    if options.readonly:
        open_ = partial(open_, policy=replace(open_(root).policy, readonly=True))
    made = server(Workspaces(seats(root), open_), toolset, approval=options.ask)
    if options.http is None:
        asyncio.run(_over_stdio(made))
        return 0
    _over_http(made, *options.http)
    return 0


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 2**16):
        raise argparse.ArgumentTypeError(f"{text!r} is not PORT or HOST:PORT, such as 8000")
    return host.strip("[]") or "127.0.0.1", int(port)


def _over_http(made: Server[Any], host: str, port: int) -> None:
    """At a free port for port 0; says on stderr where."""
    try:
        listening = socket.create_server((host, port), family=_family(host))
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio does not
    except OSError as error:
        raise ConfigInvalid(
            f"The server cannot listen at {host}:{port}: {error.strerror}."
        ) from error
    port = listening.getsockname()[1]
    app = http_app(made, host=host, port=port, token=os.environ.get(TOKEN) or None)
    shown = f"[{host}]" if ":" in host else host
    print(f"fsagent: serving at http://{shown}:{port}/mcp", file=sys.stderr, flush=True)
    kept: dict[str, Any] = {"timeout_keep_alive": KEEP, "timeout_graceful_shutdown": LAST}
    config = uvicorn.Config(app, log_level="warning", ws="none", **kept)
    uvicorn.Server(config).run(sockets=[listening])


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


async def _over_stdio(server: Server[Any]) -> None:
    """An interrupt ends it as a termination does: the thread that reads stdin wakes for neither."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    wire = os.dup(1)
    answers: Any = Outgoing(wire)
    lines: Any = Incoming(os.dup(0), wire, answers)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # the client's words are for nobody else
    with suppress(OSError):  # there may be no stderr
        os.dup2(2, 1)  # what anybody prints is no message
    async with stdio_server(lines, answers) as (read, write):
        await server.run(read, write, server.create_initialization_options())


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


def check_token(token: str) -> None:
    """Raises `ConfigInvalid`."""
    if not (token.isascii() and token.isprintable() and token == token.strip()):
        raise ConfigInvalid("token has characters that no header can carry, such as a line break.")


_PIECE = 1 << 16
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # half of a character, mostly with its other half
_INVALID = -32602  # of JSON-RPC: parameters


class Incoming:
    """The lines that the client sends. They end with the input, and when nobody reads `answers`:
    who closes only that end waits for nothing any more. replies: answers what the SDK cannot read.
    """

    def __init__(self, descriptor: int, answers: int, replies: "Outgoing") -> None:
        self._from, self._answers, self._got = descriptor, answers, bytearray()
        self._replies = replies
        self._events = select.poll()
        self._events.register(descriptor, select.POLLIN)
        self._events.register(answers, 0)  # errors and a closed other end are told all the same

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await to_thread.run_sync(self._line):
            if _SURROGATE.search(line) and (refusal := _refusal(line)):
                await self._replies.write(refusal)
                await self._replies.flush()
            else:
                yield line

    def _line(self) -> str:
        seen = 0
        while (end := self._got.find(b"\n", seen) + 1) == 0:
            seen = len(self._got)
            if self._answers in dict(self._events.poll()):
                return ""
            if not (piece := os.read(self._from, _PIECE)):
                end = seen
                break
            self._got += piece
        line = self._got[:end].decode(errors="replace")
        del self._got[:end]
        return line


class Outgoing:
    """What is written goes out at once when it is flushed; without a reader it is lost."""

    def __init__(self, descriptor: int) -> None:
        self._to, self._text, self._turn = descriptor, "", Lock()

    async def write(self, text: str) -> None:
        self._text += text

    async def flush(self) -> None:
        async with self._turn:
            text, self._text = self._text, ""
            await to_thread.run_sync(self._sent, text.encode())

    def _sent(self, data: bytes) -> None:
        left = memoryview(data)
        with suppress(BrokenPipeError):
            while left:
                left = left[os.write(self._to, left) :]


def _refusal(line: str) -> str:
    """The answer to a request with a lone surrogate, "" for any other line."""
    with suppress(ValueError, RecursionError):
        message = json.loads(line)
        try:
            json.dumps(message, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            if isinstance(message, dict) and "method" in message and "id" in message:
                told = "The request has a lone surrogate, which is not a character."
                error = {"code": _INVALID, "message": f"{told} Nothing was done."}
                answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
                return json.dumps(answer) + "\n"
    return ""
