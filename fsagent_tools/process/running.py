"""One command from its start to the end of its last process."""

import codecs
import os
import selectors
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from fsagent_tools.errors import CommandFailed
from fsagent_tools.process.bell import Bell
from fsagent_tools.process.launcher import Launcher
from fsagent_tools.process.output import CHUNK, Output, Screen, share
from fsagent_tools.process.refusals import refusals
from fsagent_tools.process.script import Runnable

DRAIN = 0.2  # seconds that output may follow the exit of the command itself
TURN = 0.05  # seconds between looks where nothing wakes who waits
_GRACE = 0.5  # seconds between SIGTERM and SIGKILL
_PATIENCE = 2.0  # seconds after SIGKILL; a process in uninterruptible sleep outlives it
_UNENDED = "processes that the kernel could not end yet"


@dataclass(frozen=True)
class Completed:
    """What a command did. `exit_code` is None while it runs and when it could not be ended.

    A death by signal N is 128 + N, as in the shell. `stopped` names processes that the command left
    behind and that were ended with it, `survivors` says when even SIGKILL did not end all. `both`:
    the two streams in the order in which they were read. `whole`: path of a file that holds all of
    it, "" where nothing was left out. `made`: what is protected from now on, and was not before.
    `refused`: sentences on what the sandbox has refused, as far as that is known.
    """

    output: str
    stderr: str
    both: str
    exit_code: int | None
    truncated: bool
    timed_out: bool
    duration: float
    sandbox: str
    stopped: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()
    whole: str = ""
    made: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class Running:
    """A started program whose output is read by `turn`. Not thread-safe but for `so_far`."""

    def __init__(
        self,
        command: Runnable,
        launcher: Launcher,
        emit: Callable[[str], None] | None = None,
        stdin: int | None = None,
    ) -> None:
        """Start it. stdin: a descriptor to read, default nothing. Raises `CommandFailed`."""
        self.command = command
        self.timed_out = False
        self.emit = emit
        self._started = time.monotonic()
        self._ended: float | None = None
        self._lock = threading.Lock()
        self._streams = (Output(command.max_output), Output(command.max_output))
        self._both = Output(command.max_output, command.keep_in)
        self._survivors: tuple[str, ...] = ()
        self._made: tuple[str, ...] = ()
        self._screens: list[tuple[Output, Screen]] = []
        self._selector = selectors.PollSelector()  # of a few descriptors, and none of its own
        self._start(launcher, stdin)

    def _start(self, launcher: Launcher, stdin: int | None) -> None:
        with launcher.starts, ExitStack() as theirs, ExitStack() as ours:
            try:
                pipes = [_pipe(ours, theirs) for _ in self._streams]
                nothing = os.open(os.devnull, os.O_RDONLY)
                theirs.callback(os.close, nothing)
                self._bell = Bell()
            except OSError as error:
                raise CommandFailed(
                    f"The command could not be started: {error.strerror}.",
                    hint="Nothing was run. Try again when other commands have ended.",
                ) from None
            ours.callback(self._bell.close)
            streams = nothing if stdin is None else stdin, pipes[0][1], pipes[1][1]
            launch = self.command.launch()
            self._profile = launch.profile
            self._child, self._level = launcher.start(launch, streams)
            ours.pop_all()
        for (readable, _), output in zip(pipes, self._streams, strict=True):
            os.set_blocking(readable, False)
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            data = output, Screen(), decoder
            self._screens.append(data[:2])
            self._selector.register(readable, selectors.EVENT_READ, data)
        self._polled = False  # whether something must be looked at that wakes nobody
        for source in (self._child, self._bell):
            if source.fileno() >= 0:
                self._selector.register(source, selectors.EVENT_READ)
            else:
                self._polled = True

    @property
    def exited(self) -> bool:
        return self._child.exit_code is not None or self._child.gone

    def wake(self) -> None:
        """End the `turn` that another thread is in, or else the next one."""
        self._bell.ring()

    def turn(self, seconds: float) -> None:
        """Read what there is, waiting at most `seconds` for it, for the exit or for `wake`."""
        longest = TURN if self._polled else seconds
        for key, _ in self._selector.select(max(0.0, min(seconds, longest))):
            if key.fileobj is self._bell:
                self._bell.hear()
            elif key.fileobj is self._child:
                self._child.hear()
                if self._child.gone:
                    self._selector.unregister(key.fileobj)
            else:
                self._read(key)
        if self._child.fileno() < 0 and not self._child.gone:
            self._child.hear()

    def _read(self, key: selectors.SelectorKey) -> None:
        output, screen, decoder = key.data
        try:
            chunk = os.read(key.fd, CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._selector.unregister(key.fileobj)
            os.close(key.fd)
        with self._lock:
            self._add(output, screen.add(chunk))
        if self.emit is not None and (text := decoder.decode(chunk, not chunk)):
            self.emit(text)

    def _add(self, output: Output, lines: bytes) -> None:
        output.add(lines)
        self._both.add(lines)

    def finish(self) -> None:
        """End every process that is left, keep what they still said, and wait for the first one."""
        if self._ended is not None:
            return
        try:
            if self.exited:
                self._drain()
                if not self._child.is_alone:
                    self._child.end()
                    self._until(lambda: self._child.gone, _GRACE)
            else:
                self._child.terminate()
                self._until(lambda: self.exited, _GRACE)
            if not self._child.is_alone:
                self._kill()
        finally:
            self._close()

    def _kill(self) -> None:
        """Signals first: nothing here looks at a process before it has sent its SIGKILL."""
        self._child.kill()
        until = time.monotonic() + _PATIENCE
        self._until(lambda: self._child.gone, _PATIENCE)
        if not (self._child.gone and self._child.wait_gone(until - time.monotonic())):
            self._survivors = (_UNENDED,)
        self._drain()

    def _until(self, done: Callable[[], bool], seconds: float) -> None:
        until = time.monotonic() + seconds
        while not done() and (left := until - time.monotonic()) > 0:
            self.turn(min(left, TURN))

    def _drain(self) -> None:
        self._until(lambda: not self._pipes(), DRAIN)

    def _pipes(self) -> list[int]:
        return [key.fd for key in self._selector.get_map().values() if key.data]

    def _close(self) -> None:
        self._ended = time.monotonic()
        for fd in self._pipes():
            os.close(fd)
        self._selector.close()
        self._bell.close()
        self._child.close()
        with self._lock:
            self._tell_rest()
            self._both.close()
        if self.command.new:
            self._made = self.command.new()

    def _tell_rest(self) -> None:
        for output, screen in self._screens:
            self._add(output, screen.rest())

    def so_far(self, *, consume: bool = False) -> Completed:
        """What is known now; after `finish`, all there is. `consume`: output is told once."""
        with self._lock:
            if self._ended is None:
                self._tell_rest()
            limits = share(*self._streams, self.command.max_output)
            pairs = list(zip(self._streams, limits, strict=True))
            output, stderr = (stream.text(limit) for stream, limit in pairs)
            both, whole = self._both.text(self._both.limit), self._both.path
            truncated = any(stream.total > limit for stream, limit in pairs)
            if consume:
                for stream in (*self._streams, self._both):
                    stream.clear()
        exit_code, tried = self._exit_code(), self._child.tried
        return Completed(
            output,
            stderr,
            both,
            exit_code=exit_code,
            truncated=truncated,
            timed_out=self.timed_out,
            duration=round((self._ended or time.monotonic()) - self._started, 3),
            sandbox=self._level,
            stopped=tuple(self._child.left),
            survivors=self._survivors,
            whole=whole if truncated else "",
            made=self._made,
            refused=refusals(self._profile, self._level, both, exit_code, tried=tried),
        )

    def _exit_code(self) -> int | None:
        code = self._child.exit_code
        if code is None and self._ended is not None and not self._survivors:
            return 128 + signal.SIGKILL  # ended with its first process, which then tells nothing
        return 128 - code if code is not None and code < 0 else code


def signal_name(exit_code: int | None) -> str:
    """`SIGKILL` for 137; empty for an ordinary exit."""
    with suppress(ValueError):
        return signal.Signals((exit_code or 0) - 128).name
    return ""


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """A pipe whose ends the two stacks close."""
    ends = os.pipe()
    reader.callback(os.close, ends[0])
    writer.callback(os.close, ends[1])
    return ends
