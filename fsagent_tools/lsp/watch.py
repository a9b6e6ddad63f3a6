"""Notices files that changed on disk since the last look, without an operating-system watcher."""

import os
import re
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import translate
from itertools import chain
from pathlib import Path

from fsagent_tools.lsp.extends import extended

MOST_LISTED = 150_000  # of directories, of any kind: a look at them takes half a second
SKIPPED = frozenset(("node_modules", "__pycache__", "site-packages"))
_MADE = ("pyvenv.cfg", "CACHEDIR.TAG")  # in directories that hold what tools put there
MOST_READ = 1 << 20  # bytes of a changed file that is passed on
CREATED, CHANGED, DELETED = 1, 2, 3
_Status = tuple[int, ...]


class Watch:
    """Files with one of `suffixes` beneath `folders`, each of which lies in the next; and settings:
    those called as one of `names` beneath the first and in the others themselves, and what these
    extend. By size and times, also of what a link leads to.

    A name is a pattern; it may be that of a directory, or of a file in a directory that is skipped
    otherwise. The paths in `hidden` are passed over. partial: there are more than `MOST_LISTED`.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        suffixes: Collection[str],
        names: Collection[str],
        hidden: Collection[str] = (),
    ) -> None:
        self._root, *self._above = map(str, folders)
        self._outermost = str(folders[-1])
        self._hidden = frozenset(hidden)
        self._suffixes = tuple(suffixes)
        self._names = frozenset(names)
        self._named = re.compile("|".join(map(translate, self._names)) or "(?!)")
        self._inner = tuple(f"/{name}" for name in self._names if "/" in name)
        self.partial = False
        self._extended: frozenset[str] = frozenset()
        self._looked = time.monotonic()
        self._seen = self._look()
        self._extended = extended(filter(self.is_setting, self._seen), self._outermost)
        self._seen |= dict(_states(self._extended))

    def changes(self, since: float) -> list[tuple[str, int]]:
        """Absolute paths created, changed or deleted since the last look; none when that look
        began after the monotonic time `since`. New directories come before what is in them: ty
        finds no module in one that it has not heard of.
        """
        if self._looked >= since:
            return []
        self._looked = time.monotonic()
        before, self._seen = self._seen, self._look()
        new = [(p, CREATED) for p in self._seen if p not in before]
        missed = [path for path in before if path not in self._seen]
        gone = [(p, DELETED) for p in missed if not (self.partial and os.path.lexists(p))]
        changed = [(p, CHANGED) for p, s in self._seen.items() if before.get(p, s) != s]
        return [*self._new_folders(new, before), *new, *gone, *changed]

    def is_setting(self, path: str) -> bool:
        """Whether the file has one of `names`, or one that has extends it."""
        name = path.rpartition("/")[2]
        named = bool(self._named.match(name)) or path.endswith(self._inner)
        return named or path in self._extended

    def _new_folders(
        self, new: Collection[tuple[str, int]], before: Collection[str]
    ) -> list[tuple[str, int]]:
        if not new:
            return []
        made = self._folders(path for path, _ in new) - self._folders(before)
        return [(path, CREATED) for path in sorted(made)]

    def _folders(self, paths: Iterable[str]) -> set[str]:
        """The directories of `paths` beneath the last folder."""
        found, within = set[str](), f"{self._outermost}/"
        for path in paths:
            above = path.rpartition("/")[0]
            while above.startswith(within) and above not in found:
                found.add(above)
                above = above.rpartition("/")[0]
        return found

    def _look(self) -> dict[str, _Status]:
        self.partial, self._entries, self._linked = False, 0, set[str]()
        return dict(_states(chain(self._extended, self._files())))

    def _files(self) -> Iterator[str]:
        """The nearest first, so that what is left out of too many is what lies farthest away."""
        yield from self._beneath(self._root)
        inner = self._root
        for folder in self._above:
            settings, sources, below = self._listed(folder)
            yield from (*settings, *sources)
            others = [path for path in below if path != inner] if self._suffixes else []
            yield from self._beneath(*others, settings=False)
            inner = folder

    def _beneath(self, *folders: str, settings: bool = True) -> Iterator[str]:
        ahead = [*folders]
        while ahead and self._entries <= MOST_LISTED:
            named, sources, below = self._listed(ahead.pop())
            yield from (*(named if settings else ()), *sources)
            ahead += below
        self.partial = self.partial or bool(ahead)

    def _listed(self, folder: str) -> tuple[list[str], list[str], list[str]]:
        """Its files called as one of `names`, those with a suffix, its directories."""
        settings, sources, below = list[str](), list[str](), list[str]()
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in (each for each in entries if each.path not in self._hidden):
                self._entries += 1
                named = self._named.match(entry.name)
                if named:
                    settings.append(entry.path)
                if entry.is_dir(follow_symlinks=False) or self._leads_inside(entry):
                    settings += self._inside(entry)
                    if not _is_skipped(entry):
                        below.append(entry.path)
                elif not named and entry.name.endswith(self._suffixes):
                    sources.append(entry.path)
        return settings, sources, below

    def _leads_inside(self, entry: "os.DirEntry[str]") -> bool:
        """Whether it is a link to a directory beneath the last folder, the first one to that."""
        if not (entry.is_symlink() and entry.is_dir()):
            return False
        real = os.path.realpath(entry.path)
        inside = real.startswith(f"{self._outermost}/") and not entry.path.startswith(f"{real}/")
        if not inside or real in self._linked or _is_left_out(real.rpartition("/")[2]):
            return False
        self._linked.add(real)
        return True

    def _inside(self, folder: "os.DirEntry[str]") -> Iterator[str]:
        for name in self._inner:
            if name.startswith(f"/{folder.name}/"):
                path = folder.path + name[len(folder.name) + 1 :]
                if path not in self._hidden:
                    yield path


def _is_skipped(folder: "os.DirEntry[str]") -> bool:
    if _is_left_out(folder.name):
        return True
    return any(os.path.lexists(f"{folder.path}/{name}") for name in _MADE)


def _is_left_out(name: str) -> bool:
    return name in SKIPPED or name.startswith(".")


def _states(paths: Iterable[str]) -> Iterator[tuple[str, _Status]]:
    """Those that are there; of a link also what it leads to."""
    for path in paths:
        with suppress(OSError):
            status = os.lstat(path)
            state = _state(status)
            if stat.S_ISLNK(status.st_mode):
                state += _state(Path(path).stat())
            yield path, state


def _state(status: os.stat_result) -> _Status:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size


def regular_text(path: str) -> str | None:
    """None for what a link leads to, perhaps out of the workspace, and for what is no text."""
    try:
        if os.path.realpath(path) != path:
            return None
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as stream:
            data = stream.read(MOST_READ + 1)
        return data.decode() if len(data) <= MOST_READ else None
    except (OSError, UnicodeDecodeError):
        return None
