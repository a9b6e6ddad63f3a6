"""What of a workspace is closed to the programs that run in it, found by a walk of our own.

A directory is read again only when it has changed. Links stay as they are: a policy is about what
they lead to, and nothing can be put over a link.
"""

import os
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from fsagent_tools.policy import Closing, Policy
from fsagent_tools.policy.paths import composed
from fsagent_tools.policy.protected import GIT_OF_COMMANDS, OWN_PYTHON, REPOSITORIES
from fsagent_tools.state import own_state

_SETTLED = 1_000_000_000  # ns without a change until a directory's time tells of the next one
_OF_OTHERS = ("/proc", "/sys", "/dev")
_KEPT_INSIDE = ("modules", "worktrees")  # of a `.git`: submodules and further work trees
_MOST_INSIDE = 1000  # files and directories that are marked in closed ones, in all
_Mark = tuple[str, int, int]  # a path, its inode, and when it changed where that matters


@dataclass(frozen=True)
class Closed:
    """Absolute paths, see `Profile`; `marks` tell what is there now from what was there before.

    denied: whether the policy wants any of `hidden`, which has our own records, too. whole:
    closed files, and directories with all that is in them, that are marked as well.
    """

    hidden: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    marks: frozenset[_Mark] = frozenset()
    denied: bool = False
    whole: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Directory:
    stamp: tuple[int, ...] | None  # None: it may yet change without a new time
    found: tuple[tuple[str, Closing], ...]
    below: tuple[str, ...]


class Survey:
    """Looks through one root, again and again."""

    def __init__(self, root: str, policy: Policy) -> None:
        self.root, self._policy = root.rstrip("/"), policy
        self._known: dict[str, _Directory] = {}
        self._own = own_state()
        self._others = (*policy.denied_places, *self._own)
        self._apart: dict[str, tuple[tuple[int, int], bool]] = {}

    def look(self, *, inside: bool = False) -> Closed:
        """What is closed now. inside: for a program that could change it all the same."""
        others = [path for place in self._others for path in _spellings(place)]
        found = [*self._walk()]
        closed = self._closed(found, [p for p in others if self._is_apart(p)])
        if not inside:
            return closed
        hidden = (path for path, how in found if how == "hidden" and not os.path.islink(path))
        marks, whole = _inside((*closed.read_only, *sorted(hidden)))
        return replace(closed, marks=closed.marks | marks, whole=whole)

    def _closed(self, found: list[tuple[str, Closing]], others: list[str]) -> Closed:
        if not found:
            return Closed(hidden=tuple(others), denied=any(p not in self._own for p in others))
        hidden, read_only, pinned, marks = set(others), set[str](), set[str](), set[_Mark]()
        for path, how in found:
            with suppress(OSError):
                status = os.lstat(path)
                marks.add((path, status.st_ino, 0))
                if stat.S_ISLNK(status.st_mode):
                    continue
                if how == "hidden":
                    hidden.add(path)
                elif os.path.basename(path) in REPOSITORIES and stat.S_ISDIR(status.st_mode):
                    repositories = [path, *_kept_inside(path)]
                    read_only |= {f for place in repositories for f in _delicate(place)}
                    pinned |= {above for place in repositories for above in self._way(place)}
                else:
                    read_only.add(path)
                pinned.update(self._way(os.path.dirname(path)))
        marks |= {mark for path in read_only for mark in _marks(path)}
        paths = [tuple(sorted(each)) for each in (hidden, read_only, pinned)]
        denied = any(path not in self._own for path in hidden)
        return Closed(paths[0], paths[1], paths[2], frozenset(marks), denied)

    def new(self, before: Closed) -> tuple[str, ...]:
        """Paths from the root that have appeared or changed since `before`, the topmost of each."""
        told, found = list[str](), [*self._walk()]
        now = self._closed(found, []).marks | {m for p in before.whole for m in _after(p)}
        marks = now - before.marks
        for path in sorted({path for path, *_ in marks}):
            if not told or not f"{path}/".startswith(f"{told[-1]}/"):
                told.append(path)
        return tuple(os.path.relpath(path, self.root or "/") for path in told)

    def _is_apart(self, path: str) -> bool:
        """Whether it is there, and holds neither the root nor what is temporary."""
        try:
            status = os.stat(path)
        except OSError:
            return False
        place = status.st_dev, status.st_ino
        known, apart = self._apart.get(path, (None, False))
        if known != place:
            real, needed = os.path.realpath(path), (self.root, tempfile.gettempdir())
            apart = not any(f"{n}/".startswith(f"{real}/") for n in needed)
            self._apart[path] = place, apart
        return apart

    def _walk(self) -> Iterator[tuple[str, Closing]]:
        known, ahead = dict[str, _Directory](), [self.root]
        while ahead:
            path = ahead.pop()
            with suppress(OSError):
                known[path] = directory = self._directory(path)
                yield from directory.found
                ahead += directory.below
        self._known = known

    def _directory(self, path: str) -> _Directory:
        now, status = time.time_ns(), os.lstat(path or "/")
        changed = status.st_ctime_ns  # unlike the other times nobody can set it
        stamp = (status.st_dev, status.st_ino, changed)
        known = self._known.get(path)
        if known is not None and known.stamp == stamp:
            return known
        found, below = list[tuple[str, Closing]](), list[str]()
        with os.scandir(path or "/") as entries:
            for entry in entries:
                inner = f"{path}/{entry.name}"
                how = self._policy.closes(inner[len(self.root) + 1 :], inner)
                if how:
                    found.append((inner, how))
                inside = how is None or (how == "read_only" and self._policy.denied_paths)
                if inside and entry.is_dir(follow_symlinks=False) and inner not in _OF_OTHERS:
                    below.append(inner)
        settled = changed < now - _SETTLED
        return _Directory(stamp if settled else None, tuple(found), tuple(below))

    def _way(self, path: str) -> Iterator[str]:
        """The directory `path` and those above it, beneath the root."""
        while len(path) > len(self.root):
            yield path
            path = path.rpartition("/")[0]


