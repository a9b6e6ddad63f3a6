"""HTTP by httpx's engine, over wires of our own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fsagent_tools.web.request import Dial, HttpRequest, Reply, not_http
from fsagent_tools.web.wire import Wire, trust


@contextmanager
def send_by_httpx(request: HttpRequest, dial: Dial) -> Iterator[Reply]:
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
        raise not_http(url, error) from None


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
