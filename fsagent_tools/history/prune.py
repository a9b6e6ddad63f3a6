"""What is old or too much goes: whole parts that nobody writes, the oldest first."""

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fsagent_tools.files.tree import opened, remove_tree
from fsagent_tools.history.part import IDS_ENDING, JOURNAL, KEPT, LARGE, kept_bytes

KEPT_DAYS = 30
MOST_OF_ONE = 512 << 20  # of the old files of one root
MOST_OF_ALL = 2 << 30  # of those of all roots together
UNDER_WAY = 60.0  # seconds that a change may take
_DAY = 24 * 3600
_STAMP = "pruned"


def prune(history: Path) -> None:
    """Keep to the limits in the history of one root, and once a day in all of this user's.

    With room for the part that is written next.
    """
    _prune(_parts(history), MOST_OF_ONE - LARGE)
    home = history.parent.parent
    stamp = home / _STAMP
    with suppress(OSError):
        if history.name != "history" or _age(stamp) < _DAY:
            return
        stamp.touch()
        _prune([part for root in home.iterdir() for part in _parts(root / "history")], MOST_OF_ALL)


def mend(part: Path) -> None:
    """Drop the further names that a killed process gave to files which kept their own.

    Only for a part that nobody writes. A name of the last minute may be of a change that goes on.
    """
    before = time.time() - UNDER_WAY
    with suppress(OSError), os.scandir(part / KEPT) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            left = status.st_nlink > 1 and status.st_ctime <= before
            if left and not entry.name.endswith(IDS_ENDING):
                os.unlink(entry.path)


def _prune(parts: Iterable[Path], most: int) -> None:
    total = 0
    for age, part in sorted((_age(part / JOURNAL), part) for part in parts):
        total += kept_bytes(part)
        if age > KEPT_DAYS * _DAY or total > most:
            with suppress(OSError), _unused(part), opened(-100, str(part.parent)) as above:
                remove_tree(above, part.name)


def _parts(history: Path) -> list[Path]:
    with suppress(OSError):
        return [path for path in history.iterdir() if (path / JOURNAL).exists()]
    return []


def _age(path: Path) -> float:
    """Seconds since it was changed; since 1970 for what is not there."""
    with suppress(OSError):
        return time.time() - path.stat().st_mtime
    return time.time()


@contextmanager
def _unused(part: Path) -> Iterator[None]:
    """Raises `BlockingIOError` for a part that some process writes."""
    fd = os.open(part / JOURNAL, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(fd)
