"""A long-lived server process in a process group of its own, and the pipes to it."""

import os
import signal
import subprocess
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO, cast

from fsagent_tools.errors import LanguageServerFailed

STDERR_KEPT = 2000  # bytes, for the error message
_LAST_WORDS = 2.0  # seconds that a process may take from closing its output to its end
PASSED = (  # variables a server may see: where things are, never keys
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"),
    *("SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "USERPROFILE", "TEMP", "TMP"),
    *("PATHEXT", "COMSPEC", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("GOPATH", "GOROOT", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME"),
)
FIXED = {
    "PYTHONSAFEPATH": "1",  # a server written in Python must not import from the project
    "GOTOOLCHAIN": "local",  # go.mod must not choose a toolchain to download
    "GOFLAGS": "-mod=readonly",
}


class Child:
    """`command` running in `cwd`. Bytes go out through a queue, so that nothing ever blocks on
    a server that has stopped reading; the standard error is drained and its end kept.
    """

    def __init__(self, command: Sequence[str], cwd: Path, path: str) -> None:
        self.command = tuple(command)
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        self._said: deque[bytes] = deque()
        self._process = self._spawn(cwd, path)
        self.stdout = cast(BinaryIO, self._process.stdout)
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
        if self._process.returncode is None:  # not reaped, so the group cannot be another's
            with suppress(ProcessLookupError, PermissionError):
                if os.name == "posix":
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()
            self._process.wait()

    def wait_for_last_words(self) -> None:
        """Returns when nothing more comes from the standard error, or after `_LAST_WORDS`."""
        self._drainer.join(_LAST_WORDS)

    def last_words(self) -> str:
        """The end of what the process wrote to its standard error, on one line."""
        text = b"".join(self._said)[-STDERR_KEPT:].decode(errors="replace")
        return " ".join(text.split())[-300:]

    def _spawn(self, cwd: Path, path: str) -> "subprocess.Popen[bytes]":
        environment = {k: os.environ[k] for k in PASSED if k in os.environ}
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                self.command,
                cwd=cwd,
                env={**environment, **FIXED, "PATH": path},
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,
            )
        except OSError as error:
            raise LanguageServerFailed(
                f"{self.command[0]} could not be started: {error.strerror}.",
                hint="Check the command in the `servers` setting, or install the server again.",
            ) from None

    def _write(self) -> None:
        stream = cast(BinaryIO, self._process.stdin)
        with suppress(OSError, ValueError):
            while (data := self._outgoing.get()) is not None:
                stream.write(data)
                stream.flush()
        with suppress(OSError, ValueError):
            stream.close()

    def _drain(self) -> None:
        stream = cast(BinaryIO, self._process.stderr)
        with stream, suppress(OSError, ValueError):
            while block := os.read(stream.fileno(), STDERR_KEPT):
                self._said.append(block)
                while len(self._said) > 8:
                    self._said.popleft()
