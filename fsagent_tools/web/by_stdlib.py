"""HTTP by the standard library, where httpx is not installed."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fsagent_tools.web.request import Dial, HttpRequest, Reply, not_http
from fsagent_tools.web.wire import Wire, WireReader, trust

_CHUNK = 1 << 16


@contextmanager
def send_by_stdlib(request: HttpRequest, dial: Dial) -> Iterator[Reply]:
    import http.client  # slow to import, and seldom needed

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
        raise not_http(url, error) from None
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
