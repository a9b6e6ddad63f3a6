"""Which hosts and addresses a fetch may reach: public ones, and those that the policy opens."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from fsagent_tools.errors import UnsafeUrl
from fsagent_tools.policy.hosts import NAME, HostRule

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# The IANA special-purpose registries, written out: what `ipaddress` calls global has changed
# between releases, and it does not know the addresses that clouds keep for themselves.
CLOSED = [
    (ipaddress.ip_network(network), kind)
    for kind, networks in {
        "a private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10",
        "a loopback": "127.0.0.0/8",
        "a link-local or metadata": "169.254.0.0/16 168.63.129.16/32",
        "a reserved": "0.0.0.0/8 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 "
        "198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 2001::/23 2001:db8::/32 2002::/16 3fff::/20",
        "a multicast": "224.0.0.0/4",
    }.items()
    for network in networks.split()
]
GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
EMBEDS_IPV4 = [ipaddress.IPv6Network("::ffff:0:0/96"), ipaddress.IPv6Network("64:ff9b::/96")]
LOCAL_NAMES = (".localhost", ".local", ".internal", ".home.arpa", ".lan")
METADATA = "a link-local or metadata"  # not opened by a name, only by the address itself
IDNA_DEVIATIONS = re.compile("[\u00df\u03c2\u200c\u200d]")  # IDNA 2003 and 2008 differ on these
IPV4_NUMBER = re.compile("0x[0-9a-f]*|0[0-7]*|[1-9][0-9]{0,18}")
_HINT = (
    "Fetch public pages only; the host application can open a local server with the policy's "
    "allow_hosts."
)


def embedded_ipv4(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one that only stands for it; any other as it is."""
    if any(address in network for network in EMBEDS_IPV4):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def closed_kind(address: Address) -> str:
    """What kind of address this is, such as "a private", or "" for a public one.

    IPv4-mapped and NAT64 addresses are judged by the IPv4 address inside them.
    """
    address = embedded_ipv4(address)
    if isinstance(address, ipaddress.IPv6Address):
        if address.is_loopback:
            return "a loopback"
        if address not in GLOBAL_IPV6:
            return METADATA if address.is_link_local else "a private or reserved"
    return next((kind for network, kind in CLOSED if address in network), "")


@dataclass(frozen=True)
class Guard:
    """The hosts that a policy opens and closes by name; all others must have public addresses."""

    allow: tuple[HostRule, ...] = ()
    deny: tuple[HostRule, ...] = ()

    def opens(self, host: str, port: int) -> bool:
        """Whether the policy names this host as one to be reached wherever it is."""
        return any(rule.names(host, port) for rule in self.allow)

    def check_name(self, host: str, port: int) -> None:
        """Raises `UnsafeUrl` for a host that the policy closes."""
        if any(rule.covers(host, port) for rule in self.deny):
            raise UnsafeUrl(f"The policy (deny_hosts) closes the host {host}.")

    def check_addresses(self, host: str, port: int, addresses: Iterable[Address]) -> None:
        """Raises `UnsafeUrl` if one of a host's addresses is closed: that closes all of them."""
        opened = self.opens(host, port)
        for address in addresses:
            for form in {address, embedded_ipv4(address)}:
                self.check_name(str(form), port)
            kind = closed_kind(address)
            if kind and not (opened and (kind != METADATA or str(address) == host)):
                raise UnsafeUrl(
                    f"{host} is {kind} address ({address}), which may not be reached.", hint=_HINT
                )

    def check_unresolved(self, host: str) -> None:
        """Raises `UnsafeUrl` for a name without an address here that only a local network has."""
        if "." not in host or host.rstrip(".").endswith(LOCAL_NAMES):
            raise UnsafeUrl(
                f"{host} is a name of a local network, which may not be reached.", hint=_HINT
            )


def normal_host(host: str) -> str:
    """A host of a URL as every parser reads it: an ASCII name in lower case, or an address.

    Raises:
        UnsafeUrl: for a zone or percent-encoding.
        ValueError: for what is no host; the message ends a sentence that begins with the URL.
    """
    if "%" in host:
        raise UnsafeUrl(f"The host {host[:80]!r} has a zone or percent-encoding, which is refused.")
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            raise ValueError("has a malformed address") from None
    if IDNA_DEVIATIONS.search(host):
        raise ValueError("needs its host in the xn-- form")
    try:
        plain = host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        plain = ""
    if not NAME.fullmatch(plain.removesuffix(".")) or ".." in plain:
        raise ValueError("has a malformed host name")
    return _ipv4(plain) or plain


def _ipv4(host: str) -> str | None:
    """The address that a host ending in a number spells, None for a name (WHATWG URL, 3.5)."""
    parts = host.removesuffix(".").split(".")
    if not (parts[-1].isdigit() or IPV4_NUMBER.fullmatch(parts[-1])):
        return None
    if len(parts) <= 4 and all(map(IPV4_NUMBER.fullmatch, parts)):
        *first, last = (_number(part) for part in parts)
        if all(n <= 255 for n in first) and last < 256 ** (4 - len(first)):
            number = last + sum(n << (24 - 8 * at) for at, n in enumerate(first))
            return str(ipaddress.IPv4Address(number))
    raise ValueError("has a malformed IPv4 address")  # no parser may take it for a name


def _number(part: str) -> int:
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if part.startswith("0") else 10)
