"""Background commands and the private temporary directory: both end with their workspace."""

import os
import select
import threading
import time
import weakref
from contextlib import suppress
from typing import Any

from fsagent_tools.call import current
from fsagent_tools.errors import Cancelled, CommandFailed, TimedOut, UnknownJob
from fsagent_tools.replies import Completed
from fsagent_tools.runtime import owned
from fsagent_tools.runtime.shadows import Thread
from fsagent_tools.shell.environment import PrivateDirectory, in_background
from fsagent_tools.shell.launch import Process
from fsagent_tools.shell.runner import Command, Running

_TURN = 0.05  # seconds between looks at the stop flag
_LONG = 3600.0  # seconds; what happens wakes the thread that reads
_ENDED = 100  # ended jobs that are still known


class Job:
    """A command that a thread of its own reads; every method may be called from any thread."""

    def __init__(self, name: str, script: str, running: Running) -> None:
        self.name, self.script = name, script
        self._running = running
        self._stdin = running.stdin
        self._writing = threading.Lock()
        self._stop = threading.Event()
        self._done = threading.Event()
        Thread(target=self._follow, name=f"fsagent-job-{name}", daemon=True).start()

    @property
    def running(self) -> bool:
        return not self._done.is_set()

    @property
    def process(self) -> Process:
        return self._running.process

    def facts(self) -> dict[str, Any]:
        """What it is and how it is, see `JobList`; what it wrote is still to be read."""
        running = self.running
        state = "running" if running else "stopped" if self._stop.is_set() else "exited"
        now, output = self._running.so_far(), self._running.output
        return {
            "job": self.name,
            "command": self.script,
            "state": state,
            "running": running,
            "exit_code": None if running else now.exit_code,
            "started": self._running.started,
            "duration": now.duration,
            "written": output.written,
            "told": output.consumed,
        }

    def read(self) -> Completed:
        """What it wrote since the last read, and how it ended if it did."""
        return self._running.so_far(consume=True)

    def write(self, text: str, seconds: float, *, last: bool = False) -> None:
        """Give it input; last: and then the end of input. Raises `CommandFailed`, `TimedOut`."""
        data, until = memoryview(text.encode()), time.monotonic() + seconds
        with self._writing:
            if self._stdin is None:
                raise CommandFailed(f"Job {self.name} takes no input (any more).")
            while data:
                left = until - time.monotonic()
                current.get().check()
                if left <= 0:
                    raise TimedOut(
                        f"Job {self.name} did not read its input within {seconds:g} s; "
                        f"the last {len(data):,} bytes were not written."
                    )
                data = data[self._pass_on(self._stdin, data, min(left, _TURN)) :]
            if last:
                self.close_input()

    def _pass_on(self, stdin: int, data: memoryview, seconds: float) -> int:
        try:
            return os.write(stdin, data)
        except BlockingIOError:
            poll = select.poll()
            poll.register(stdin, select.POLLOUT)
            poll.poll(1000 * seconds)
            return 0
        except BrokenPipeError:
            self.close_input()
            raise CommandFailed(f"Job {self.name} reads no input any more.") from None

    def close_input(self) -> None:
        """Also what a forked process has of it, which would stay open there."""
        stdin, self._stdin = self._stdin, None  # first, as a fork may come in between
        if stdin is not None:
            os.close(stdin)

    def wait(self, seconds: float) -> None:
        """Return when it has ended, after `seconds`, or raise `Cancelled` with the call."""
        cancelled, until = current.get().cancelled, time.monotonic() + seconds
        while not self._done.wait(max(0.0, min(_TURN, until - time.monotonic()))):
            if cancelled.is_set():
                raise Cancelled(f"The call was cancelled; job {self.name} still runs.")
            if time.monotonic() >= until:
                return

    def kill(self) -> None:
        """End all its processes; waits until they are gone or known to stay."""
        self.stop()
        self._done.wait()

    def stop(self) -> None:
        """Begin to end its processes."""
        self._stop.set()
        self._running.wake()

    def _follow(self) -> None:
        try:
            while not (self._running.exited or self._stop.is_set()):
                self._running.turn(_LONG)
        finally:
            try:
                self._running.finish()
            finally:
                with self._writing:
                    self.close_input()
                self._done.set()


class Jobs:
    """The jobs of one workspace. Closed with it, when it is garbage-collected, or at exit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._started = 0
        self.ended: list[str] = []  # commands of an earlier one, which ended with it
        self._temp_dir: list[PrivateDirectory] = []
        weakref.finalize(self, in_background, _end, self._jobs, self._temp_dir)
        owned(self)

    @property
    def temp_dir(self) -> str:
        """A directory of mode 0700 for this workspace's commands, made when asked for; its real
        path.
        """
        with self._lock:
            if not self._temp_dir or not os.path.isdir(self._temp_dir[0].path):
                self._temp_dir[:] = [PrivateDirectory("fsagent-")]
            return self._temp_dir[0].path

    def holds(self, path: str) -> str:
        """The private directory if `path` is beneath it, else ""."""
        folder = self._temp_dir[0].path if self._temp_dir else ""
        return folder if folder and path.startswith(folder + os.sep) else ""

    def close(self) -> None:
        """Kill every job and remove the temporary directory; a later use begins afresh."""
        _end(self._jobs, self._temp_dir)

    def disown(self) -> None:
        """In a forked process there are no jobs, and another directory."""
        self._lock, jobs = threading.Lock(), [*self._jobs.values()]
        self._jobs.clear()
        self._temp_dir.clear()
        for job in jobs:
            with suppress(OSError):
                job.close_input()

    def start(self, command: Command) -> Job:
        """Start `command` in the background, with input. Raises `CommandFailed`."""
        running = Running(command, has_input=True)
        with self._lock:
            self._started += 1
            name = str(self._started)
            job = self._jobs[name] = Job(name, command.script, running)
            for old in [job for job in self._jobs.values() if not job.running][:-_ENDED]:
                del self._jobs[old.name]
            return job

    def neighbour(self) -> Process | None:
        """That of a running job, whose servers other commands reach."""
        return next((job.process for job in self.all() if job.running), None)

    def all(self) -> list[Job]:
        """Those that run, and those that ended last."""
        with self._lock:
            return [*self._jobs.values()]

    def get(self, name: str) -> Job:
        """The job called `name`. Raises `UnknownJob`, which lists the jobs there are."""
        try:
            return self._jobs[name]
        except KeyError:
            names = ", ".join(self._jobs) or "none"
            raise UnknownJob(
                f"job: there is no job {name[:40]!r}.",
                hint=f"Jobs of this workspace: {names}."
                + (" Others were ended, as `list` says." if self.ended else ""),
            ) from None


def _end(jobs: dict[str, Job], temp_dir: list[PrivateDirectory]) -> None:
    ending = list[Job]()
    while jobs:  # others may be added meanwhile, or taken by somebody else who ends them
        with suppress(KeyError):
            ending.append(jobs.popitem()[1])
            ending[-1].stop()
    for job in ending:
        job.kill()
    while temp_dir:
        temp_dir.pop().close()
