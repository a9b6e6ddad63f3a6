"""Which processes a command left behind, and how they are ended."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from fsagent_tools.process.limits import mark

TAG = "FSAGENT_COMMAND"  # environment variable that every descendant inherits
PROC = os.path.isdir("/proc/self/fd")  # Linux; elsewhere only the process group is known
_GRACE = 0.5  # seconds between SIGTERM and SIGKILL
_PATIENCE = 1.5  # seconds after SIGKILL; a process in uninterruptible sleep outlives it
YOUNG = 1.0  # seconds in which process ids cannot come round again


@dataclass(frozen=True)
class ProcessEntry:
    pid: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.pid})"


@dataclass(frozen=True)
class Family:
    """A command's first process, which leads a session of its own, and all that descends from it.

    A descendant that leaves the session is known by its parent, by the tag in its environment, or
    when it cleared that by its `mark`. One that means to hide can shed all of these; only the
    process namespace of bubblewrap leaves no way out.
    """

    leader: int
    tag: str
    started: float  # time.monotonic()

    def members(self) -> list[ProcessEntry]:
        """Living processes but the leader itself; empty where there is no /proc."""
        if self.alone():
            return []
        known = {self.leader}
        found = []
        for pid in self._candidates():
            with suppress(OSError, ValueError):
                name, state, parent, group, session = _stat(pid)
                ours = {parent, group, session} & known or self._tagged(pid)
                if ours and state not in "ZX":
                    known.add(pid)
                    found.append(ProcessEntry(pid, name))
        return found

    def end(self, leader_lives: Callable[[], bool], turn: Callable[[float], object]) -> list[str]:
        """SIGTERM and SIGKILL to the group, then to all that left it; names of those that stay.

        The group gets both signals before any scan: a fork with a signal pending fails, so this
        ends even a bomb, while a scan of its processes may take longer than anybody waits.
        `turn(seconds)` is called in between, to keep reading what they still write. The leader
        must not have been waited for yet: its process id keeps the group's.
        """
        self._signal_group(signal.SIGTERM)
        until = time.monotonic() + _GRACE
        while leader_lives() and time.monotonic() < until:
            turn(0.01)
        self._signal_group(signal.SIGKILL)
        until = time.monotonic() + _PATIENCE
        while (members := self.members()) or leader_lives():
            for member in members:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(member.pid, signal.SIGKILL)
            turn(0.01)
            if time.monotonic() > until:
                leader = [ProcessEntry(self.leader, "sh")] if leader_lives() else []
                return [str(member) for member in (*leader, *self.members())]
        return []

    def freeze(self) -> None:
        """Stop the group where it is, so that it does not grow while it is looked at."""
        self._signal_group(signal.SIGSTOP)

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.leader, number)

    def alone(self) -> bool:
        """Whether no process is known to have been made since the leader; costs one read."""
        return not PROC or self._newest() == self.leader

    def _candidates(self) -> list[int]:
        """Process ids, oldest first; a young command's descendants all have higher ones."""
        pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
        young = time.monotonic() - self.started < YOUNG and self._newest() > self.leader
        return [pid for pid in pids if pid != self.leader and not (young and pid < self.leader)]

    def _newest(self) -> int:
        with open("/proc/loadavg") as file:
            return int(file.read().split()[-1])

    def _tagged(self, pid: int) -> bool:
        with open(f"/proc/{pid}/environ", "rb") as file:
            tags = [word for word in file.read().split(b"\0") if word.startswith(TAG.encode())]
        if tags or not (number := mark(self.tag)):
            return f"{TAG}={self.tag}".encode() in tags
        with open(f"/proc/{pid}/limits") as file:
            return any(
                line.startswith("Max msgqueue size") and str(number) in line.split()
                for line in file
            )


def _stat(pid: int) -> tuple[str, str, int, int, int]:
    """Name, state, parent, group and session; the name may hold spaces and parentheses."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        text = file.read()
    name = text[text.index("(") + 1 : text.rindex(")")]
    state, parent, group, session = text[text.rindex(")") + 2 :].split()[:4]
    return name, state, int(parent), int(group), int(session)
