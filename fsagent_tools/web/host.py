"""The host of a URL, as every parser reads it: an ASCII name or an address."""

import ipaddress
import re

from fsagent_tools.errors import InvalidArguments, UnsafeUrl
from fsagent_tools.policy.hosts import NAME

FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff\u200b-\u200f\u2028-\u202f\u2060\ufeff]")
DEVIATIONS = re.compile("[\u00df\u03c2\u200c\u200d]")  # IDNA 2003 and 2008 disagree on these
NUMBER = re.compile("0x[0-9a-f]*|0[0-7]*|[1-9][0-9]{0,18}")  # of an IPv4 address


def ascii_host(host: str, name: str, text: str) -> str:
    if "%" in host:
        raise UnsafeUrl(f"`{name}`: a host with a zone or percent-encoding is refused.")
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            raise invalid_url(name, text, "has a malformed address") from None
    if DEVIATIONS.search(host):
        raise invalid_url(name, text, "needs its host in the xn-- form")
    try:
        plain = host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        plain = ""
    if not NAME.fullmatch(plain.removesuffix(".")) or ".." in plain:
        raise invalid_url(name, text, "has a malformed host name")
    try:
        return _ipv4(plain) or plain
    except ValueError:
        raise invalid_url(name, text, "has a malformed IPv4 address") from None


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


def invalid_url(name: str, text: str, why: str) -> InvalidArguments:
    shown = FORBIDDEN.sub("?", text[:80])
    return InvalidArguments(
        f"`{name}`: {shown!r} {why}.", hint="Give a full URL such as https://example.com/page."
    )
