"""A JSON-RPC connection to one language server over its standard streams."""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from queue import SimpleQueue
from threading import Condition
from typing import Any, BinaryIO

from fsagent_tools.call import current
from fsagent_tools.errors import LanguageServerFailed, TimedOut
from fsagent_tools.lsp.confinement import ServerProcess
from fsagent_tools.runtime.shadows import Thread

MAX_HEADER = 4096  # bytes of one header line
MAX_BODY = 64 << 20  # bytes; no real answer comes near it
_POLL = 0.05  # seconds between two looks at the caller's cancel flag
_METHOD_NOT_FOUND = -32601
_AGAIN = (-32800, -32801, -32802)  # request cancelled, content modified, server cancelled
JsonMessage = dict[str, Any]


class ResponseError(Exception):
    """The server answered a request with an error."""


class Connection:
    """Requests out, answers in, and an answer to every request of the server.

    `answers` maps a method of the server's to a function of its params; `notified` gets every
    notification. Both run in the reader's thread while `changed` is held; whoever waits is woken
    after each message. Bytes go out through a queue, so that nothing blocks on a server that has
    stopped reading.
    """

    def __init__(
        self,
        name: str,
        process: ServerProcess,
        answers: Mapping[str, Callable[[Any], Any]],
        notified: Callable[[str, Any], None],
    ) -> None:
        self.changed, self.failure = Condition(), ""
        self.heard = 0  # messages of the server
        self._name, self._process, self._answers, self._notified = name, process, answers, notified
        self._ids, self._replies = count(1), dict[int, JsonMessage | None]()  # None: still awaited
        self._outgoing = SimpleQueue[JsonMessage | None]()
        for work in (self._write, self._read):
            Thread(target=work, name=f"lsp-{name}", daemon=True).start()

    def notify(self, method: str, params: Any) -> None:
        self._outgoing.put({"method": method, "params": params})

    def request(self, method: str, params: Any, deadline: float) -> Any:
        """The result of `method`, awaited until the monotonic time `deadline`; asked again where
        the server says that it was busy.

        Raises `ResponseError`, `TimedOut`, `LanguageServerFailed`, `Cancelled`.
        """
        while True:
            reply = self._ask(method, params, deadline)
            error = reply.get("error")
            if not error:
                return reply.get("result")
            error = error if isinstance(error, dict) else {"message": error}
            if error.get("code") not in _AGAIN:
                raise ResponseError(str(error.get("message"))[:200])
            self.wait(lambda: False, min(deadline, time.monotonic() + 0.02))

    def _ask(self, method: str, params: Any, deadline: float) -> JsonMessage:
        number = next(self._ids)
        self._replies[number] = None
        self._outgoing.put({"id": number, "method": method, "params": params})
        try:
            if not self.wait(lambda: self._replies[number] is not None, deadline):
                self.notify("$/cancelRequest", {"id": number})
                raise TimedOut(f"{self._name} did not answer in time.")
            return self._replies[number] or {}
        finally:
            del self._replies[number]

    def wait(self, done: Callable[[], bool], deadline: float) -> bool:
        """Sleep until `done()`; False when `deadline` has passed first. Raises as `request`."""
        with self.changed:
            while not done():
                if self.failure:
                    words = self._process.last_words()
                    hint = f"It said: {words}" if words else ""
                    raise LanguageServerFailed(f"{self._name} {self.failure}.", hint=hint)
                if (left := deadline - time.monotonic()) <= 0:
                    return False
                current.get().check()
                self.changed.wait(min(left, _POLL))
        return True

    def close(self) -> None:
        """End the server's process, and all that it started."""
        self._outgoing.put(None)
        self._process.kill()

    def _write(self) -> None:
        with suppress(OSError, ValueError), self._process.stdin as stream:
            while (message := self._outgoing.get()) is not None:
                body = json.dumps({"jsonrpc": "2.0", **message}).encode()
                stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                stream.flush()

    def _read(self) -> None:
        failure = "ended unexpectedly"
        try:
            with self._process.stdout as stream:
                while (message := _read_message(stream)) is not None:
                    with self.changed:
                        self.heard += 1
                        self._take(message)
                        self.changed.notify_all()
        except (ValueError, RecursionError) as error:
            failure = f"does not speak the language server protocol: {error}"
        except OSError:
            pass
        with self.changed:
            self.failure = failure
            self.changed.notify_all()

    def _take(self, message: JsonMessage) -> None:
        method, number = message.get("method"), message.get("id")
        if method is None:
            if isinstance(number, int) and number in self._replies:
                self._replies[number] = message
        elif number is None:
            with suppress(LookupError, TypeError, AttributeError, ValueError):  # malformed
                self._notified(str(method), message.get("params"))
        else:
            try:
                reply = {"result": self._answers[str(method)](message.get("params"))}
            except (LookupError, TypeError, AttributeError):
                reply = {"error": {"code": _METHOD_NOT_FOUND, "message": f"{method}: unknown"}}
            self._outgoing.put({"id": number, **reply})


def _read_message(stream: BinaryIO) -> JsonMessage | None:
    """The next message, None at the end. Raises `ValueError` for what is not one."""
    length = None
    while (line := stream.readline(MAX_HEADER)) and (line.strip() or length is None):
        name, colon, value = line.partition(b":")
        if not colon or not line.endswith(b"\n"):
            raise ValueError(f"it sent {line[:60]!r}")
        if name.strip().lower() == b"content-length":
            length = int(value) if value.strip().isdigit() and len(value) < 12 else MAX_BODY + 1
            if length > MAX_BODY:
                raise ValueError(f"it announced a message of {value[:20]!r} bytes")
    body = stream.read(length) if line and length is not None else b""
    if not line or len(body) < (length or 0):
        return None
    message = json.loads(body)
    if not isinstance(message, dict):
        raise ValueError(f"it sent {body[:60]!r}")
    return message
