"""One HTTP request and its reply over a guarded wire."""

import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fsagent_tools.errors import InvalidArguments, NetworkError
from fsagent_tools.web.url import Url
from fsagent_tools.web.wire import Wire, trust

VALUE = re.compile(r"[\t\x20-\x7e]*")  # what servers make of more than ASCII differs
_CHUNK = 1 << 16
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
    import http.client  # slow to import

    _check(request.headers)
    url = request.url
    wire = dial(url.host, url.port)
    try:
        if url.scheme == "https":
            wire = wire.secure(trust(), url.host)
        connection = http.client.HTTPConnection(url.host, url.port)
        stream: Any = _Stream(wire)
        connection.sock = stream
        headers = {**request.headers, "Host": url.netloc, "Connection": "close"}
        connection.request(request.method, url.target, request.body, headers)
        response = connection.getresponse()
        named = {name.lower(): value for name, value in response.getheaders()}
        if cookies := response.headers.get_all("set-cookie"):
            named["set-cookie"] = "\n".join(cookies)  # the one header that is never joined
        yield Reply(response.status, named, iter(lambda: response.read1(_CHUNK), b""))
    except http.client.HTTPException as error:
        reason = str(error)[:200] or "no reply"
        raise NetworkError(f"{url.host} did not answer in HTTP: {reason}.") from None
    finally:
        wire.close()


class _Stream(io.RawIOBase):
    """A wire as the socket that `http.client` writes to, and as the file that it reads.

    It closes both before the body is read, so that does nothing here.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.sendall = wire.write

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self, _CHUNK)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._wire.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        pass


def _check(headers: Mapping[str, str]) -> None:
    """A value may be a secret, so it is not repeated."""
    for name, value in headers.items():
        if not VALUE.fullmatch(value):
            raise InvalidArguments(
                f"The value of {name} has a line end, control or non-ASCII character.",
                hint="Use printable ASCII only.",
            )
