"""Requests as the protocol has them since 2026-07-28: each is one POST, from any thread.

The answer is JSON, or a stream of events where notifications come before it.
"""

import json
import os
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import BufferedReader, RawIOBase
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from fsagent_tools.remote import LARGEST_MESSAGE, CancelFlag, check_weight
from fsagent_tools_mcp.wire import INTERNAL_ERROR, Message

VERSION = "2026-07-28"
CONNECT = 10.0  # seconds
SILENCE = 60.0  # seconds; while a call runs, the server says every 15 that it is there
AT_HAND = 256  # connections of a process that nobody uses, whatever servers they lead to
IDLE = 30.0  # seconds after which a connection is not used again: what is between may have cut it
LINGER = 2.0  # seconds in which a stream has to end after its result, to be used again
LONGEST = 3900.0  # seconds of a call; no tool takes more than an hour
HEAD = 1 << 20  # bytes before the answer
MOST = 8 * LARGEST_MESSAGE  # bytes of all that answers one request
LINE = 100  # bytes that a line counts for at least
PIECE = 1 << 16  # bytes that are read at once
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": VERSION,
}
Notified = Callable[[Mapping[str, Any]], None]
_Address = tuple[str, str, int | None]
_unused = dict[HTTPConnection, tuple[_Address, int, float]]()  # to where, its process, since when


class Unsent(Exception):
    """The server has not got the request, or not all of it."""


class Refused(Exception):
    """The server answered with something else than a result."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status} {message}".rstrip())
        self.status = status


class Poster:
    """Requests to one URL, over connections that all users of its server share. Thread-safe."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url = urlsplit(url)
        self._headers = {**HEADERS, **headers}
        self._address = self._url.scheme, self._url.hostname or "", self._url.port

    def post(
        self,
        method: str,
        params: Mapping[str, Any],
        cancelled: CancelFlag,
        notified: Notified,
        seconds: float = LONGEST,
    ) -> Mapping[str, Any]:
        """The result. notified: takes the parameters of notifications. seconds: until it is there.

        Setting `cancelled` closes the connection, by which the server knows. Raises `Unsent`,
        `Refused`, and `OSError`, `HTTPException` or `ValueError` where there is no proper answer.
        """
        meta = {**params.get("_meta", {}), **ENVELOPE}
        sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        headers = {**self._headers, "mcp-method": method}
        if "name" in params:
            headers["mcp-name"] = params["name"]
        target = f"{self._url.path}?{self._url.query}" if self._url.query else self._url.path
        connection = self._connected()
        sock = connection.sock
        try:
            sock.settimeout(min(SILENCE, seconds))
            response_class: Any = partial(_Response, seconds)
            connection.response_class = response_class
            with cancelled.waking(partial(_cut, sock)):
                if cancelled.is_set():
                    raise Unsent("it was cancelled")
                body = json.dumps(sent).encode()
                with _answered(connection, target, body, headers) as response:
                    result = _result(response, notified)
                    ends = _ends(response, sock)
        except BaseException:
            connection.close()
            raise
        if not ends:
            connection.close()
        elif connection.sock:  # the server did not end it
            _keep(connection, self._address)
        return result

    def _connected(self) -> HTTPConnection:
        for connection, (address, process, since) in reversed([*_unused.items()]):
            if address != self._address or not _unused.pop(connection, None):
                continue  # to another server, or another thread was faster
            recent = process == os.getpid() and time.monotonic() - since < IDLE
            if recent and not _ended(connection.sock):
                return connection
            connection.close()
        try:
            connection = self._new()
            connection.connect()
        except (OSError, UnicodeError) as error:
            raise Unsent(f"{type(error).__name__}: {error}") from error
        return connection

    def _new(self) -> HTTPConnection:
        """Through a tunnel where the environment names a proxy."""
        scheme, server, own_port = self._address
        proxy = None if proxy_bypass(server) else getproxies().get(scheme)
        through = urlsplit(proxy if "://" in proxy else f"//{proxy}") if proxy else self._url
        host, port = through.hostname or "", through.port
        connection = (
            HTTPSConnection(host, port, timeout=CONNECT, context=_trusted())
            if scheme == "https"
            else HTTPConnection(host, port, timeout=CONNECT)
        )
        if proxy:
            connection.set_tunnel(server, own_port)
        return connection


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()


