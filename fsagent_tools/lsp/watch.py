"""Notices files that changed on disk since the last look, without an operating-system watcher."""

import os
import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import translate
from pathlib import Path

MAX_FILES = 100_000  # a look at them takes half a second
SKIPPED = frozenset(("node_modules", "__pycache__", "site-packages"))
_MADE = ("pyvenv.cfg", "CACHEDIR.TAG")  # in directories that hold what tools put there
CREATED, CHANGED, DELETED = 1, 2, 3


class Watch:
    """Files with one of `suffixes` beneath the first of `folders`, and those called as one of
    `names` there and in the other folders themselves; by size and times.

    A name is a pattern; it may be that of a directory, or of a file in a directory that is skipped
    otherwise. The paths in `hidden` are passed over. partial: there are more than `MAX_FILES`.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        suffixes: Collection[str],
        names: Collection[str],
        hidden: Collection[str] = (),
    ) -> None:
        self._root, *self._above = map(str, folders)
        self._hidden = frozenset(hidden)
        self._suffixes = tuple(suffixes)
        self._names = frozenset(names)
        self._named = re.compile("|".join(map(translate, self._names)) or "(?!)")
        self._inner = tuple(f"/{name}" for name in self._names if "/" in name)
        self._looked = time.monotonic()
        self._seen = self._look()

    def changes(self, since: float) -> list[tuple[str, int]]:
        """Absolute paths created, changed or deleted since the last look; none when that look
        began after the monotonic time `since`. New directories come before what is in them.
        """
        if self._looked >= since:
            return []
        self._looked = time.monotonic()
        before, self._seen = self._seen, self._look()
        new = [(p, CREATED) for p in self._seen if p not in before]
        gone = [(p, DELETED) for p in before if p not in self._seen]
        changed = [(p, CHANGED) for p, s in self._seen.items() if before.get(p, s) != s]
        return [*self._new_folders(new, before), *new, *gone, *changed]

    @property
    def partial(self) -> bool:
        return len(self._seen) > MAX_FILES

    def is_setting(self, path: str) -> bool:
        """Whether the file has one of `names`."""
        name = path.rpartition("/")[2]
        return bool(self._named.match(name)) or path.endswith(self._inner)

    def _new_folders(
        self, new: Collection[tuple[str, int]], before: Collection[str]
    ) -> list[tuple[str, int]]:
        if not new:
            return []
        made = self._folders(path for path, _ in new) - self._folders(before)
        return [(path, CREATED) for path in sorted(made)]

    def _folders(self, paths: Iterable[str]) -> set[str]:
        """The directories of `paths` beneath the root."""
        found, within = set[str](), f"{self._root}/"
        for path in paths:
            above = path.rpartition("/")[0]
            while above.startswith(within) and above not in found:
                found.add(above)
                above = above.rpartition("/")[0]
        return found

    def _look(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for path in self._files():
            with suppress(OSError):
                status = os.lstat(path)
                found[path] = (status.st_mtime_ns, status.st_ctime_ns, status.st_size)
            if len(found) > MAX_FILES:
                break
        return found

    def _files(self) -> Iterator[str]:
        for path in self._above:
            yield from self._listed(path)[0]
        ahead = [self._root]
        while ahead:
            settings, sources, below = self._listed(ahead.pop())
            yield from settings
            yield from sources
            ahead += below

    def _listed(self, folder: str) -> tuple[list[str], list[str], list[str]]:
        """Its files called as one of `names`, those with a suffix, its directories."""
        settings, sources, below = list[str](), list[str](), list[str]()
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in (each for each in entries if each.path not in self._hidden):
                named = self._named.match(entry.name)
                if named:
                    settings.append(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    settings += self._inside(entry)
                    if not _is_skipped(entry):
                        below.append(entry.path)
                elif not named and entry.name.endswith(self._suffixes):
                    sources.append(entry.path)
        return settings, sources, below

    def _inside(self, folder: "os.DirEntry[str]") -> Iterator[str]:
        for name in self._inner:
            if name.startswith(f"/{folder.name}/"):
                path = folder.path + name[len(folder.name) + 1 :]
                if path not in self._hidden:
                    yield path


def _is_skipped(folder: "os.DirEntry[str]") -> bool:
    if folder.name in SKIPPED or folder.name.startswith("."):
        return True
    return any(os.path.lexists(f"{folder.path}/{name}") for name in _MADE)
