"""One command from its start to the end of its last process: bounded in time and output."""

import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from fsagent_tools.call import current
from fsagent_tools.errors import Cancelled, CommandFailed
from fsagent_tools.process.bell import Bell
from fsagent_tools.process.launcher import Launcher
from fsagent_tools.process.refusals import refusals
from fsagent_tools.process.script import Command
from fsagent_tools.process.started import Pipes
from fsagent_tools.process.streams import Streams
from fsagent_tools.replies import Completed

DRAIN = 0.2  # seconds that output may follow the exit of the command itself
TURN = 0.05  # seconds between looks where nothing wakes who waits
_GRACE = 0.5  # seconds between SIGTERM and SIGKILL
_PATIENCE = 4.0  # seconds after SIGKILL; a process in uninterruptible sleep outlives it
_UNENDED = "processes that the kernel could not end yet"


class Running:
    """A program whose output is read by `turn`. Not thread-safe but for `so_far`.

    started: when, in seconds since 1970. stdin: where its input is written, without
    waiting; whoever does that closes it.
    """

    def __init__(
        self,
        command: Command,
        launcher: Launcher,
        emit: Callable[[str], None] | None = None,
        *,
        has_input: bool = False,
    ) -> None:
        """Start it. has_input: it reads what is written to `stdin`. Raises `CommandFailed`."""
        self.command = command
        self.timed_out = False
        self.started = time.time()
        self._started = time.monotonic()
        self._ended: float | None = None
        self._found: dict[str, tuple[str, ...]] = {}  # after its end, see `Completed`
        self.streams = Streams(
            command.max_output,
            command.keep_in,
            emit,
            separate=command.separate,
            redact=command.redact,
        )
        self.stdin: int | None = None
        self._poll = select.poll()
        self._after = command.watch() if command.watch else None
        self._judged = command.judge() if command.judge else None
        try:
            self._start(launcher, has_input)
        except BaseException:
            self._look_after()
            raise

    def _start(self, launcher: Launcher, has_input: bool) -> None:
        with launcher.starts, Pipes() as pipes:
            outputs = self._open(pipes, has_input)
            try:
                self._launch = self.command.launch()
                self._child, self._level = launcher.start(self._launch, pipes.streams)
            except BaseException:
                self._bell.close()
                raise
        self.streams.begin(outputs)
        self._child_fd, self._bell_fd = self._child.fileno(), self._bell.fileno()
        for fd in (*outputs, self._child_fd, self._bell_fd):
            if fd >= 0:
                self._poll.register(fd, select.POLLIN)

    def _open(self, pipes: Pipes, has_input: bool) -> list[int]:
        """What wakes who waits, and the streams; returns our ends of what is written."""
        try:
            if has_input:
                self.stdin = pipes.writing()
                os.set_blocking(self.stdin, False)
            else:
                pipes.nothing()
            outputs = [pipes.reading() for _ in range(2 if self.command.separate else 1)]
            self._bell = Bell()
            return outputs
        except OSError as error:
            raise CommandFailed(
                f"The command could not be started: {error.strerror}.",
                hint="Nothing was run. Try again when other commands have ended.",
            ) from None

    @property
    def exited(self) -> bool:
        return self._child.exited

    def wake(self) -> None:
        """End the `turn` that another thread is in, or else the next one."""
        self._bell.ring()

    def turn(self, seconds: float) -> None:
        """Read what there is, waiting at most `seconds` for it, for the exit or for `wake`."""
        wakes = min(self._child_fd, self._bell_fd) >= 0
        longest = seconds if wakes else min(seconds, TURN)
        for fd, _ in self._poll.poll(1000 * max(0.0, longest)):
            if fd == self._bell_fd:
                self._bell.hear()
            elif fd == self._child_fd:
                self._child.hear()
                if self._child.gone:
                    self._poll.unregister(fd)
            elif self.streams.read(fd):
                self._poll.unregister(fd)
        if self._child_fd < 0 and not self._child.gone:
            self._child.hear()

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
            self._found["survivors"] = (_UNENDED,)
        self._drain()

    def _until(self, done: Callable[[], bool], seconds: float) -> None:
        until = time.monotonic() + seconds
        while not done() and (left := until - time.monotonic()) > 0:
            self.turn(min(left, TURN))

    def _drain(self) -> None:
        self._until(lambda: not self.streams.open, DRAIN)

    def _close(self) -> None:
        self._ended = time.monotonic()
        self.streams.close()
        self._bell.close()
        self._child.close()
        self._look_after()

    def _look_after(self) -> None:
        if self._judged:
            judged, self._judged = self._judged, None
            self._found["made"], self._found["put_back"] = judged()
        if self._after:
            after, self._after = self._after, None
            self._found["lost"] = after()

    def so_far(self, *, consume: bool = False) -> Completed:
        """What is known now; after `finish`, all there is. `consume`: output is told once."""
        spoken = self.streams.output_so_far(consume=consume)
        exit_code, tried = self._exit_code(), self._child.tried
        return Completed(
            spoken.output,
            spoken.stderr,
            spoken.both,
            exit_code=exit_code,
            truncated=spoken.truncated,
            timed_out=self.timed_out,
            duration=round((self._ended or time.monotonic()) - self._started, 3),
            sandbox=self._level,
            stopped=tuple(self._child.left),
            whole=spoken.whole,
            refused=refusals(self._launch, self._level, spoken.both, exit_code, tried),
            **self._found,
        )

    def _exit_code(self) -> int | None:
        code = self._child.exit_code
        if code is None and self._ended is not None and not self._found.get("survivors"):
            return 128 + signal.SIGKILL  # ended with its first process, which then tells nothing
        return code


def run(command: Command, timeout: float, launcher: Launcher) -> Completed:
    """Run to the end or for `timeout` seconds, emitting output to the call in progress.

    Raises `CommandFailed` when it cannot be started and `Cancelled` when the caller gave up; no
    process is left in either case.
    """
    call = current.get()
    running = Running(command, launcher, call.say if call.emit else None)
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
