"""Which addresses a fetch may reach: public ones, and those the policy opens by name."""

import ipaddress
import socket
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from fsagent_tools.errors import NetworkError, UnsafeUrl
from fsagent_tools.policy.hosts import HostRule
from fsagent_tools.runtime.shadows import Thread
from fsagent_tools.web.clock import POLL, Clock

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# The IANA special-purpose registries, in our own words: what `ipaddress` calls global has changed
# between Python releases, and it does not know the clouds' own addresses.
CLOSED = [
    (ipaddress.ip_network(network), why)
    for why, networks in {
        "a private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10",
        "a loopback": "127.0.0.0/8",
        "a link-local or metadata": "169.254.0.0/16 168.63.129.16/32",
        "a reserved": "0.0.0.0/8 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 "
        "198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 2001::/23 2001:db8::/32 2002::/16 3fff::/20",
        "a multicast": "224.0.0.0/4",
    }.items()
    for network in networks.split()
]
GLOBAL6 = ipaddress.IPv6Network("2000::/3")
EMBEDDING = [ipaddress.IPv6Network("::ffff:0:0/96"), ipaddress.IPv6Network("64:ff9b::/96")]
LOCAL_NAMES = (".localhost", ".local", ".internal", ".home.arpa", ".lan")
_OPENED = (
    "Fetch public pages only; the host application can open a local server with the policy's "
    "allow_hosts."
)
NEVER_BY_NAME = "a link-local or metadata"


def reached(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one that only stands for it; any other as it is."""
    if any(address in network for network in EMBEDDING):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def closed(address: Address) -> str:
    """Why an address may not be reached, or "" for a public one.

    IPv4-mapped and NAT64 addresses are judged by the IPv4 address inside them.
    """
    address = reached(address)
    if isinstance(address, ipaddress.IPv6Address):
        if address.is_loopback:
            return "a loopback"
        if address not in GLOBAL6:
            return NEVER_BY_NAME if address.is_link_local else "a private or reserved"
    return next((why for network, why in CLOSED if address in network), "")


@dataclass(frozen=True)
class Guard:
    """Refuses by host name, then by every address the name resolves to."""

    allow: tuple[HostRule, ...] = ()
    deny: tuple[HostRule, ...] = ()

    def check_name(self, host: str, port: int) -> None:
        if any(rule.covers(host, port) for rule in self.deny):
            raise UnsafeUrl(f"The policy (deny_hosts) closes the host {host}.")

    def addresses(self, host: str, port: int, clock: Clock) -> list[str]:
        """The checked addresses of `host`, in the resolver's order; one that is closed closes all.

        Raises `UnsafeUrl`, or `NetworkError` when the name does not resolve.
        """
        self.check_name(host, port)
        opened = self.opens(host, port)
        found = _literal(host) or _resolve(host, port, clock)
        for address in found:
            for form in {address, reached(address)}:
                self.check_name(str(form), port)
            why = closed(address)
            by_name = opened and (why != NEVER_BY_NAME or str(address) == host)
            if why and not by_name:
                raise UnsafeUrl(
                    f"{host} is {why} address ({address}), which may not be reached.",
                    hint=_OPENED,
                )
        return [str(address) for address in found]

    def check_far(self, host: str, port: int, clock: Clock) -> None:
        """Like `addresses`, for a host that a proxy finds: one that has no address here passes,
        unless its name is one that only a network of its own gives. Raises `UnsafeUrl`.
        """
        try:
            self.addresses(host, port, clock)
        except NetworkError:
            if "." not in host or host.rstrip(".").endswith(LOCAL_NAMES):
                raise UnsafeUrl(
                    f"{host} is a name of a local network, which may not be reached.",
                    hint=_OPENED,
                ) from None

    def opens(self, host: str, port: int) -> bool:
        """Whether the policy names this host as one to be reached wherever it is."""
        return any(rule.names(host, port) for rule in self.allow)


def _literal(host: str) -> list[Address]:
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        return []


def _resolve(host: str, port: int, clock: Clock) -> list[Address]:
    """Every address of a name; the C resolver cannot be stopped, so it runs in a thread."""
    answer: SimpleQueue[list[Address] | Exception] = SimpleQueue()
    Thread(target=_ask, args=(host, port, answer), daemon=True).start()
    while True:
        clock.check()
        try:
            found = answer.get(timeout=POLL)
        except Empty:
            continue
        if isinstance(found, Exception) or not found:
            raise NetworkError(
                f"The host {host} was not found.", hint="Check the spelling of the URL."
            )
        return found


def _ask(host: str, port: int, answer: "SimpleQueue[list[Address] | Exception]") -> None:
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        answer.put(list(dict.fromkeys(ipaddress.ip_address(row[4][0]) for row in rows)))
    except (OSError, ValueError) as error:
        answer.put(error)
