"""Other processes as one that tends them sees them: limited, waited for, signalled, looked up."""

import os
import resource
import select
from collections.abc import Iterator
from contextlib import contextmanager


def readable(fds: tuple[int, ...], seconds: float | None) -> list[int]:
    """Which of the descriptors can be read, awaited for `seconds`."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return [fd for fd, _ in poll.poll(None if seconds is None else 1000 * seconds)]


def reaped() -> tuple[dict[int, int], bool]:
    """Children that have ended since, with their wait statuses, and whether none is left.

    For one that adopts orphans, no child means no descendant.
    """
    ended = dict[int, int]()
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, True
        if not pid:
            return ended, False
        ended[pid] = status


def send(pid: int, number: int) -> None:
    """A signal; what has ended needs none."""
    try:
        os.kill(pid, number)
    except OSError:
        return


def descendants(pid: int) -> dict[int, str]:
    """All that descends from `pid`, which adopts what others leave, and their states."""
    children, states = dict[int, list[int]](), dict[int, str]()
    for name in os.listdir("/proc"):
        if name.isdigit():
            each = int(name)
            states[each], parent, *_ = _stat(each).rpartition(") ")[2].split(None, 2)
            children.setdefault(int(parent), []).append(each)
    found = dict[int, str]()
    new = children.get(pid, [])
    while new:
        found |= {child: states[child] for child in new}
        new = [child for parent in new for child in children.get(parent, [])]
    return found


def _stat(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:
            return file.read()
    except OSError:
        return "(gone) X 0"


def state_of(pid: int) -> str:
    """Its letter in /proc; X for one that is gone."""
    return _stat(pid).rpartition(") ")[2][0]


def name_of(pid: int) -> str:
    """What the process calls itself."""
    text = _stat(pid)
    return text[text.index("(") + 1 : text.rindex(")")]


@contextmanager
def limited(limits: dict[int, int]) -> Iterator[None]:
    """What is started meanwhile has these resource limits (number -> value), or lower ones.

    They stay with the caller, but for the number of open files.
    """
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    for number, value in limits.items():
        hard = resource.getrlimit(number)[1]
        lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
        top = hard if number == resource.RLIMIT_NOFILE else lowest
        resource.setrlimit(number, (lowest, top))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, files)
