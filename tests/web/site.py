"""A loopback HTTP server whose every path is a small Python function, and a resolver."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        self.site.requests.append(self)
        self.body = self.rfile.read(int(self.headers.get("content-length", 0)))
        answer = self.site.routes.get(self.path) or self.site.routes.get(
            self.path.partition("?")[0]
        )
        with contextlib.suppress(ConnectionError):
            (answer or page("not found", status=404))(self)

    do_POST = do_GET  # noqa: N815

    @property
    def site(self) -> "Site":
        return self.server.site

    def send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def raw(self, data: bytes) -> None:
        self.close_connection = True
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@dataclass
class Site:
    """`at("name")` is a URL under a host name that the test's resolver knows."""

    port: int
    routes: dict[str, Answer] = field(default_factory=dict)
    requests: list[Handler] = field(default_factory=list)

    def at(self, path: str = "/", host: str = "public.test") -> str:
        return f"http://{host}:{self.port}{path}"


def page(
    body: str | bytes,
    content_type: str = "text/html; charset=utf-8",
    status: int = 200,
    **headers: str,
) -> Answer:
    data = body.encode() if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    named = {"Content-Type": content_type, **named} if content_type else named
    return lambda handler: handler.send(status, named, data)


def redirect(location: str, status: int = 302) -> Answer:
    return lambda handler: handler.send(status, {"Location": location}, b"")


def drip(handler: Handler, seconds: float = 0.2) -> None:
    """One byte at a time, for as long as the reader listens."""
    handler.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    handler.site.dripping = threading.Event()
    while not handler.site.dripping.wait(seconds):
        handler.wfile.write(b"x")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serve(context: ssl.SSLContext | None = None) -> Iterator[Site]:
    server = Server(("127.0.0.1", 0), Handler)
    if context:
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    server.site = site = Site(server.server_address[1])
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Resolver:
    """Stands in for DNS, which has no local form; everything else goes to the real one.

    `names`: host -> addresses, one for each time it is asked (the last one stays).
    """

    names: dict[str, list[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    real: Any = socket.getaddrinfo

    def getaddrinfo(self, host: str, port: int, *args: Any, **kwargs: Any) -> Any:
        self.asked.append(host)
        answers = self.names.get(host)
        if answers is None:
            if host.endswith((".test", ".com", ".internal")):
                raise socket.gaierror(socket.EAI_NONAME, "unknown to the test")
            return self.real(host, port, *args, **kwargs)
        address = answers.pop(0) if len(answers) > 1 else answers[0]
        return self.real(address, port, *args, **kwargs)
