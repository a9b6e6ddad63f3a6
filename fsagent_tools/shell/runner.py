"""One command from its start to the end of its last process: bounded in time and output."""

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fsagent_tools.call import current
from fsagent_tools.errors import Cancelled, CommandFailed
from fsagent_tools.replies import Completed
from fsagent_tools.shell.launch import Process, start
from fsagent_tools.shell.output import Output
from fsagent_tools.shell.profile import Launch
from fsagent_tools.shell.protected import Protected, Reverted
from fsagent_tools.shell.refusals import refusals

MAX_OUTPUT = 51_200  # bytes
DRAIN = 0.2  # seconds that output may follow the exit of the command itself
GRACE = 0.5  # seconds between SIGTERM and SIGKILL
END_TIMEOUT = 4.0  # seconds after SIGKILL; a process in uninterruptible sleep outlives it
_LESS = ": no localhost without a network, protected names are put back afterwards"
_TURN = 0.05  # seconds between two looks while processes end
ChangeWatch = Callable[[], Callable[[], tuple[str, ...]]]


@dataclass(frozen=True)
class Command:
    """A shell script and everything that it runs with.

    Attributes:
        script: Text without NUL, as the caller wrote it.
        launch: The program that runs it.
        is_outside: See `launch.start`.
        max_output: Bytes of output that are kept.
        keep_in: The directory for a file with all of it, if there is more; None: nowhere.
        watch: Called before it starts; returns what is called after its end and names files that
            no undo restores.
        protected: What it may not change. kept: where things are moved to.
        redact: Regular expressions; what matches is neither shown nor kept.
    """

    script: str
    launch: Launch
    is_outside: Callable[[str], bool] = lambda _: True
    max_output: int = MAX_OUTPUT
    keep_in: str | None = None
    watch: ChangeWatch | None = None
    protected: Protected | None = None
    kept: Path = Path()
    redact: tuple[str, ...] = ()


