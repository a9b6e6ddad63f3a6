"""A URL's body as bytes: redirects by hand, size and time bounded, addresses guarded."""

import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache

from fsagent_tools.errors import (
    HttpFailed,
    NetworkError,
    RateLimited,
    TooLarge,
    ToolError,
    TooManyRedirects,
)
from fsagent_tools.policy.hosts import Proxy
from fsagent_tools.web.clock import Clock
from fsagent_tools.web.exchange import HttpRequest, Reply, exchange
from fsagent_tools.web.guard import Guard
from fsagent_tools.web.inflate import decoders, inflate
from fsagent_tools.web.tunnel import dial_through
from fsagent_tools.web.url import Url
from fsagent_tools.web.wire import Wire, dial

_COOKIES = 20  # of one answer
_COOKIE = re.compile(r"[!-:<>-~]+=[!-:<-~]{0,2000}")
REDIRECTS = {301, 302, 303, 307, 308}


@dataclass(frozen=True)
class Download:
    """What a URL answered, decompressed; `elsewhere` is another site that it redirects to."""

    url: Url
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    elsewhere: Url | None = None

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True)
class Fetcher:
    """The limits of one fetch; a new one for each call, so nothing carries over.

    max_bytes: of the body, decompressed. proxy: what finds every host that the policy does not
    open by name.
    """

    guard: Guard
    clock: Clock
    max_bytes: int
    max_redirects: int = 5
    proxy: Proxy | None = None

    def get(self, url: Url, headers: Mapping[str, str]) -> Download:
        """Follow redirects within the site; one that leaves it comes back as `elsewhere`.

        Cookies that these set go back to an address that is asked a second time: without them it
        would redirect for ever.
        Extra headers go to the first host only. Raises `TooManyRedirects`, and like `send`.
        """
        request = HttpRequest(url, headers=headers)
        kept: dict[str, str] = {}
        asked: set[str] = set()
        for _ in range(self.max_redirects + 1):
            again = kept and str(request.url) in asked
            cookies = {"Cookie": "; ".join(kept.values())} if again else {}
            asked.add(str(request.url))
            answer = self.send(replace(request, headers={**headers, **cookies}))
            kept |= _cookies(answer.headers.get("set-cookie", ""))
            location = answer.headers.get("location", "")
            if answer.status in REDIRECTS and location:
                target = request.url.join(location)
                if not request.url.same_site(target):
                    self.check(target)
                    return replace(answer, elsewhere=target, body=b"")
                request = replace(request, url=target)
                continue
            return answer
        raise TooManyRedirects(
            f"{url} redirects more than {self.max_redirects} times.", hint="Use another source."
        )

    def send(self, request: HttpRequest) -> Download:
        """One request, whatever its answer. Raises `UnsafeUrl`, `NetworkError`, `TooLarge`,
        `TimedOut` or `Cancelled`."""
        url = request.url
        self.guard.check_name(url.host, url.port)
        self.clock.doing = f"waiting for {url.host}"
        headers = {
            "User-Agent": user_agent(),
            "Accept-Encoding": ", ".join(decoders()),
            **request.headers,
        }
        sent = replace(request, headers=headers)
        with exchange(sent, self._dial) as reply:
            return Download(url, reply.status, reply.headers, self._body(url, reply))

    def check(self, url: Url) -> None:
        """Raise `UnsafeUrl` for what may not be fetched, without fetching it."""
        if self.proxy:
            self.guard.check_far(url.host, url.port, self.clock)
        else:
            self.guard.addresses(url.host, url.port, self.clock)

    def _dial(self, host: str, port: int) -> Wire:
        if self.proxy and not self.guard.opens(host, port):
            return dial_through(self.proxy, host, port, self.guard, self.clock)
        return dial(host, port, self.guard, self.clock)

    def _body(self, url: Url, reply: Reply) -> bytes:
        if reply.status in REDIRECTS:
            return b""
        declared = reply.headers.get("content-length", "")
        encoding = reply.headers.get("content-encoding", "")
        if declared.isdigit() and int(declared) > self.max_bytes:
            raise self._too_large(f"{int(declared):,} bytes")
        body = bytearray()
        with closing(inflate(reply.chunks, encoding)) as pieces:
            for piece in pieces:
                body += piece
                self.clock.doing = f"reading {url.host}: {len(body):,} bytes so far"
                self.clock.check()
                if len(body) > self.max_bytes:
                    raise self._too_large("larger")
        if declared.isdigit() and not encoding and len(body) < int(declared):
            raise NetworkError(f"{url.host} closed the connection after {len(body):,} bytes.")
        return bytes(body)

    def _too_large(self, size: str) -> ToolError:
        return TooLarge(
            f"The page is {size}; the limit (max_bytes) is {self.max_bytes:,} bytes.",
            hint="Fetch a smaller part of it, or use another source.",
        )


def _cookies(header: str) -> dict[str, str]:
    """Name -> the cookie as it is sent back, of those that are not too large."""
    pairs = (line.partition(";")[0].strip() for line in header.split("\n")[:_COOKIES])
    return {pair.partition("=")[0]: pair for pair in pairs if _COOKIE.fullmatch(pair)}


def failure(answer: Download, body: str = "") -> ToolError:
    """The error that a status of 400 or more stands for; body: what the server says about it."""
    wait = answer.headers.get("retry-after", "")[:40]
    details = {"status": answer.status, **({"retry_after": wait} if wait else {})}
    message = f"{answer.url} answered with HTTP status {answer.status}{_phrase(answer.status)}."
    if answer.status == 429:
        return RateLimited(message, hint=_later(wait) + body, details=details)
    hint = _later(wait) if answer.status >= 500 else "Check the URL or use another source."
    return HttpFailed(message, hint=hint + body, details=details)


def _later(wait: str) -> str:
    when = f"in {wait} s" if wait.isdigit() else f"after {wait}" if wait else "later"
    return f"Try again {when}."


def _phrase(status: int) -> str:
    from http import HTTPStatus

    try:
        return f" ({HTTPStatus(status).phrase})"
    except ValueError:
        return ""


@cache
def user_agent() -> str:
    """Says what is calling; it never pretends to be a browser."""
    from importlib.metadata import version

    return f"fsagent-tools/{version('fsagent-tools')} (LLM agent tool)"
