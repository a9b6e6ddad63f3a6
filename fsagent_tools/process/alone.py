"""Programs that read one directory, in a view of the files that holds nothing else.

One keeper of this process has a room for each directory. There a program starts as fast as bare:
Landlock and seccomp, which look at every file that is opened, have nothing left to refuse.
"""

import os
import select
import threading
import weakref
from collections.abc import Sequence
from typing import Self

from fsagent_tools.errors import CommandFailed
from fsagent_tools.policy import Limits
from fsagent_tools.process.launcher import Launch, Launcher
from fsagent_tools.process.reader import SHARED_OBJECTS
from fsagent_tools.process.started import Pipes
from fsagent_tools.runtime.shadows import Thread
from fsagent_tools.sandbox.profile import Profile

_MOUNTS = "/proc/self/mountinfo"
_UNLIMITED = Limits(file_size=None, processes=None)


def start_alone(argv: Sequence[str], directory: str, place: tuple[int, int]) -> "Alone | None":
    """A program in `directory`, which must be the one at `place`, its device and inode.

    None while no keeper is ready, which the first call begins to start, or can be none.
    """
    if not os.path.exists(_MOUNTS):
        return None
    kept = _kept.get(os.getpid())  # a process that was forked has its own
    if kept is None or kept.is_outdated():
        kept = _kept[os.getpid()] = _Kept()
    return kept.start(argv, directory, place) if kept.is_ready else None


class Alone:
    """A running program. Has what is used of a `plain.Group`."""

    def __init__(self, launcher: Launcher, launch: Launch) -> None:
        """Raises `CommandFailed`."""
        self._launcher = launcher  # ends its programs once nobody has it
        self._ending = threading.Lock()
        with launcher.starts, Pipes() as pipes:
            pipes.nothing()
            output, errors = pipes.reading(), pipes.reading()
            self._child, _ = launcher.start(launch, pipes.streams)
        self.stdout = open(output, "rb", buffering=0)  # noqa: SIM115  until `__exit__`
        self.stderr = open(errors, "rb", buffering=0)  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self.wait()
        with self._ending:  # no signal comes late, to the next program there
            self._child.close()
        self.stdout.close()
        self.stderr.close()

    def end(self) -> None:
        """From any thread. What it ran in stays for the next one."""
        with self._ending:
            if not self._child.exited:
                self._child.terminate()

    def wait(self) -> int:
        """Its exit code, 128 without one."""
        while not self._child.exited:
            self._child.hear()
        return 128 if self._child.exit_code is None else self._child.exit_code


class _Kept:
    """A keeper that starts aside; what is mounted later is not in its view."""

    def __init__(self) -> None:
        self.is_ready = False
        self._outdated = False
        self._refused = set[str]()  # directories that its view does not have, as beneath /dev/shm
        self._mounts = os.open(_MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._mounts)
        self._launcher = Launcher()
        self._shared = tuple(filter(os.path.exists, SHARED_OBJECTS))
        Thread(target=self._begin, name="fsagent-keeper", daemon=True).start()

    def _begin(self) -> None:
        self.is_ready = not self._launcher.lacking(Profile((), only="/"))

    def is_outdated(self) -> bool:
        """Whether something was mounted or unmounted since."""
        poll = select.poll()
        poll.register(self._mounts, select.POLLPRI)
        if poll.poll(0):  # the kernel tells each change once, to one of several threads
            self._outdated = True
        return self._outdated

    def start(self, argv: Sequence[str], directory: str, place: tuple[int, int]) -> Alone | None:
        if directory in self._refused:
            return None
        profile = Profile((), readable=(argv[0], *self._shared), only=directory)
        launch = Launch(argv, {}, directory, place, profile, _UNLIMITED)
        try:
            return Alone(self._launcher, launch)
        except CommandFailed:
            self._refused.add(directory)  # the other way always works
            return None


_kept: dict[int, _Kept] = {}
