"""Network hosts as a policy writes them: `host`, `host:port`, `[::1]:port`, and a proxy's URL."""

import re
from dataclasses import dataclass, field

NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?")


@dataclass(frozen=True)
class HostRule:
    """One host of a policy; without a port it stands for every port.

    is_below: It stands for the names below it instead.
    """

    host: str
    port: int | None = None
    is_below: bool = False

    @classmethod
    def parse(cls, text: str, *, below: bool = False) -> "HostRule":
        """Raises `ValueError` for anything but a bare host or address with an optional port.

        below: Allow `*.example.com`.
        """
        if below and text.startswith("*."):
            rule = cls.parse(text[2:])
            return cls(rule.host, rule.port, is_below=True)
        literal = re.fullmatch(r"\[([0-9a-f:.]+)\](?::(\d{1,5}))?", text.lower())
        named = re.fullmatch(r"([^:\[\]]+)(?::(\d{1,5}))?", text.lower().rstrip("."))
        if text.count(":") > 1 and not literal:
            literal = re.fullmatch(r"([0-9a-f:.]+)()", text.lower())
        found = literal or named
        port = int(found[2]) if found and found[2] else None
        if (
            not found
            or port == 0
            or (port or 0) > 65535
            or not (literal or NAME.fullmatch(found[1]))
        ):
            raise ValueError(f"{text!r} is not a host or host:port")
        return cls(_address(found[1]) if literal else found[1], port)

    def names(self, host: str, port: int) -> bool:
        """True for exactly this host."""
        return self.host == host.rstrip(".") and self.port in (None, port)

    def reaches(self, host: str, port: int) -> bool:
        """Whether a command may reach it: without a port, those of HTTP and HTTPS."""
        host, ports = host.lower().rstrip("."), (80, 443) if self.port is None else (self.port,)
        named = host.endswith(f".{self.host}") if self.is_below else host == self.host
        return named and port in ports

    def covers(self, host: str, port: int) -> bool:
        """True for this host and every name below it."""
        below = host.rstrip(".").endswith(f".{self.host}")
        return self.names(host, port) or (below and self.port in (None, port))


def _address(text: str) -> str:
    """As an address of a fetch is written, which has many spellings. Raises `ValueError`."""
    from ipaddress import ip_address  # most policies name no address

    return str(ip_address(text))


@dataclass(frozen=True)
class Proxy:
    """credentials: user and password in base64, as HTTP sends them; "" for none."""

    host: str
    port: int
    credentials: str = field(default="", repr=False)

    @classmethod
    def parse(cls, text: str) -> "Proxy":
        """From `http://user:password@host:port`. Raises `ValueError`, which repeats no password."""
        given = re.fullmatch(r"(?:http://)?(?:([^@/\s]*)@)?([^@/\s]+)/?", text)
        try:
            rule = HostRule.parse(given[2] if given else "")
        except ValueError:
            rule = HostRule("")
        if not given or not rule.host or not rule.port:
            raise ValueError("not http://user:password@host:port")
        from base64 import b64encode
        from urllib.parse import unquote

        login = unquote(given[1] or "").encode()
        return cls(rule.host, rule.port, b64encode(login).decode())
