"""Requests as the protocol has them since 2026-07-28: each is one POST, from any thread.

The answer is JSON, or a stream of events where notifications come before it.
"""

import json
import os
import re
import select
import socket
import ssl
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from itertools import chain
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from fsagent_tools.remote import CancelFlag
from fsagent_tools_mcp.wire import INTERNAL_ERROR, Message

VERSION = "2026-07-28"
CONNECT = 10.0  # seconds
SILENCE = 60.0  # seconds; while a call runs, the server says every 15 that it is there
IDLE = 30.0  # seconds after which a connection is not used again: what is between may have cut it
LARGEST = 32 << 20  # bytes of one message; of all that answers one request, eight times that
WIDE = 8 << 20  # bytes of one with characters outside ASCII, which may take four times as much
MANY = 200_000  # values of one: an empty list takes 2 bytes on the way, and 56 here
PIECE = 1 << 20  # bytes that are read at once
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": VERSION,
}
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"')
Notified = Callable[[Mapping[str, Any]], None]


class Unsent(Exception):
    """The server has not got the request, or not all of it."""


class Refused(Exception):
    """The server answered with something else than a result."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status} {message}".rstrip())
        self.status = status


class Poster:
    """Requests to one URL, over connections that are kept. Thread-safe."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url = urlsplit(url)
        self._headers = {**HEADERS, **headers}
        self._kept: list[tuple[HTTPConnection, int, float]] = []  # its process, when it was used
        weakref.finalize(self, _close, self._kept)

    def post(
        self,
        method: str,
        params: Mapping[str, Any],
        cancelled: CancelFlag,
        notified: Notified,
        seconds: float | None = None,
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
        try:
            cut = partial(_cut, connection.sock)
            with cancelled.waking(cut), _at_most(seconds, cut):
                if cancelled.is_set():
                    raise Unsent("it was cancelled")
                body = json.dumps(sent).encode()
                with _answered(connection, target, body, headers) as response:
                    result = _result(response, notified)
        except BaseException:
            connection.close()
            raise
        if connection.sock:  # the server did not end it
            self._kept.append((connection, os.getpid(), time.monotonic()))
        return result

    def _connected(self) -> HTTPConnection:
        while self._kept:
            try:
                connection, process, used = self._kept.pop()
            except IndexError:  # another thread was faster
                break
            recent = process == os.getpid() and time.monotonic() - used < IDLE
            if recent and not _ended(connection.sock):
                return connection
            connection.close()
        try:
            connection = self._new()
            connection.connect()
        except (OSError, UnicodeError) as error:
            raise Unsent(f"{type(error).__name__}: {error}") from error
        connection.sock.settimeout(SILENCE)
        return connection

    def _new(self) -> HTTPConnection:
        """Through a tunnel where the environment names a proxy."""
        there = self._url.hostname or "", self._url.port
        proxy = getproxies().get(self._url.scheme)
        if proxy is None or proxy_bypass(there[0]):
            return self._connection(*there)
        through = urlsplit(proxy if "://" in proxy else f"//{proxy}")
        connection = self._connection(through.hostname or "", through.port)
        connection.set_tunnel(*there)
        return connection

    def _connection(self, host: str, port: int | None) -> HTTPConnection:
        if self._url.scheme == "https":
            return HTTPSConnection(host, port, timeout=CONNECT, context=_trusted())
        return HTTPConnection(host, port, timeout=CONNECT)


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()


def _close(kept: list[tuple[HTTPConnection, int, float]]) -> None:
    for connection, *_ in kept:
        connection.close()


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
) -> HTTPResponse:
    try:
        connection.request("POST", target, body, headers)
    except OSError as error:
        try:
            return connection.getresponse()  # such as that the body is too large
        except (OSError, HTTPException):
            raise Unsent(f"{type(error).__name__}: {error}") from error
    return connection.getresponse()


@contextmanager
def _at_most(seconds: float | None, cut: Callable[[], None]) -> Iterator[None]:
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, cut)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _result(response: HTTPResponse, notified: Notified) -> Mapping[str, Any]:
    """Read to the end, or the connection could not be used again."""
    result = None
    for content in _messages(response):
        _check_price(content)
        message = Message.model_validate_json(content)
        if message.method is not None:
            notified(message.params)
        elif message.error:
            crashed = message.error.code == INTERNAL_ERROR
            raise Refused(500 if crashed else response.status, message.error.message)
        elif message.result is not None:
            result = message.result
    if result is None:
        raise HTTPException("the server sent no answer")
    return result


def _messages(response: HTTPResponse) -> Iterator[bytes | bytearray]:
    kind = response.headers.get_content_type()
    if kind == "application/json":
        content = _whole(iter(partial(response.read, PIECE), b""))
        if response.length:  # `read` with a size does not say it
            raise HTTPException("the answer was cut off")
        yield content
    elif kind == "text/event-stream":
        yield from _events(response)
    elif response.status < 300:
        raise HTTPException(f"the answer is {kind}")
    else:
        text = response.read(800).decode(errors="replace")
        raise Refused(response.status, response.headers.get("location") or text[:200])


def _events(response: HTTPResponse) -> Iterator[bytes]:
    """The data of each."""
    data, read = bytearray(), 0
    pieces = iter(partial(response.readline, PIECE), b"")
    for piece in pieces:
        line = _whole(chain((piece,), _rest(piece, pieces)))
        read += len(line)
        if line.startswith(b"data:"):
            data += line[5:].strip() + b"\n"
        elif data and not line.strip():
            yield bytes(data)
            data.clear()
        if len(data) > LARGEST or read > 8 * LARGEST:
            raise _too_large()


def _rest(piece: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Of a line that is longer than one piece."""
    while not piece.endswith(b"\n") and (piece := next(pieces, b"\n")):
        yield piece


def _whole(pieces: Iterable[bytes]) -> bytes | bytearray:
    found = bytearray()
    for piece in pieces:
        found += piece
        if len(found) > LARGEST:
            raise _too_large()
    return found


def _check_price(content: bytes | bytearray) -> None:
    """Raise for what would take much more memory as objects than it has bytes."""
    if len(content) > WIDE and not (content.isascii() and b"\\u" not in content):
        raise _too_large()
    if _values(content) > MANY and _values(_STRING.sub(b"", content)) > MANY:
        raise HTTPException(f"the answer has more than {MANY:,} values")


def _values(content: bytes | bytearray) -> int:
    return content.count(b",") + content.count(b"[") + content.count(b"{")


def _too_large() -> HTTPException:
    return HTTPException(f"the answer is larger than {LARGEST >> 20} MB")
