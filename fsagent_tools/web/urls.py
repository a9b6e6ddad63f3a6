"""The URLs that a fetch accepts: http or https, no credentials, nothing two parsers read apart."""

import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from fsagent_tools.errors import InvalidArguments, UnsafeUrl
from fsagent_tools.policy.addresses import normal_host

PORTS = {"http": 80, "https": 443}
MAX_LENGTH = 8000  # characters
FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff\u200b-\u200f\u2028-\u202f\u2060\ufeff]")
MARKDOWN_LINK = re.compile(r"\[[^\]]*\]\((\S+)\)")
BARE_HOST = re.compile(
    r"(?:localhost|(?:[\w-]+\.)+[\w-]{2,}|\d+\.\d+\.\d+\.\d+)(?::\d+)?(?:[/?#]|$)"
)
SAFE = "%/:=&?~#+!$,;'@()*[]"


@dataclass(frozen=True)
class Url:
    """A parsed URL: ASCII host without brackets, ASCII target (path and query), no fragment."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def netloc(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.target}"

    def join(self, location: str) -> "Url":
        """The URL that a redirect leads to. Raises like `parse_url`."""
        try:
            joined = urljoin(str(self), location.strip().replace(" ", "%20"))
        except ValueError:
            joined = location
        return parse_url(joined, "redirect")

    def is_same_site(self, other: "Url") -> bool:
        """Same host (`www.` aside) at the same port, or both at their scheme's default port."""
        default = self.port == PORTS[self.scheme] and other.port == PORTS[other.scheme]
        downgrade = self.scheme == "https" and other.scheme == "http"
        same_host = self.host.removeprefix("www.") == other.host.removeprefix("www.")
        return same_host and not downgrade and (default or self.port == other.port)


def corrected(text: str) -> str:
    """What a model meant by a URL in brackets or quotes, with blanks, or without its scheme."""
    text = text.strip(" \t\n<>\"'`")
    if found := MARKDOWN_LINK.fullmatch(text):
        text = found[1]
    if text.startswith("//"):
        text = f"https:{text}"
    elif BARE_HOST.match(text):
        local = re.match(r"localhost\b|\d+\.\d+\.\d+\.\d+\b", text)
        text = f"{'http' if local else 'https'}://{text}"
    return text.replace(" ", "%20") if re.match(r"https?://[^/ ]+/", text) else text


def parse_url(text: str, name: str = "url") -> Url:
    """Raises `InvalidArguments` for what is not a URL, `UnsafeUrl` for one that is refused."""
    text = text.strip(" ")
    if len(text) > MAX_LENGTH:
        raise _invalid(name, text, f"is longer than {MAX_LENGTH:,} characters")
    if FORBIDDEN.search(text):
        raise _invalid(name, text, "contains a space, control character or backslash")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _invalid(name, text, "is not a valid URL") from None
    if parts.scheme and parts.scheme not in PORTS:
        raise UnsafeUrl(
            f"`{name}`: only http and https can be fetched, not {parts.scheme[:20]!r}.",
            hint="Read local files with `read`." if parts.scheme == "file" else "",
        )
    if "@" in parts.netloc:
        raise UnsafeUrl(f"`{name}`: a URL with credentials (user@host) is refused.")
    if not parts.scheme or not host or port == 0:
        raise _invalid(name, text, "is not a full URL")
    try:
        host = normal_host(host)
    except ValueError as error:
        raise _invalid(name, text, str(error)) from None
    target = quote(parts.path or "/", safe=SAFE)
    query = f"?{quote(parts.query, safe=SAFE)}" if parts.query else ""
    return Url(parts.scheme, host, port or PORTS[parts.scheme], target + query)


def _invalid(name: str, text: str, reason: str) -> InvalidArguments:
    shown = FORBIDDEN.sub("?", text[:80])
    return InvalidArguments(
        f"`{name}`: {shown!r} {reason}.", hint="Give a full URL such as https://example.com/page."
    )
