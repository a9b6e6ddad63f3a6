"""One HTTP request and its reply over a guarded wire, by httpx's engine or the standard library."""

import importlib.util
import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fsagent_tools.errors import InvalidArguments, NetworkError
from fsagent_tools.web.url import Url
from fsagent_tools.web.wire import Wire, WireReader, trust

_CHUNK = 1 << 16
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token (RFC 9110, 5.6.2)
VALUE = re.compile(r"[\t\x20-\x7e]*")  # ASCII: what the engines do with more differs
OWN = {"host", "connection", "content-length", "transfer-encoding"}
Dial = Callable[[str, int], Wire]


@dataclass(frozen=True)
class HttpRequest:
    url: Url
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True)
class Reply:
    """Headers in lower case; `chunks` is the body as it was sent, still compressed."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]


@contextmanager
def exchange(request: HttpRequest, dial: Dial) -> Iterator[Reply]:
    """Send `request` over `dial` and give the reply; the connection closes with the context.

    Nothing is followed, remembered or read from the environment: no redirects, cookies, proxies.
    Raises `NetworkError` for what is not HTTP, `InvalidArguments` for a header that HTTP does not
    allow, and the errors of `dial`.
    """
    _check(request.headers)
    send = _by_httpx if importlib.util.find_spec("httpx") else _by_stdlib
    with send(request, dial) as reply:
        yield reply


def _check(headers: Mapping[str, str]) -> None:
    """A value may be a secret, so it is not repeated."""
    for name, value in headers.items():
        shown = repr(name[:40])
        if not _NAME.fullmatch(name):
            raise InvalidArguments(f"`headers`: {shown} is not a header's name.")
        if name.lower() in OWN:
            raise InvalidArguments(
                f"`headers`: {shown} is set by the request itself; leave it out."
            )
        if not VALUE.fullmatch(value):
            raise InvalidArguments(
                f"`headers`: the value of {shown} has a line end, control or non-ASCII character.",
                hint="Use printable ASCII only.",
            )


@contextmanager
def _by_stdlib(request: HttpRequest, dial: Dial) -> Iterator[Reply]:
    import http.client

    url = request.url
    wire = dial(url.host, url.port)
    try:
        if url.scheme == "https":
            wire = wire.secure(trust(), url.host)
        connection = http.client.HTTPConnection(url.host, url.port)
        loan: Any = _Loan(wire)
        connection.sock = loan
        headers = {**request.headers, "Host": url.netloc, "Connection": "close"}
        connection.request(request.method, url.target, request.body, headers)
        response = connection.getresponse()
        named = {name.lower(): value for name, value in response.getheaders()}
        yield Reply(response.status, named, iter(lambda: response.read1(_CHUNK), b""))
    except http.client.HTTPException as error:
        raise _broken(url, error) from None
    finally:
        wire.close()


class _Loan:
    """A wire as the socket `http.client` expects; it closes the socket before the body is read."""

    def __init__(self, wire: Wire) -> None:
        self.sendall = wire.write
        self._wire = wire

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(WireReader(self._wire), _CHUNK)

    def close(self) -> None:
        pass


@contextmanager
def _by_httpx(request: HttpRequest, dial: Dial) -> Iterator[Reply]:
    """By httpx's engine, without its client, which would read URL and environment its own way."""
    import httpcore

    url = request.url
    backend: Any = _Backend(dial)
    parts = (part.encode("ascii") for part in (url.scheme, url.host, url.target))
    target = httpcore.URL(
        **dict(zip(("scheme", "host", "target"), parts, strict=True)), port=url.port
    )
    headers = {"Host": url.netloc, **request.headers}
    if request.body is not None:
        headers["Content-Length"] = str(len(request.body))
    try:
        with (
            httpcore.ConnectionPool(ssl_context=trust(), network_backend=backend) as pool,
            pool.stream(
                request.method, target, headers=list(headers.items()), content=request.body
            ) as response,
        ):
            pairs = ((k.decode("latin-1"), v.decode("latin-1")) for k, v in response.headers)
            named = {name.lower(): value for name, value in pairs}
            yield Reply(response.status, named, response.iter_stream())
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise _broken(url, error) from None


class _Backend:
    """What httpcore asks of a network: only `dial` opens connections."""

    def __init__(self, dial: Dial) -> None:
        self._dial = dial

    def connect_tcp(self, host: str, port: int, **_: Any) -> "_Stream":
        return _Stream(self._dial(host, port))


class _Stream:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._wire.read(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._wire.write(buffer)

    def start_tls(self, ssl_context: Any, server_hostname: str, timeout: Any) -> "_Stream":
        return _Stream(self._wire.secure(ssl_context, server_hostname))

    def close(self) -> None:
        self._wire.close()

    def get_extra_info(self, info: str) -> None:
        return None


def _broken(url: Url, error: Exception) -> NetworkError:
    return NetworkError(f"{url.host} did not answer in HTTP: {str(error)[:200] or 'no reply'}.")
