"""Other processes as one that tends them sees them: limited, waited for, signalled, looked up."""

import os
import resource
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def readable(fds: tuple[int, ...]) -> Callable[[float | None], list[int]]:
    """Tells which of the descriptors can be read, awaited for so many seconds."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return lambda seconds: [fd for fd, _ in poll.poll(None if seconds is None else 1000 * seconds)]


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
    children, states = _all()
    found = dict[int, str]()
    new = children.get(pid, [])
    while new:
        found |= {child: states[child] for child in new}
        new = [child for parent in new for child in children.get(parent, [])]
    return found


def children_of(pid: int) -> list[int]:
    return _all()[0].get(pid, [])


def _all() -> tuple[dict[int, list[int]], dict[int, str]]:
    """The children of all processes, and everybody's state."""
    children, states = dict[int, list[int]](), dict[int, str]()
    for name in os.listdir("/proc"):
        if name.isdigit():
            each = int(name)
            states[each], parent, *_ = _stat(each).rpartition(") ")[2].split(None, 2)
            children.setdefault(int(parent), []).append(each)
    return children, states


def _stat(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:
            return file.read()
    except OSError:
        return "(gone) X 0"


def name_of(pid: int) -> str:
    """What the process calls itself."""
    text = _stat(pid)
    return text[text.index("(") + 1 : text.rindex(")")]


def limit(limits: dict[int, int]) -> int | None:
    """Give the caller, and what it starts, these resource limits (number -> value) or lower ones.

    Returns the limit of open files, which is for `open_files`, None without one.
    """
    lowest = dict[int, int]()
    for number, value in limits.items():
        hard = resource.getrlimit(number)[1]
        lowest[number] = value if hard == resource.RLIM_INFINITY else min(value, hard)
    files = lowest.pop(resource.RLIMIT_NOFILE, None)
    for number, value in lowest.items():
        resource.setrlimit(number, (value, value))
    return files


@contextmanager
def open_files(most: int | None) -> Iterator[None]:
    """What is started meanwhile has at most so many, the caller as many as before."""
    if most is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
