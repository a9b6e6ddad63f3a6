"""One HTTP request and its reply, whoever carries them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from fsagent_tools.web.url import Url
from fsagent_tools.web.wire import Wire

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
