"""One command from its start to the end of its last process."""

import codecs
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from fsagent_tools.process.family import PROC, Family, ProcessEntry
from fsagent_tools.process.output import CHUNK, Output, share
from fsagent_tools.process.spawn import Command, spawn

DRAIN = 0.2  # seconds that output may follow the exit of the command itself
SETTLE = 0.02  # seconds for processes that are ending by themselves
TURN = 0.05  # seconds between looks at the cancel flag


@dataclass(frozen=True)
class Completed:
    """What a command did. `exit_code` is None while it runs and when it could not be ended.

    A death by signal N is 128 + N, as in the shell. `stopped` names processes that the command left
    behind and that were ended with it, `survivors` those that even SIGKILL did not end.
    """

    output: str
    stderr: str
    exit_code: int | None
    truncated: bool
    timed_out: bool
    duration: float
    sandbox: str
    stopped: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()


class Running:
    """A started command whose output is read by `turn`. Not thread-safe but for `so_far`."""

    def __init__(self, command: Command, emit: Callable[[str], None] | None = None) -> None:
        """Start it. Raises `CommandFailed`."""
        self.command = command
        self.timed_out = False
        self._emit = emit
        self._started = time.monotonic()
        self._ended: float | None = None
        self._selector = selectors.DefaultSelector()
        tag = os.urandom(8).hex()
        self._process = spawn(command, tag)
        self._family = Family(self._process.pid, tag, self._started)
        self._lock = threading.Lock()
        self._streams = (Output(command.max_output), Output(command.max_output))
        self._stopped: list[ProcessEntry] = []
        self._survivors: list[str] = []
        self._open(self._process)

    def _open(self, process: "subprocess.Popen[bytes]") -> None:
        for pipe, output in zip((process.stdout, process.stderr), self._streams, strict=True):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                decoder = codecs.getincrementaldecoder("utf-8")("replace")
                self._selector.register(pipe, selectors.EVENT_READ, (output, decoder))
        self._exit = None
        with suppress(AttributeError, OSError):
            self._exit = os.pidfd_open(process.pid)
            self._selector.register(self._exit, selectors.EVENT_READ)
        self.exited = False

    def turn(self, seconds: float) -> None:
        """Read what there is, waiting at most `seconds` for it or for the exit."""
        for key, _ in self._selector.select(max(0.0, seconds)):
            if key.fileobj == self._exit:
                self._selector.unregister(self._exit)
                self.exited = True
            else:
                self._read(key)
        if self._exit is None and not self.exited:
            self.exited = self._process.poll() is not None

    def _read(self, key: selectors.SelectorKey) -> None:
        output, decoder = key.data
        try:
            chunk = os.read(key.fd, CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._selector.unregister(key.fileobj)
        with self._lock:
            output.add(chunk)
        if self._emit is not None and (text := decoder.decode(chunk, not chunk)):
            self._emit(text)

    def finish(self) -> None:
        """End every process that is left, keep what they still said, and wait for the first one."""
        if self._ended is not None:
            return
        try:
            alone = False
            if self.exited:
                self._drain()
                if not (alone := PROC and self._family.alone()):
                    time.sleep(SETTLE)
                    self._family.freeze()
                    self._stopped = self._family.members()
            if not alone:
                self._survivors = self._family.end(lambda: not self.exited, self.turn)
                self._drain()
        finally:
            self._close()

    def _drain(self) -> None:
        until = time.monotonic() + DRAIN
        while self._pipes_open() and (left := until - time.monotonic()) > 0:
            self.turn(left)

    def _pipes_open(self) -> bool:
        return any(key.fileobj != self._exit for key in self._selector.get_map().values())

    def _close(self) -> None:
        self._ended = time.monotonic()
        self._selector.close()
        process = self._process
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        if self._exit is not None:
            os.close(self._exit)
        if self.exited:
            process.wait()
        else:  # uninterruptible: it is waited for whenever it does go
            threading.Thread(target=process.wait, daemon=True).start()

    def so_far(self, *, consume: bool = False) -> Completed:
        """What is known now; after `finish`, all there is. `consume`: output is told once."""
        with self._lock:
            limits = share(*self._streams, self.command.max_output)
            pairs = list(zip(self._streams, limits, strict=True))
            output, stderr = (stream.text(limit) for stream, limit in pairs)
            truncated = any(stream.total > limit for stream, limit in pairs)
            if consume:
                for stream in self._streams:
                    stream.clear()
        code = self._process.returncode
        return Completed(
            output,
            stderr,
            exit_code=128 - code if code is not None and code < 0 else code,
            truncated=truncated,
            timed_out=self.timed_out,
            duration=round((self._ended or time.monotonic()) - self._started, 3),
            sandbox=self.command.sandbox.level,
            stopped=tuple(str(member) for member in self._stopped),
            survivors=tuple(self._survivors),
        )


def signal_name(exit_code: int | None) -> str:
    """`SIGKILL` for 137; empty for an ordinary exit."""
    with suppress(ValueError):
        return signal.Signals((exit_code or 0) - 128).name
    return ""
