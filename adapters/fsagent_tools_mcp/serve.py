"""`fsagent serve`: run a server until its client, or the terminal, ends it."""

import argparse
import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from fsagent_tools import Toolset, Workspace, Workspaces
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools_mcp.http import http_app
from fsagent_tools_mcp.server import seats, server
from fsagent_tools_mcp.stdio import Incoming, Outgoing

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
