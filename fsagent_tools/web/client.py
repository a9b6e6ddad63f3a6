"""A URL's body as bytes: redirects by hand, size and time bounded, addresses guarded."""

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from importlib.util import find_spec
from types import ModuleType

from fsagent_tools.deadline import Deadline
from fsagent_tools.errors import (
    HttpFailed,
    InvalidArguments,
    MissingDependency,
    NetworkError,
    RateLimited,
    TooLarge,
    ToolError,
    TooManyRedirects,
)
from fsagent_tools.policy.addresses import Guard
from fsagent_tools.policy.hosts import Proxy
from fsagent_tools.web.urls import Url

REDIRECTS = {301, 302, 303, 307, 308}
INSTALL = "pip install 'fsagent-tools[web]'"
_NEEDS = ("httpx", "lxml", "bs4", "markdownify")
_COOKIE = re.compile(r"[!-:<>-~]+=[!-:<-~]{0,2000}")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")  # what servers make of more than ASCII differs


@dataclass(frozen=True)
class Download:
    """What a URL answered, decompressed; `elsewhere` is another site that it redirects to."""

    url: Url
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    elsewhere: Url | None = None
    cookies: tuple[str, ...] = ()

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True)
class WebClient:
    """The limits of one fetch; a new one for each call, so nothing carries over.

    Args:
        max_bytes: Of the body, decompressed.
        proxy: Finds every host that the policy does not open by name.
    """

    guard: Guard
    deadline: Deadline
    max_bytes: int
    max_redirects: int = 5
    proxy: Proxy | None = None

    def get(self, url: Url, headers: Mapping[str, str]) -> Download:
        """Follow redirects within the site; one that leaves it comes back as `elsewhere`.

        An address that is asked a second time gets the cookies that were set meanwhile: without
        them it would redirect for ever. Raises `TooManyRedirects`, and like `send`.
        """
        start, cookies, asked = url, dict[str, str](), set[Url]()
        for _ in range(self.max_redirects + 1):
            again = {"Cookie": "; ".join(cookies.values())} if cookies and url in asked else {}
            asked.add(url)
            answer = self.send(url, {**headers, **again})
            cookies |= {cookie.partition("=")[0]: cookie for cookie in answer.cookies}
            location = answer.headers.get("location", "")
            if answer.status not in REDIRECTS or not location:
                return answer
            target = url.join(location)
            if not url.is_same_site(target):
                self.check(target)
                return replace(answer, elsewhere=target, body=b"")
            url = target
        raise TooManyRedirects(
            f"{start} redirects more than {self.max_redirects} times.", hint="Use another source."
        )

    def send(
        self, url: Url, headers: Mapping[str, str], method: str = "GET", body: bytes | None = None
    ) -> Download:
        """One request, whatever its answer.

        Raises `UnsafeUrl`, `NetworkError`, `TooLarge`, `TimedOut`, `Cancelled`,
        `MissingDependency`, and `InvalidArguments` for a header that HTTP does not allow.
        """
        for name, value in headers.items():
            if not _HEADER_VALUE.fullmatch(value):  # it may be a secret, so it is not repeated
                raise InvalidArguments(
                    f"The value of {name} has a line end, control or non-ASCII character.",
                    hint="Use printable ASCII only.",
                )
        proxy = None if self.guard.opens(url.host, url.port) else self.proxy
        if proxy:
            self.check(url)
        else:
            self.guard.check_name(url.host, url.port)
        self.deadline.doing = f"waiting for {url.host}"
        sent = {"User-Agent": user_agent(), "Accept-Encoding": "gzip, deflate", **headers}
        connector = _transport().Connector(self.guard, self.deadline, proxy)
        with connector.exchange(url, method, sent, body) as response:
            pairs = (one.partition(";")[0] for one in response.headers.get_list("set-cookie"))
            cookies = tuple(pair.strip() for pair in pairs if _COOKIE.fullmatch(pair.strip()))
            answer = Download(url, response.status_code, response.headers, cookies=cookies)
            if answer.status in REDIRECTS:
                return answer
            return replace(answer, body=self._body(answer, response.iter_raw()))

    def check(self, url: Url) -> None:
        """Raises `UnsafeUrl` for what may not be fetched, without fetching it.

        A name that has no address here passes where a proxy finds it.
        """
        self.guard.check_name(url.host, url.port)
        try:
            addresses = _transport().resolve(url.host, url.port, self.deadline)
        except NetworkError:
            if not self.proxy:
                raise
            self.guard.check_unresolved(url.host)
        else:
            self.guard.check_addresses(url.host, url.port, addresses)

    def _body(self, answer: Download, chunks: Iterator[bytes]) -> bytes:
        declared = answer.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > self.max_bytes:
            raise self._too_large(f"{int(declared):,} bytes")
        body, encoding = bytearray(), answer.headers.get("content-encoding", "")
        for piece in _decompressed(chunks, encoding, self.max_bytes):
            body += piece
            self.deadline.doing = f"reading {answer.url.host}: {len(body):,} bytes so far"
            self.deadline.check()
            if len(body) > self.max_bytes:
                raise self._too_large("larger")
        return bytes(body)

    def _too_large(self, size: str) -> ToolError:
        return TooLarge(
            f"The page is {size}; the limit (max_bytes) is {self.max_bytes:,} bytes.",
            hint="Fetch a smaller part of it, or use another source.",
        )


