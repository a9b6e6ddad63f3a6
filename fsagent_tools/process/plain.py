"""A child of the host itself, where there is no keeper: its process group is all that is known."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from fsagent_tools.process.started import Started
from fsagent_tools.runtime.aside import aside
from fsagent_tools.sandbox import loopback
from fsagent_tools.sandbox.confine import confine

_LIMITED = """
import os, resource, signal, sys
for pair in sys.argv[1].split():
    number, value = map(int, pair.split(":"))
    hard = resource.getrlimit(number)[1]
    lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
    try:
        resource.setrlimit(number, (lowest, lowest))
    except (OSError, ValueError):
        pass
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[2], sys.argv[2:])
"""  # some systems lack a limit


class Group(subprocess.Popen[bytes]):
    """A program at the head of a session and process group of its own."""

    @classmethod
    def begin(cls, profile: Mapping[str, Any], argv: Sequence[str], **how: Any) -> "Group":
        """Start it as `profile` says, see `confine`; how: of `subprocess`. Raises `OSError`."""
        start = partial(cls, argv, start_new_session=True, **how)

        def confined() -> Group:
            confine(dict(profile), alone=False)
            return start()

        # Who confines itself does so for good, but for its own thread and what that starts only.
        return aside(confined) if profile["landlock"] or profile["filtered"] else start()

    def end(self) -> None:
        """From any thread: all of the group ends."""
        self.signal("SIGKILL")

    def signal(self, name: str) -> None:
        """One of them to the group, while nobody has waited for its head."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.Signals[name])


class InGroup(Started):
    """Has the shape of `room.InRoom`; `fileno()` is -1 where the system has no pidfd."""

    def __init__(
        self, terms: Mapping[str, Any], order: Mapping[str, Any], streams: tuple[int, int, int]
    ) -> None:
        """Start it. Raises `OSError`."""
        super().__init__()
        profile = terms["profile"]
        if profile["sockets"] == "own":  # nobody here would answer
            profile = profile | {"sockets": "closed"}
        self._group = Group.begin(
            profile,
            _limited(terms["limits"], order["argv"]),
            cwd=order["cwd"],
            env=order["env"],
            **dict(zip(("stdin", "stdout", "stderr"), streams, strict=True)),
        )
        self._exit = -1
        with contextlib.suppress(AttributeError, OSError):
            self._exit = os.pidfd_open(self._group.pid)

    def fileno(self) -> int:
        return self._exit

    def hear(self) -> None:
        """Look whether it has ended; a zombie until `close` keeps the group's number."""
        ended = os.waitid(os.P_PID, self._group.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is not None:
            signalled = ended.si_code != os.CLD_EXITED
            self.exit_code = ended.si_status + (128 if signalled else 0)
            self.gone = True

    def terminate(self) -> None:
        self._group.signal("SIGTERM")

    def kill(self) -> None:
        self._group.end()

    end = kill

    def wait_gone(self, seconds: float) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._group.wait(seconds)
        return self._group.returncode is not None

    def close(self) -> None:
        self.kill()
        self.wait_gone(1)
        if self._exit >= 0:
            os.close(self._exit)
            self._exit = -1


def _limited(limits: Mapping[int, int], argv: list[str]) -> list[str]:
    """The words of a process that limits itself before it becomes the program."""
    if not limits:
        return argv
    if not os.access(argv[0], os.X_OK):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), argv[0])
    pairs = " ".join(f"{number}:{value}" for number, value in limits.items())
    return [sys.executable, "-I", "-S", "-c", _LIMITED, pairs, *argv]


@cache
def has_loopback() -> bool:
    """Whether localhost works without namespaces. To try it confines for good, so a thread does."""
    try:
        aside(loopback.attempt)
    except (OSError, AttributeError):  # elsewhere than on Linux there is nothing of it
        return False
    return True
