"""Connections through the proxy that the policy names: a tunnel to each host, checked before."""

import re

from fsagent_tools.errors import NetworkError
from fsagent_tools.policy.hosts import HostRule, Proxy
from fsagent_tools.web.clock import Clock
from fsagent_tools.web.guard import Guard
from fsagent_tools.web.wire import Wire, dial

_LONGEST = 16_384  # bytes of a proxy's reply
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})[^\r\n]*")


def dial_through(proxy: Proxy, host: str, port: int, guard: Guard, clock: Clock) -> Wire:
    """A wire to `host`, TLS not yet begun. Raises `UnsafeUrl`, `NetworkError`, `TimedOut`."""
    guard.check_far(host, port, clock)
    clock.doing = f"waiting for the proxy {proxy.host}"
    wire = dial(proxy.host, proxy.port, Guard((HostRule(proxy.host, proxy.port),)), clock)
    try:
        wire.write(_request(proxy, f"[{host}]:{port}" if ":" in host else f"{host}:{port}"))
        status = _status(wire)
    except BaseException:
        wire.close()
        raise
    if not 200 <= status < 300:
        wire.close()
        raise NetworkError(
            f"The proxy {proxy.host}:{proxy.port} opened no tunnel to {host}:{port}: "
            f"HTTP status {status}.",
            hint="The host application's policy names the proxy and its password."
            if status == 407
            else "Use another source.",
        )
    clock.doing = f"waiting for {host}"
    return wire


def _request(proxy: Proxy, authority: str) -> bytes:
    lines = [f"CONNECT {authority} HTTP/1.1", f"Host: {authority}"]
    if proxy.credentials:
        lines.append(f"Proxy-Authorization: Basic {proxy.credentials}")
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def _status(wire: Wire) -> int:
    """Byte by byte, so that nothing of what comes through the tunnel is taken for the reply."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = wire.read(1)
        if not byte or len(head) >= _LONGEST:
            raise NetworkError("The proxy did not answer in HTTP.")
        head += byte
    found = _STATUS.match(head)
    if not found:
        raise NetworkError("The proxy did not answer in HTTP.")
    return int(found[1])
