"""A long-lived server process and the pipes to it."""

import os
from collections import deque
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock

from fsagent_tools.errors import CommandFailed, LanguageServerFailed
from fsagent_tools.runtime.shadows import Thread
from fsagent_tools.shell.launch import start
from fsagent_tools.shell.profile import Launch

STDERR_KEPT = 2000  # bytes, for the error message
_LAST_WORDS = 2.0  # seconds that a process may take from closing its output to its end


class Child:
    """What `launch` says, running. Bytes go out through a queue, so that nothing ever blocks on
    a server that has stopped reading; the standard error is drained and its end kept.
    """

    def __init__(self, launch: Launch) -> None:
        """Raises `LanguageServerFailed`."""
        self.command = tuple(launch.argv)
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        self._said: deque[bytes] = deque()
        self._ending, self._ended = Lock(), False
        theirs, self._stdin = os.pipe()
        (output, out), (errors, err) = os.pipe(), os.pipe()
        try:
            self.process = start(launch, (theirs, out, err))
        except CommandFailed as error:
            for fd in (self._stdin, output, errors):
                os.close(fd)
            raise LanguageServerFailed(
                f"{self.command[0]} could not be started: {error.message}",
                hint="Check the command in the `servers` setting, or install the server again.",
            ) from None
        finally:
            for fd in (theirs, out, err):
                os.close(fd)
        self.stdout = os.fdopen(output, "rb")
        self._stderr = os.fdopen(errors, "rb")
        writer, self._drainer = (
            Thread(target=work, name=f"lsp-{self.command[0]}", daemon=True)
            for work in (self._write, self._drain)
        )
        writer.start()
        self._drainer.start()

    def send(self, data: bytes) -> None:
        self._outgoing.put(data)

    def kill(self) -> None:
        """End the process and everything it started. Safe to call twice."""
        self._outgoing.put(None)
        with self._ending:
            if not self._ended:
                self._ended = True
                self.process.kill()
                self.process.wait_gone(_LAST_WORDS)
                self.process.close()

    def wait_for_last_words(self) -> None:
        """Returns when nothing more comes from the standard error, or after `_LAST_WORDS`."""
        self._drainer.join(_LAST_WORDS)

    def last_words(self) -> str:
        """The end of what the process wrote to its standard error, on one line."""
        text = b"".join(self._said)[-STDERR_KEPT:].decode(errors="replace")
        return " ".join(text.split())[-300:]

    def _write(self) -> None:
        stream = os.fdopen(self._stdin, "wb")
        with suppress(OSError, ValueError):
            while (data := self._outgoing.get()) is not None:
                stream.write(data)
                stream.flush()
        with suppress(OSError, ValueError):
            stream.close()

    def _drain(self) -> None:
        with self._stderr as stream, suppress(OSError, ValueError):
            while block := os.read(stream.fileno(), STDERR_KEPT):
                self._said.append(block)
                while len(self._said) > 8:
                    self._said.popleft()
