"""Which addresses a fetch may reach: public ones, and those the policy opens by name."""

import ipaddress
import socket
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from fsagent_tools.errors import NetworkError, UnsafeUrl
from fsagent_tools.policy.addresses import METADATA, Address, closed_kind, embedded_ipv4
from fsagent_tools.policy.hosts import HostRule
from fsagent_tools.runtime.shadows import Thread
from fsagent_tools.web.clock import POLL, Clock

LOCAL_NAMES = (".localhost", ".local", ".internal", ".home.arpa", ".lan")
_OPENED = (
    "Fetch public pages only; the host application can open a local server with the policy's "
    "allow_hosts."
)


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
            for form in {address, embedded_ipv4(address)}:
                self.check_name(str(form), port)
            why = closed_kind(address)
            by_name = opened and (why != METADATA or str(address) == host)
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
