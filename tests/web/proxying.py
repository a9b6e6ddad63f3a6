"""A proxy on loopback that forwards requests and opens tunnels, and knows hosts of its own."""

import base64
import contextlib
import socket
import threading
from dataclasses import dataclass, field


@dataclass
class ConnectProxy:
    """names: host -> port on loopback. asked: each authority, in order. login: user:password."""

    names: dict[str, int] = field(default_factory=dict)
    login: str = ""
    asked: list[str] = field(default_factory=list)

    @property
    def port(self):
        return self._listener.getsockname()[1]

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(4096)
            first, *lines = head.decode().split("\r\n")
            method, target, version = first.split(" ")
            authority, slash, path = target.rpartition("://")[2].partition("/")
            self.asked.append(authority)
            wanted = "Basic " + base64.b64encode(self.login.encode()).decode()
            if self.login and f"Proxy-Authorization: {wanted}" not in lines:
                client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
                return
            port = self.names.get(authority.partition(":")[0])
            if port is None:
                client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                return
            with socket.create_connection(("127.0.0.1", port)) as server:
                if method == "CONNECT":
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                else:
                    own = [line for line in lines if not line.startswith("Proxy-")]
                    server.sendall(
                        "\r\n".join([f"{method} {slash}{path} {version}", *own]).encode()
                    )
                back = threading.Thread(target=_pass, args=(server, client), daemon=True)
                back.start()
                _pass(client, server)
                back.join(5)


def _pass(source, sink):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