def _keep(connection: HTTPConnection, address: _Address) -> None:
    """For the next request; of those to all servers, the ones that were used last."""
    _unused[connection] = address, os.getpid(), time.monotonic()
    for oldest in [*_unused][:-AT_HAND]:
        if _unused.pop(oldest, None):
            oldest.close()


def _cut(sock: socket.socket) -> None:
    """Wakes the thread that reads; closing alone would not."""
    with suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)  # that of TLS takes the reader its state


def _ended(sock: socket.socket) -> bool:
    """Nothing is to be read while nothing is asked, unless it is the end."""
    look = select.poll()
    look.register(sock, select.POLLIN)
    return bool(look.poll(0))


def _answered(
    connection: HTTPConnection, target: str, body: bytes, headers: Mapping[str, str]
) -> Any:
    try:
        connection.request("POST", target, body, headers)
    except OSError as error:
        try:
            response: Any = connection.getresponse()  # such as that the body is too large
            response.whole = False
            return response
        except (OSError, HTTPException):
            raise Unsent(f"{type(error).__name__}: {error}") from error
    return connection.getresponse()


class _Response(HTTPResponse):
    """With bounds of its own: what makes up an answer may be endless, or trickle, in any part."""

    whole = True  # whether its request was sent as a whole

    def __init__(self, seconds: float, sock: socket.socket, *given: Any, **more: Any) -> None:
        super().__init__(sock, *given, **more)
        self.wire = _Wire(self.fp.detach(), seconds)
        self.fp = BufferedReader(self.wire)

    def begin(self) -> None:
        super().begin()
        self.wire.left = MOST


class _Wire(RawIOBase):
    """So many bytes, in so many seconds."""

    def __init__(self, raw: RawIOBase, seconds: float) -> None:
        self._raw, self.left, self._ends = raw, HEAD, time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        got = self._raw.readinto(buffer)
        self.left -= got or 0
        if self.left < 0 or time.monotonic() > self._ends:
            raise HTTPException("the answer does not end")
        return got

    def close(self) -> None:
        self._raw.close()
        super().close()


def _result(response: _Response, notified: Notified) -> Mapping[str, Any]:
    for content in _messages(response):
        check_weight(content)
        message = Message.model_validate_json(content)
        if message.method is not None:
            notified(message.params)
        elif message.error:
            crashed = message.error.code == INTERNAL_ERROR
            raise Refused(500 if crashed else response.status, message.error.message)
        elif message.result is not None:
            return message.result
    raise HTTPException("the server sent no answer")


def _ends(response: _Response, sock: socket.socket) -> bool:
    """Sent and read to the end, or the connection could not be used again; a stream may stay so."""
    try:
        sock.settimeout(LINGER)
        while response.read1(PIECE):
            pass
    except (OSError, HTTPException):
        return False
    return response.whole


def _messages(response: _Response) -> Iterator[bytearray]:
    kind = response.headers.get_content_type()
    if response.headers.get("content-encoding", "identity") != "identity":
        raise HTTPException("the answer is compressed, which was not asked for")
    if kind == "application/json":
        whole = _joined(bytearray(), iter(partial(response.read1, PIECE), b""))
    elif kind == "text/event-stream":
        yield from _events(response)
    elif response.status < 300:
        raise HTTPException(f"the answer is {kind}")
    else:
        text = response.read(800).decode(errors="replace")
        raise Refused(response.status, response.headers.get("location") or text[:200])
    if response.length:  # `read1` does not say it
        raise HTTPException("the answer was cut off")
    if kind == "application/json":
        yield whole


def _events(response: _Response) -> Iterator[bytearray]:
    """The data of each."""
    data = bytearray()
    for line in _lines(response):
        response.wire.left -= LINE
        if line.startswith(b"data:"):
            _joined(data, (memoryview(line)[5:], b"\n"))
        elif data and not line.strip():
            yield data
            data = bytearray()


def _lines(response: _Response) -> Iterator[bytearray]:
    line = bytearray()
    while piece := response.read1(PIECE):
        first, *rest = piece.split(b"\n")
        _joined(line, (first,))
        for following in rest:
            yield line
            line = bytearray(following)


def _joined(found: bytearray, pieces: Iterable[bytes | memoryview]) -> bytearray:
    for piece in pieces:
        found += piece
        if len(found) > LARGEST_MESSAGE:
            raise HTTPException(f"the answer is larger than {LARGEST_MESSAGE >> 20} MB")
    return found
