"""Reaching listed hosts only: a proxy of the host's for one command without any other network.

The command's namespace has loopback alone. A starter in it makes the listening socket, hands it out
over an inherited pair of sockets and becomes the command; the host accepts on it. So no forwarder
runs inside, no socket has a path, and nothing is left when the command ends.
"""

import ipaddress
import select
import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit

from fsagent_tools.policy.addresses import METADATA, closed_kind, embedded_ipv4
from fsagent_tools.shell.profile import Hosts

_PORT = 3128  # inside; the namespace is the command's own
STARTER = """import os, socket, sys
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[2]))); s.listen(64)
p = socket.socket(fileno=int(sys.argv[1])); socket.send_fds(p, [b"."], [s.fileno()])
p.close(); s.close(); os.execv(sys.argv[3], sys.argv[3:])"""
_MAX_HEAD, _CHUNK = 1 << 16, 1 << 16  # bytes
_TIMEOUT, _IDLE = 20.0, 300.0  # seconds to connect and to send a request; of silence
_MAX_CONNECTIONS, _MAX_REFUSED = 128, 20
_OWN_HEADERS = (b"proxy-", b"connection:", b"keep-alive:")


def variables() -> dict[str, str]:
    """Node before 24 and the JVM do not read these; ssh has no use for them."""
    names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")
    none = {"no_proxy": "localhost,127.0.0.1,::1", "NO_PROXY": "localhost,127.0.0.1,::1"}
    address = f"http://127.0.0.1:{_PORT}"
    return dict.fromkeys(names, address) | none | {"NODE_USE_ENV_PROXY": "1"}


class Egress:
    """The proxy of one command, from its start until `close`.

    Attributes:
        inside: The descriptor that the starter inherits.
        refused: Hosts that the command asked for and did not reach, with the reason.
    """

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self.refused: dict[str, str] = {}
        self._outside, inside = socket.socketpair()
        self.inside = inside.detach()
        self._slots = threading.BoundedSemaphore(_MAX_CONNECTIONS)
        self._open = {self._outside}
        threading.Thread(target=self._accept, name="egress", daemon=True).start()

    def arguments(self) -> list[str]:
        """What follows `python -c STARTER`, before the command."""
        return [str(self.inside), str(_PORT)]

    def close(self) -> None:
        """End every connection."""
        for end in [*self._open]:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with self._outside, suppress(OSError, IndexError):
            _, fds, _, _ = socket.recv_fds(self._outside, 1, 1)
            with socket.socket(fileno=fds[0]) as listener:
                self._open.add(listener)
                while True:
                    client, _ = listener.accept()
                    self._slots.acquire()
                    serve = threading.Thread(target=self._serve, args=(client,), daemon=True)
                    serve.start()

    def _serve(self, client: socket.socket) -> None:
        self._open.add(client)
        try:
            with client, suppress(OSError, ValueError):
                client.settimeout(_TIMEOUT)
                head = b""
                while b"\r\n\r\n" not in head and len(head) < _MAX_HEAD:
                    if not (data := client.recv(_CHUNK)):
                        return
                    head += data
                self._answer(client, head)
        finally:
            self._open.discard(client)
            self._slots.release()

    def _answer(self, client: socket.socket, head: bytes) -> None:
        first, _, rest = head.partition(b"\r\n")
        method, target, _ = first.decode("latin-1").split(" ", 2)
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        host, port = (parts.hostname or "").rstrip("."), parts.port or 80
        if not any(rule.reaches(host, port) for rule in self._hosts.reached):
            self._refuse(client, host, port, "is not in network=[...] of this workspace")
            return
        try:
            addresses = self._addresses(host, port)
        except OSError as error:
            self._refuse(client, host, port, str(error))
            return
        lines, _, body = rest.partition(b"\r\n\r\n")
        with socket.create_connection((addresses[0], port), _TIMEOUT) as server:
            if method == "CONNECT":
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                server.sendall(body)
            else:  # one request on this connection
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                kept = [x for x in lines.split(b"\r\n") if not x.lower().startswith(_OWN_HEADERS)]
                request = f"{method} {path} HTTP/1.1".encode("latin-1")
                server.sendall(b"\r\n".join([request, *kept, b"Connection: close", b"", body]))
            _exchange(client, server)

    def _addresses(self, host: str, port: int) -> list[str]:
        """As the guard of web pages has it: one that is closed closes all. Raises `OSError`."""
        opened = any(rule.names(host, port) for rule in self._hosts.opened)
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        found = [ipaddress.ip_address(row[4][0]) for row in rows]
        for address in found:
            forms = (host, str(address), str(embedded_ipv4(address)))
            if any(rule.covers(form, port) for rule in self._hosts.closed for form in forms):
                raise OSError("is closed by deny_hosts")
            if (kind := closed_kind(address)) and not (opened and kind != METADATA):
                raise OSError(f"is {kind} address, which allow_hosts does not open")
        return list(map(str, found))

    def _refuse(self, client: socket.socket, host: str, port: int, reason: str) -> None:
        if len(self.refused) < _MAX_REFUSED:
            self.refused[f"{host}:{port}"] = reason
        body = f"{host}:{port} {reason}\n".encode()
        head = f"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}"
        client.sendall(f"{head}\r\nConnection: close\r\n\r\n".encode() + body)


def _exchange(one: socket.socket, other: socket.socket) -> None:
    """Both ways until both have ended, or nothing came for a while."""
    open_ends = {one: other, other: one}
    while open_ends:
        ready, _, _ = select.select(list(open_ends), [], [], _IDLE)
        if not ready:
            return
        for end in ready:
            if data := end.recv(_CHUNK):
                open_ends[end].sendall(data)
            else:
                with suppress(OSError):
                    open_ends.pop(end).shutdown(socket.SHUT_WR)
