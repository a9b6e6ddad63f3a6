"""The URLs a fetch accepts: http or https, no credentials, nothing two parsers read apart."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from fsagent_tools.errors import InvalidArguments, UnsafeUrl
from fsagent_tools.hosts import NAME

PORTS = {"http": 80, "https": 443}
_MAX_LENGTH = 8000
FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff\u200b-\u200f\u2028-\u202f\u2060\ufeff]")
DEVIATIONS = re.compile("[\u00df\u03c2\u200c\u200d]")  # IDNA 2003 and 2008 disagree on these
NUMBER = re.compile("0x[0-9a-f]*|0[0-7]*|[1-9][0-9]{0,18}")  # of an IPv4 address
LINK = re.compile(r"\[[^\]]*\]\((\S+)\)")
BARE = re.compile(r"(?:localhost|(?:[\w-]+\.)+[\w-]{2,}|\d+\.\d+\.\d+\.\d+)(?::\d+)?(?:[/?#]|$)")
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
        """The URL a redirect leads to. Raises like `parse`."""
        try:
            joined = urljoin(str(self), location.strip().replace(" ", "%20"))
        except ValueError:
            joined = location
        return parse_url(joined, "redirect")

    def same_site(self, other: "Url") -> bool:
        """Same host (`www.` aside) at the same port, or both at their scheme's default port."""
        default = self.port == PORTS[self.scheme] and other.port == PORTS[other.scheme]
        names = {host.removeprefix("www.") for host in (self.host, other.host)}
        downgrade = self.scheme == "https" and other.scheme == "http"
        return len(names) == 1 and not downgrade and (default or self.port == other.port)


def forgive(text: str) -> str:
    """What a model meant by a URL in brackets or quotes, with blanks, or without its scheme."""
    text = text.strip(" \t\n<>\"'`")
    if found := LINK.fullmatch(text):
        text = found[1]
    if text.startswith("//"):
        text = f"https:{text}"
    elif BARE.match(text):
        local = re.match(r"localhost\b|\d+\.\d+\.\d+\.\d+\b", text)
        text = f"http{'' if local else 's'}://{text}"
    return text.replace(" ", "%20") if re.match(r"https?://[^/ ]+/", text) else text


def parse_url(text: str, name: str = "url") -> Url:
    """Raises `InvalidArguments` for what is not a URL, `UnsafeUrl` for one that is refused."""
    text = text.strip(" ")
    if len(text) > _MAX_LENGTH:
        raise _invalid(name, text, f"is longer than {_MAX_LENGTH:,} characters")
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
    target = quote(parts.path or "/", safe=SAFE)
    query = f"?{quote(parts.query, safe=SAFE)}" if parts.query else ""
    return Url(parts.scheme, _ascii(host, name, text), port or PORTS[parts.scheme], target + query)


def _ascii(host: str, name: str, text: str) -> str:
    if "%" in host:
        raise UnsafeUrl(f"`{name}`: a host with a zone or percent-encoding is refused.")
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            raise _invalid(name, text, "has a malformed address") from None
    if DEVIATIONS.search(host):
        raise _invalid(name, text, "needs its host in the xn-- form")
    try:
        plain = host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        plain = ""
    if not NAME.fullmatch(plain.removesuffix(".")) or ".." in plain:
        raise _invalid(name, text, "has a malformed host name")
    try:
        return _ipv4(plain) or plain
    except ValueError:
        raise _invalid(name, text, "has a malformed IPv4 address") from None


def _ipv4(host: str) -> str | None:
    """The address that a host ending in a number spells, None for a name (WHATWG URL, 3.5).

    Raises `ValueError`: no parser may take such a host for a name.
    """
    parts = host.removesuffix(".").split(".")
    if not (parts[-1].isdigit() or NUMBER.fullmatch(parts[-1])):
        return None
    if len(parts) > 4 or not all(map(NUMBER.fullmatch, parts)):
        raise ValueError(host)
    *first, last = (_number(part) for part in parts)
    if any(n > 255 for n in first) or last >= 256 ** (4 - len(first)):
        raise ValueError(host)
    return str(ipaddress.IPv4Address(last + sum(n << (24 - 8 * i) for i, n in enumerate(first))))


def _number(part: str) -> int:
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if part.startswith("0") else 10)


def _invalid(name: str, text: str, why: str) -> InvalidArguments:
    shown = FORBIDDEN.sub("?", text[:80])
    return InvalidArguments(
        f"`{name}`: {shown!r} {why}.", hint="Give a full URL such as https://example.com/page."
    )
