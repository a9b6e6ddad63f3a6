"""Other processes as one that tends them sees them: waited for, signalled, looked up in /proc."""

import os
import select


def readable(fds: tuple[int, ...], seconds: float | None) -> list[int]:
    """Which of the descriptors can be read, awaited for `seconds`."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return [fd for fd, _ in poll.poll(None if seconds is None else 1000 * seconds)]


def reaped() -> list[tuple[int, int]]:
    """Children that have ended since, with their wait statuses."""
    ended = list[tuple[int, int]]()
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if not pid:
            return ended
        ended.append((pid, status))


def send(pid: int, number: int) -> None:
    """A signal; what has ended needs none."""
    try:
        os.kill(pid, number)
    except OSError:
        return


def descendants(pid: int) -> list[int]:
    """All that descends from `pid`, which adopts what others leave."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            parent = int(_stat(int(name)).rpartition(") ")[2].split()[1])
            children.setdefault(parent, []).append(int(name))
    found = list[int]()
    new = children.get(pid, [])
    while new:
        found += new
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