class Wakeup:
    """Wakes a thread that polls it. Raises `OSError` without a descriptor to spare."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def fileno(self) -> int:
        return self._fd

    def ring(self) -> None:
        """From any thread, at any time."""
        with self._lock:
            if self._fd >= 0:
                os.eventfd_write(self._fd, 1)

    def close(self) -> None:
        with self._lock:
            os.close(self._fd)
            self._fd = -1


class Running:
    """A command whose output is read by `turn`. Not thread-safe except for `so_far` and `wake`.

    started: when, in seconds since 1970. stdin: where its input is written, without waiting;
    whoever writes closes it.
    """

    def __init__(
        self,
        command: Command,
        emit: Callable[[str], None] | None = None,
        *,
        has_input: bool = False,
    ) -> None:
        """Start it. Raises `CommandFailed`."""
        self.command, self.timed_out = command, False
        self.stdin: int | None = None
        self._ended: float | None = None
        self._report, self._survivors = Reverted(), False
        self._lost: tuple[str, ...] = ()
        self.output = Output(command.max_output, command.keep_in, emit, command.redact)
        self._after = command.watch() if command.watch else None
        self.started, self._began = time.time(), time.monotonic()
        try:
            self._start(has_input=has_input)
        except BaseException:
            self._look_after()
            raise

    def _start(self, *, has_input: bool) -> None:
        opened: list[int] = []
        try:
            if has_input:
                theirs, self.stdin = os.pipe()
                os.set_blocking(self.stdin, False)
            else:
                theirs = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            opened = [theirs]
            self._pipe, output = os.pipe()
            opened += [output]
            os.set_blocking(self._pipe, False)
            self._wakeup = Wakeup()
            streams = (theirs, output, output)
            try:
                self._process = start(self.command.launch, streams, self.command.is_outside)
            except BaseException:
                self._wakeup.close()
                os.close(self._pipe)
                raise
        except OSError as error:
            raise CommandFailed(
                f"The command could not be started: {error.strerror}.",
                hint="Nothing was run. Try again when other commands have ended.",
            ) from None
        finally:
            for fd in opened:
                os.close(fd)
        self._poll = select.poll()
        for fd in (self._pipe, self._process.fileno(), self._wakeup.fileno()):
            self._poll.register(fd, select.POLLIN)

    @property
    def exited(self) -> bool:
        return self._process.exited

    @property
    def process(self) -> Process:
        return self._process

    def wake(self) -> None:
        """End the `turn` that another thread is in, or else the next one."""
        self._wakeup.ring()

    def turn(self, seconds: float) -> None:
        """Read what there is, waiting at most `seconds` for it, for the exit or for `wake`."""
        for fd, _ in self._poll.poll(1000 * max(0.0, seconds)):
            if fd == self._pipe:
                if self.output.read(fd):
                    self._poll.unregister(fd)
                    self._pipe = -1
            elif fd == self._wakeup.fileno():
                os.eventfd_read(fd)
            else:
                self._process.hear()
                if self.exited:
                    self._poll.unregister(fd)

    def finish(self) -> None:
        """End every process that is left, keep what they still said, look what was changed."""
        if self._ended is not None:
            return
        try:
            if not self.exited:
                self._process.terminate()
                self._until(lambda: self.exited, GRACE)
            if not self._process.wait_gone(0):
                self._process.kill()
            until = time.monotonic() + END_TIMEOUT
            while not self._process.wait_gone(0) and time.monotonic() < until:
                self.turn(_TURN)  # a full pipe would keep it from ending
            self._survivors = not self._process.wait_gone(0)
            self._until(lambda: self._pipe < 0, DRAIN)
        finally:
            self._ended = time.monotonic()
            self.output.close()
            if self._pipe >= 0:
                os.close(self._pipe)
            self._process.close()
            self._wakeup.close()
            self._look_after()

    def _until(self, done: Callable[[], bool], seconds: float) -> None:
        until = time.monotonic() + seconds
        while not done() and (left := until - time.monotonic()) > 0:
            self.turn(min(left, _TURN))

    def _look_after(self) -> None:
        protected, after = self.command.protected, self._after
        self._after = None
        try:
            if protected:
                self._report = protected.check(self.command.kept)
        finally:
            if after:
                self._lost = after()

    def so_far(self, *, consume: bool = False) -> Completed:
        """What is known now; after `finish`, all there is. consume: output is told once."""
        text, truncated, whole = self.output.so_far(consume=consume)
        code, report = self._process.exit_code, self._report
        if code is None and self._ended is not None and not self._survivors:
            code = 128 + signal.SIGKILL
        undone = report.moved or report.restored
        return Completed(
            text,
            "",
            exit_code=code,
            truncated=truncated,
            timed_out=self.timed_out,
            duration=round((self._ended or time.monotonic()) - self._began, 3),
            sandbox=self._process.level + (_LESS if "landlock" in self._process.level else ""),
            stopped=tuple(self._process.left),
            survivors=("processes that the kernel could not end yet",) * self._survivors,
            whole=whole,
            moved=tuple(report.moved),
            put_back=tuple(report.restored),
            changed=tuple(report.changed),
            kept=str(self.command.kept) if undone else "",
            lost=self._lost,
            refused=(
                *refusals(self.command, self._process.level, text, code),
                *self._process.refused,
            ),
        )


def run(command: Command, timeout: float) -> Completed:
    """Run to the end or for `timeout` seconds, emitting output to the call in progress.

    Raises:
        CommandFailed: If it cannot be started.
        Cancelled: When the caller gave up. No process is left in either case.
    """
    call = current.get()
    running = Running(command, call.say if call.emit else None)
    try:
        deadline = time.monotonic() + timeout
        with call.cancelled.waking(running.wake):
            while not running.exited and not call.cancelled.is_set():
                left = deadline - time.monotonic()
                running.timed_out = left <= 0
                if running.timed_out:
                    break
                running.turn(left)
    finally:
        running.finish()
    if not running.timed_out and call.cancelled.is_set():
        raise Cancelled(
            "The call was cancelled and the command was stopped.",
            hint="What it had changed by then stays changed.",
        )
    return running.so_far()


def signal_name(exit_code: int | None) -> str:
    """`SIGKILL` for 137; empty for an ordinary exit."""
    if exit_code and exit_code > 128:
        with suppress(ValueError):
            return signal.Signals(exit_code - 128).name
    return ""
