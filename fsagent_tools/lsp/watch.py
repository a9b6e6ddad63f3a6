"""Notices files that changed on disk since the last look, without an operating-system watcher."""

import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path

MAX_FILES = 20_000
SHARE = 0.05  # of the time at most goes into looking
SKIPPED = frozenset(
    ("node_modules", "__pycache__", "venv", "target", "dist", "build", "site-packages")
)
CREATED, CHANGED, DELETED = 1, 2, 3


class Watch:
    """Files beneath `root` with one of `suffixes` or `names`, by size and modification time."""

    def __init__(self, root: Path, suffixes: Collection[str], names: Collection[str]) -> None:
        self._root = root
        self._suffixes = tuple(suffixes)
        self._names = frozenset(names)
        self._seen = self._look()
        self._next = 0.0

    def changes(self) -> list[tuple[str, int]]:
        """Absolute paths created, changed or deleted since the last look.

        A look that took t seconds is not repeated for t / `SHARE` seconds, so a small project is
        looked at for every question and a huge one now and then.
        """
        started = time.monotonic()
        if started < self._next:
            return []
        before, self._seen = self._seen, self._look()
        now = time.monotonic()
        self._next = now + (now - started) / SHARE - (now - started)
        new = [(p, CREATED) for p in self._seen if p not in before]
        gone = [(p, DELETED) for p in before if p not in self._seen]
        return new + gone + [(p, CHANGED) for p, s in self._seen.items() if before.get(p, s) != s]

    def _look(self) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for entry in self._files():
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            found[entry.path] = (status.st_mtime_ns, status.st_size)
            if len(found) >= MAX_FILES:
                break
        return found

    def _files(self) -> Iterator["os.DirEntry[str]"]:
        folders = [str(self._root)]
        while folders:
            try:
                entries = list(os.scandir(folders.pop()))
            except OSError:
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED and not entry.name.startswith("."):
                        folders.append(entry.path)
                elif entry.name.endswith(self._suffixes) or entry.name in self._names:
                    yield entry
