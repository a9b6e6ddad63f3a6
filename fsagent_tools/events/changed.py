"""Which files a command changed: a look at the tree before it and after it."""

import os
from pathlib import Path

from fsagent_tools.search.walk import NOISE, OWN_CACHE

MOST_ENTRIES = 100_000  # in a tree that is looked at
MOST_CHANGED = 1_000  # paths in one record
Facts = dict[str, tuple[int, ...]]


def facts_of(root: Path) -> Facts | None:
    """What tells that a file changed, by path from the root; None for a tree that is too large.

    Directories that a search leaves out (`.git`, `node_modules`, ...) are left out here.
    """
    found: Facts = {}
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(root / prefix) as entries:
                for entry in entries:
                    _look(entry, prefix + entry.name, found, waiting)
        except OSError:
            continue  # gone, or not ours to read
        if len(found) + len(waiting) > MOST_ENTRIES:
            return None
    return found


def _look(entry: "os.DirEntry[str]", path: str, found: Facts, waiting: list[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        if entry.name not in NOISE and path != OWN_CACHE:
            waiting.append(f"{path}/")
        return
    stat = entry.stat(follow_symlinks=False)
    found[path] = (stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_mode)


def changed_files(before: Facts | None, after: Facts | None) -> list[str] | None:
    """Files made, changed or removed, by name, at most `MOST_CHANGED`; None if nobody knows."""
    if before is None or after is None:
        return None
    either = before.keys() | after.keys()
    return sorted(path for path in either if before.get(path) != after.get(path))[:MOST_CHANGED]
