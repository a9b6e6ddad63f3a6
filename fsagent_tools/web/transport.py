"""HTTP exchanges by httpx over connections that lead to checked addresses only."""

import ipaddress
import os
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import certifi
import httpcore
import httpx

from fsagent_tools.deadline import POLL, Deadline
from fsagent_tools.errors import NetworkError
from fsagent_tools.policy.addresses import Address, Guard
from fsagent_tools.policy.hosts import HostRule, Proxy
from fsagent_tools.runtime.shadows import Thread
from fsagent_tools.web.urls import Url

CONNECT_TIMEOUT = 8.0  # seconds for one address, so that a dead one leaves time for the next
_T = TypeVar("_T")


@dataclass(frozen=True)
class Connector:
    """Makes a connection for each exchange.

    proxy: Finds the host, which was checked before; None connects to it.
    """

    guard: Guard
    deadline: Deadline
    proxy: Proxy | None

    @contextmanager
    def exchange(
        self, url: Url, method: str, headers: Mapping[str, str], body: bytes | None
    ) -> Iterator[httpx.Response]:
        """One request and its response, whose body is still to be read; no redirect is followed.

        Nothing comes from the environment (but certificates) or from an earlier exchange.

        Raises:
            UnsafeUrl: where the host has an address that is closed. Nothing was sent then.
            NetworkError: for what cannot be reached or is not HTTP.
            TimedOut, Cancelled: from any wait.
        """
        sent = {**headers, "Host": url.netloc, "Connection": "close"}
        target = {"target": url.target.encode()}
        request = httpx.Request(method, str(url), headers=sent, content=body, extensions=target)
        try:  # without a client, which would read cookies and redirects, whatever is in them
            with (
                _Transport(self._pool()) as transport,
                closing(transport.handle_request(request)) as response,
            ):
                if self.proxy and response.status_code == 407:
                    raise httpcore.ProxyError("407 for a plain request")
                yield response
        except (httpcore.ProxyError, httpcore.NetworkError, httpcore.TimeoutException) as error:
            raise self._unreached(url, error) from None
        except (httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
            reason = str(error)[:200] or "no reply"
            raise NetworkError(f"{url.host} did not answer in HTTP: {reason}.") from None

    def _pool(self) -> httpcore.ConnectionPool:
        tls = _tls(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
        if not (proxy := self.proxy):
            backend = _Backend(self.guard, self.deadline)
            return httpcore.ConnectionPool(tls, network_backend=backend)
        login = [(b"Proxy-Authorization", f"Basic {proxy.credentials}".encode())]
        return httpcore.HTTPProxy(
            httpcore.URL(scheme=b"http", host=proxy.host.encode(), port=proxy.port, target=b"/"),
            proxy_headers=login if proxy.credentials else [],
            ssl_context=tls,
            network_backend=_Backend(Guard((HostRule(proxy.host, proxy.port),)), self.deadline),
        )

    def _unreached(self, url: Url, error: Exception) -> NetworkError:
        if self.proxy and isinstance(error, httpcore.ProxyError):
            hint = "The host application's policy names the proxy and its password."
            return NetworkError(
                f"The proxy {self.proxy.host} did not connect to {url.host}: HTTP status {error}.",
                hint=hint if str(error).startswith("407") else "Use another source.",
            )
        if isinstance(found := error.__cause__, ssl.SSLCertVerificationError):
            return NetworkError(
                f"The server's certificate is not valid: {found.verify_message}.",
                hint="Use another source; certificates are never ignored.",
            )
        return NetworkError(f"No connection to {url.netloc}: {error}.")


def resolve(host: str, port: int, deadline: Deadline) -> list[Address]:
    """Every address of a name. Raises `NetworkError` when there is none, and like `Deadline`."""
    with suppress(ValueError):
        return [ipaddress.ip_address(host)]
    with suppress(OSError, ValueError):
        rows = _wait_for(partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM), deadline)
        if found := list(dict.fromkeys(ipaddress.ip_address(row[4][0]) for row in rows)):
            return found
    raise NetworkError(f"The host {host} was not found.", hint="Check the spelling of the URL.")


class _Backend(httpcore.SyncBackend):
    """Resolves a name once and connects to the addresses that were checked.

    An answer of the resolver that changes between check and connect so reaches nothing.
    """

    def __init__(self, guard: Guard, deadline: Deadline) -> None:
        self._guard, self._deadline = guard, deadline

    def connect_tcp(
        self, host: str, port: int, *_: object, **options: object
    ) -> httpcore.NetworkStream:
        addresses = resolve(host, port, self._deadline)
        self._guard.check_addresses(host, port, addresses)
        failure: Exception | None = None
        for address in map(str, addresses):
            seconds = min(CONNECT_TIMEOUT, self._deadline.left())
            connect = partial(super().connect_tcp, address, port, seconds)
            try:
                return _Stream(_wait_for(connect, self._deadline), self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore.ConnectError("no address")


class _Stream(httpcore.NetworkStream):
    """A TCP or TLS stream whose every wait ends at the deadline or with a cancel."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline
        self.close = stream.close  # type: ignore[method-assign]

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        while True:
            self._deadline.check()
            with suppress(httpcore.ReadTimeout):
                return self._stream.read(max_bytes, POLL)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left())

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        seconds = self._deadline.left()
        step = partial(self._stream.start_tls, ssl_context, server_hostname, seconds)
        return _Stream(_wait_for(step, self._deadline), self._deadline)


class _Transport(httpx.BaseTransport):
    """httpx's own transport, but for the pool, which it would make itself."""

    def __init__(self, pool: httpcore.ConnectionPool) -> None:
        self._pool = pool
        self.close = pool.close  # type: ignore[method-assign]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.extensions["target"],  # httpx would encode some of it again
        )
        sent = httpcore.Request(
            request.method, url, headers=request.headers.raw, content=request.stream
        )
        response = self._pool.handle_request(sent)
        body = response.iter_stream()
        return httpx.Response(response.status, headers=response.headers, content=body)


def _wait_for(step: Callable[[], _T], deadline: Deadline) -> _T:
    """The result of what cannot be stopped, in a thread that a deadline or cancel leaves behind."""
    answer: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            answer.put((step(), None))
        except BaseException as error:  # noqa: BLE001  it is raised in the thread that waits
            answer.put((None, error))

    Thread(target=run, daemon=True).start()
    while True:
        deadline.check()
        with suppress(Empty):
            result, error = answer.get(timeout=POLL)
            if error:
                raise error
            return result  # type: ignore[no-any-return]


@cache
def _tls(file: str | None, directory: str | None) -> ssl.SSLContext:
    """The system's certificates, or those that the environment names, and certifi's."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
