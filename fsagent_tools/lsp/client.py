"""A JSON-RPC connection to one language server: requests, notifications, its own requests."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Condition
from typing import Any

from fsagent_tools.call import current
from fsagent_tools.errors import LanguageServerFailed, TimedOut
from fsagent_tools.lsp.child import Child
from fsagent_tools.lsp.framing import JsonMessage, Nonsense, encode, read_message
from fsagent_tools.runtime.shadows import Thread

_POLL = 0.05  # seconds between two looks at the caller's cancel flag
METHOD_NOT_FOUND = -32601
PING = "$/ping"


class Refused(Exception):
    """The server answered a request with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code


class Client:
    """Requests out, answers in, and an answer to everything the server asks.

    `answers` maps a request method of the server to a function of its params; any other request
    is answered with "method not found". `hear` gets every notification. Both run on the
    reader's thread while `changed` is held; whoever waits is woken after each message.
    """

    def __init__(
        self,
        child: Child,
        answers: Mapping[str, Callable[[Any], Any]],
        hear: Callable[[str, Any], None],
    ) -> None:
        self.name = Path(child.command[0]).name
        self.changed = Condition()
        self.failure = ""
        self.heard = 0  # messages of the server
        self._child = child
        self._answers = answers
        self._hear = hear
        self._ids = count(1)
        self._replies: dict[int, JsonMessage | None] = {}  # None: still awaited
        self._reader = Thread(target=self._listen, name=f"lsp-{self.name}", daemon=True)
        self._reader.start()

    def notify(self, method: str, params: Any) -> None:
        self._child.send(encode({"jsonrpc": "2.0", "method": method, "params": params}))

    def request(self, method: str, params: Any, until: float) -> Any:
        """The result of `method`, awaited until the monotonic time `until`.

        Raises `Refused` for an error reply, `TimedOut`, `Cancelled`, `LanguageServerFailed` when
        the server ends or talks nonsense.
        """
        number = next(self._ids)
        self._replies[number] = None
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._child.send(encode(message))
        try:
            if not self.wait(lambda: self._replies[number] is not None, until):
                self.notify("$/cancelRequest", {"id": number})
                raise TimedOut(f"{self.name} did not answer `{method}` in time.")
            reply = self._replies[number] or {}
        finally:
            del self._replies[number]
        if error := reply.get("error"):
            raise _refusal(error)
        return reply.get("result")

    def wait(self, done: Callable[[], bool], until: float) -> bool:
        """Sleep until `done()`; False when `until` has passed first. Raises as `request` does."""
        with self.changed:
            while not done():
                if self.failure:
                    words = self._child.last_words()
                    hint = f"It said: {words}" if words else ""
                    raise LanguageServerFailed(f"{self.name} {self.failure}.", hint=hint)
                left = until - time.monotonic()
                if left <= 0:
                    return False
                current.get().check()
                self.changed.wait(min(left, _POLL))
        return True

    def ask(self, method: str, params: Any) -> None:
        """Send a request whose answer nobody waits for."""
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        self._child.send(encode(message))

    def ping(self) -> None:
        """Ask what a server that is alive refuses; does not wait."""
        self.ask(PING, None)

    def round_trip(self, until: float) -> None:
        """Wait until the server has read what it was sent. Raises as `request` does."""
        with suppress(Refused):
            self.request(PING, None, until)

    def ask_to_leave(self) -> None:
        """Send `shutdown` and `exit`; does not wait."""
        self._child.send(encode({"jsonrpc": "2.0", "id": next(self._ids), "method": "shutdown"}))
        self._child.send(encode({"jsonrpc": "2.0", "method": "exit"}))

    def stop(self, grace: float) -> None:
        """Wait at most `grace` seconds for the server to end, then end its process group."""
        self._reader.join(grace)
        self._child.kill()
        self._reader.join(1)

    def _listen(self) -> None:
        failure = "ended unexpectedly"
        try:
            while (message := read_message(self._child.stdout)) is not None:
                with self.changed:
                    self.heard += 1
                    self._take(message)
                    self.changed.notify_all()
            self._child.wait_for_last_words()  # the reason comes by another pipe, perhaps later
        except Nonsense as error:
            failure = f"does not speak the language server protocol: it sent {error}"
        except (OSError, ValueError):
            pass
        finally:
            with self.changed:
                self.failure = failure
                self.changed.notify_all()
            self._child.stdout.close()

    def _take(self, message: JsonMessage) -> None:
        method, number = message.get("method"), message.get("id")
        if method is None:
            if isinstance(number, int) and number in self._replies:
                self._replies[number] = message
        elif number is None:
            with suppress(LookupError, TypeError, AttributeError, ValueError):  # malformed: no news
                self._hear(str(method), message.get("params"))
        else:
            self._child.send(encode(self._reply(number, str(method), message.get("params"))))

    def _reply(self, number: Any, method: str, params: Any) -> JsonMessage:
        reply: JsonMessage = {"jsonrpc": "2.0", "id": number}
        try:
            return {**reply, "result": self._answers[method](params)}
        except (LookupError, TypeError, AttributeError):
            error = {"code": METHOD_NOT_FOUND, "message": f"{method} is not supported"}
            return {**reply, "error": error}


def items_in(answer: Any, key: str) -> list[JsonMessage]:
    """The objects of an answer's list. Raises `LanguageServerFailed` where it has none: that is how
    a server answers whose own helper has died, and it says nothing of the file.
    """
    found = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise LanguageServerFailed("The server answered without diagnostics.", hint="Try again.")
    return found


def _refusal(error: Any) -> Refused:
    if not isinstance(error, dict):
        return Refused(0, str(error)[:200])
    code = error.get("code")
    message = str(error.get("message"))[:200]
    return Refused(code if isinstance(code, int) else 0, message)