def _decompressed(chunks: Iterator[bytes], encoding: str, limit: int) -> Iterator[bytes]:
    """The body, of which a compression bomb unfolds one byte more than `limit`.

    gzip may come in several members, deflate with zlib's header or without. Raises `NetworkError`.
    """
    name = encoding.strip().lower().removeprefix("x-")
    if name in ("", "identity"):
        yield from chunks
        return
    if name not in ("gzip", "deflate"):
        raise NetworkError(
            f"The body is compressed as {name[:40]!r}, which was not asked for.",
            hint="Use another source.",
        )
    engine, left, is_first = zlib.decompressobj(zlib.MAX_WBITS | 32), limit + 1, True
    for chunk in chunks:
        while chunk:
            try:
                if is_first and name == "deflate" and chunk[0] & 0x0F != zlib.DEFLATED:
                    engine = zlib.decompressobj(-zlib.MAX_WBITS)
                piece, is_first = engine.decompress(chunk, left), False
            except zlib.error as error:
                raise NetworkError(f"The compressed body is damaged: {error}.") from None
            left -= len(piece)
            yield piece
            chunk = engine.unused_data if engine.eof else b""
            if engine.eof and not chunk.startswith(b"\x1f\x8b"):
                return  # padding after the end
            if engine.eof:
                engine = zlib.decompressobj(zlib.MAX_WBITS | 32)


def failure(answer: Download, body: str = "") -> ToolError:
    """The error that a status of 400 or more stands for; body: what the server says about it."""
    wait = answer.headers.get("retry-after", "")[:40]
    when = f"in {wait} s" if wait.isdigit() else f"after {wait}" if wait else "later"
    details = {"status": answer.status, **({"retry_after": wait} if wait else {})}
    phrase = f" ({HTTPStatus(answer.status).phrase})" if answer.status in [*HTTPStatus] else ""
    message = f"{answer.url} answered with HTTP status {answer.status}{phrase}."
    if answer.status == 429:
        return RateLimited(message, hint=f"Try again {when}.{body}", details=details)
    step = f"Try again {when}." if answer.status >= 500 else "Check the URL or use another source."
    return HttpFailed(message, hint=step + body, details=details)


@cache
def user_agent() -> str:
    """Says what is calling; it never pretends to be a browser."""
    return f"fsagent-tools/{version('fsagent-tools')} (LLM agent tool)"


@cache
def lacks_packages() -> str:
    """How to install what pages are fetched and read with, "" where it is; asked once."""
    missing = [name for name in _NEEDS if not find_spec(name)]
    return f"the web tools need {', '.join(missing)}: {INSTALL}" if missing else ""


def _transport() -> ModuleType:
    """Imported at the first fetch, as httpx takes long. Raises `MissingDependency`."""
    try:
        from fsagent_tools.web import transport
    except ImportError:
        raise MissingDependency("Fetching needs httpx.", hint=f"{INSTALL}.") from None
    return transport
