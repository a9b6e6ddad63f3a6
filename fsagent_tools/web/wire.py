"""A connection to a checked address, whose every wait ends at the deadline or a cancel."""

import errno
import os
import selectors
import socket
import ssl
import time
from collections.abc import Callable
from functools import cache, partial
from typing import TypeVar

from fsagent_tools.errors import NetworkError
from fsagent_tools.web.clock import POLL, Clock
from fsagent_tools.web.guard import Guard

_T = TypeVar("_T")
_PATIENCE = 8.0  # seconds for one address, so that a dead one does not eat the whole deadline
PENDING = {errno.EINPROGRESS, errno.EWOULDBLOCK, getattr(errno, "WSAEWOULDBLOCK", -1)}


class Wire:
    """A TCP or TLS stream over one socket; close it."""

    def __init__(self, sock: socket.socket, clock: Clock) -> None:
        sock.settimeout(POLL)
        self._socket = sock
        self._clock = clock

    def read(self, size: int) -> bytes:
        """At most `size` bytes; b"" at the end of the stream."""
        return self._wait(partial(self._socket.recv, size))

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            sent = self._wait(partial(self._socket.send, rest))
            rest = rest[sent:]

    def secure(self, context: ssl.SSLContext, hostname: str) -> "Wire":
        """The same connection under TLS; the certificate must be `hostname`'s."""
        try:
            wrapped = context.wrap_socket(
                self._socket, server_hostname=hostname, do_handshake_on_connect=False
            )
        except (OSError, ValueError) as error:
            raise NetworkError(f"No TLS connection to {hostname}: {error}.") from None
        wire = Wire(wrapped, self._clock)
        try:
            wire._wait(wrapped.do_handshake)
        except BaseException:
            wire.close()
            raise
        return wire

    def close(self) -> None:
        self._socket.close()

    def _wait(self, step: Callable[[], _T]) -> _T:
        while True:
            self._clock.check()
            try:
                return step()
            except TimeoutError:
                continue
            except ssl.SSLCertVerificationError as error:
                raise NetworkError(
                    f"The server's certificate is not valid: {error.verify_message}.",
                    hint="Use another source; certificates are never ignored.",
                ) from None
            except OSError as error:
                raise NetworkError(f"The connection broke: {error.strerror or error}.") from None


def dial(host: str, port: int, guard: Guard, clock: Clock) -> Wire:
    """Connect to the first address of `host` that answers, all of them checked by `guard`.

    The name is resolved once and the socket gets the checked address, so an answer that changes
    between check and connect reaches nothing. Raises `UnsafeUrl`, `NetworkError`, `TimedOut`.
    """
    failure: NetworkError | None = None
    for address in guard.addresses(host, port, clock):
        try:
            return _connect(address, port, clock)
        except NetworkError as error:
            failure = error
    raise failure or NetworkError(f"The host {host} was not found.")


@cache
def trust() -> ssl.SSLContext:
    """Certificates are checked against the system's roots, and certifi's where it is installed."""
    context = ssl.create_default_context()
    try:
        import certifi
    except ImportError:
        return context
    context.load_verify_locations(certifi.where())
    return context


def _connect(address: str, port: int, clock: Clock) -> Wire:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        code = sock.connect_ex((address, port))
        if code in PENDING:
            code = _finish(sock, clock)
        if code:
            raise NetworkError(f"No connection to {address} port {port}: {os.strerror(code)}.")
        return Wire(sock, clock)
    except BaseException:
        sock.close()
        raise


def _finish(sock: socket.socket, clock: Clock) -> int:
    """Wait for a connection under way; its error number, 0 when it stands."""
    ends = time.monotonic() + _PATIENCE
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_WRITE)
        while not selector.select(POLL):
            clock.check()
            if time.monotonic() > ends:
                return errno.ETIMEDOUT
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