def _spellings(place: str) -> list[str]:
    """The paths that a denied place may have on disk, since a rule holds however the letters of a
    name are composed.
    """
    if place.isascii():
        return [place]
    ways = [""]
    for name in place.strip("/").split("/"):
        ways = [f"{way}/{each}" for way in ways for each in _alike(way, name)]
    return ways


def _alike(folder: str, name: str) -> set[str]:
    if not name.isascii():
        with suppress(OSError):
            names = os.listdir(folder or "/")
            return {name, *(each for each in names if composed(each) == composed(name))}
    return {name}


def _delicate(repository: str) -> list[str]:
    paths = [f"{repository}/{name}" for name in GIT_OF_COMMANDS]
    return [path for path in paths if os.path.exists(path) and not os.path.islink(path)]


def _kept_inside(folder: str, groups: tuple[str, ...] = _KEPT_INSIDE) -> Iterator[str]:
    """Repositories inside a `.git`; their names may have slashes."""
    for group in groups:
        with suppress(OSError), os.scandir(f"{folder}/{group}") as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    continue
                if os.path.exists(f"{entry.path}/HEAD"):
                    yield entry.path
                    yield from _kept_inside(entry.path)
                else:
                    yield from _kept_inside(f"{folder}/{group}", (entry.name,))


def _inside(paths: Sequence[str]) -> tuple[frozenset[_Mark], tuple[str, ...]]:
    """The marks of closed paths with all that is in them, and of which there are: not of those
    where it is very much. All in all it takes as long as `_MOST_INSIDE` files do.
    """
    marks, whole, left = set[_Mark](), list[str](), _MOST_INSIDE
    for path in paths:
        if path in OWN_PYTHON:
            continue
        found = _all_marks(path, left)
        if len(found) <= left:
            marks.update(found)
            whole.append(path)
        left = max(0, left - len(found) + (0 if os.path.isdir(path) else 1))
    return frozenset(marks), tuple(whole)


def _after(path: str) -> list[_Mark]:
    """The marks of one that was marked before; of itself alone if it has become very much."""
    found = _all_marks(path, 2 * _MOST_INSIDE)
    return found if len(found) <= 2 * _MOST_INSIDE else [(path, 0, 0)]


def _all_marks(path: str, most: int) -> list[_Mark]:
    """Of a file, or of a directory and what is in it: of `most` and one of them, if there are."""
    marks, ahead = [*_marks(path)], [path]
    while ahead and len(marks) <= most:
        with suppress(OSError), os.scandir(ahead.pop()) as entries:
            for entry in islice(entries, most + 1 - len(marks)):
                marks += _marks(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    ahead.append(entry.path)
    return marks


def _marks(path: str) -> Iterator[_Mark]:
    with suppress(OSError):
        status = os.lstat(path)
        yield path, status.st_ino, status.st_ctime_ns
