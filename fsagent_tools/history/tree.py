"""What is in a tree, looked at again and again: which files changed since the last look."""

import os
import stat
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from fsagent_tools.files.replace import RECOVERY_PREFIX, TEMP_PREFIX
from fsagent_tools.history.descent import Descent
from fsagent_tools.history.states import ABSENT, State
from fsagent_tools.search.gitignore import MAX_BYTES, Ignores
from fsagent_tools.search.walk import GIT_DIRECTORY, GITIGNORE, NOISE

MOST_WATCHED = 200_000  # files and directories in a tree that is looked at
_GRAIN = 50_000_000  # ns within which a time may not tell of a further change
_OWN = ".ai"
_ATTRIBUTES = ".gitattributes"


Stamps = tuple[int, int, int, int, int]  # ctime and mtime in ns, inode, bytes, mode


class Glance(NamedTuple):
    """An entry at one look. stamps: None where there is none. target: of a link.

    settled: no change can have left the same ctime.
    """

    stamps: Stamps | None
    target: str = ""
    settled: bool = False

    @property
    def state(self) -> State:
        if self.stamps is None:
            return ABSENT
        _, mtime, inode, size, mode = self.stamps
        return State.made(mode, (inode, mtime, size), self.target)


Moves = dict[str, tuple[Glance, Glance]]  # path -> before and after
GONE = Glance(None)


@dataclass
class _Folder:
    ctime: int  # 0: read it again
    stamps: Stamps
    folders: list[str]
    ignores: Ignores


@dataclass
class WatchedTree:
    """The entries beneath `root` that no rule of `.gitignore` hides, as they were last looked at.

    tracked, tracked_folders: what no rule hides. attributes: the texts of its `.gitattributes`.
    files: what is no directory; young: those of them that are not settled.
    """

    root: str
    tracked: Container[str] = ()
    tracked_folders: Container[str] = ()
    attributes: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, Stamps] = field(default_factory=dict)
    _targets: dict[str, str] = field(default_factory=dict)
    young: set[str] = field(default_factory=set)
    _folders: dict[str, _Folder] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._down = Descent(self.root)

    def look(self) -> Moves:
        """Look again; what may have changed since the last look, at the first nothing.

        Raises `OverflowError` for more than `MOST_WATCHED`.
        """
        moved = Moves()
        try:
            self._look(moved, time.time_ns())
        finally:
            self._down.close()
        return moved

    def _look(self, moved: Moves, now: int) -> None:
        self._look_at_files(moved, now)
        if any(path.rpartition("/")[2] == GITIGNORE for path in moved):
            self._look_at_rules()
        before, self._folders = self._folders, {}
        found = None if not before else moved
        for path, folder in self._walk(before, found, now):
            self._folders[path] = folder
            if len(self._folders) + len(self.files) > MOST_WATCHED:
                raise OverflowError
        if before:
            self._compare_folders(before, moved)

    def _compare_folders(self, before: Mapping[str, _Folder], moved: Moves) -> None:
        """Those that came, went or have another mode."""
        for path in before.keys() ^ self._folders.keys():
            was, here = before.get(path), self._folders.get(path)
            if path in moved:  # a file became a directory, or a directory a file
                first, last = moved[path]
                moved[path] = (first, _glance(here)) if here else (_glance(was), last)
            elif here or not self._is_there(path):  # else only hidden by now
                moved[path] = _glance(was), _glance(here)
        for path in before.keys() & self._folders.keys():
            was, here = before[path], self._folders[path]
            if path and was is not here and was.stamps[4] != here.stamps[4]:
                moved[path] = _glance(was), _glance(here)

    def glance(self, path: str) -> Glance:
        """What is no directory, as last looked at."""
        stamps = self.files.get(path)
        return Glance(stamps, self._targets.get(path, ""), path not in self.young)

    def _look_at_files(self, moved: Moves, now: int) -> None:
        """Those that were there: one call of the system for each."""
        lstat, found = os.lstat, list[tuple[str, os.stat_result | None]]()
        inside, fd = None, -1
        for path, stamps in self.files.items():
            folder, _, name = path.rpartition("/")
            try:
                if folder != inside:
                    inside, fd = folder, -1
                    fd = self._down.enter(folder)
                status = lstat(name, dir_fd=fd)
            except OSError:
                found.append((path, None))
                continue
            if status.st_ctime_ns != stamps[0]:
                found.append((path, None if stat.S_ISDIR(status.st_mode) else status))
        for path in self.young - {path for path, _ in found}:
            with suppress(OSError):
                found.append((path, self._down.status(path)))
        for path, here in found:
            before = self.glance(path)
            if here is None:
                self._drop(path)
            else:
                self._note(path, here, now)
            moved[path] = before, self.glance(path)

    def _drop(self, path: str) -> None:
        self.files.pop(path, None)
        self._targets.pop(path, None)
        self.young.discard(path)

    def _note(self, path: str, status: os.stat_result, now: int) -> None:
        self.files[path] = _stamps(status)
        if status.st_ctime_ns > now - _GRAIN:
            self.young.add(path)
        elif self.young:
            self.young.discard(path)
        if stat.S_ISLNK(status.st_mode):
            with suppress(OSError):
                self._targets[path] = self._down.link(path)

    def _is_there(self, path: str) -> bool:
        with suppress(OSError):
            self._down.status(path)
            return True
        return False

    def _look_at_rules(self) -> None:
        """Other rules hold: read every directory again, and forget what is hidden by now."""
        for folder in self._folders.values():
            folder.ctime = 0

    def _walk(
        self, before: Mapping[str, _Folder], moved: Moves | None, now: int
    ) -> Iterator[tuple[str, _Folder]]:
        waiting = [("", Ignores())]
        while waiting:
            path, above = waiting.pop()
            with suppress(OSError):  # gone, or not ours to read
                status = self._down.status(path)
                folder = before.get(path)
                if folder is None or folder.ctime != status.st_ctime_ns:
                    folder = self._listed(path, status, above, moved, now)
                yield path, folder
                prefix = f"{path}/" if path else ""
                waiting += [(prefix + name, folder.ignores) for name in folder.folders]

    def _listed(
        self, path: str, status: os.stat_result, above: Ignores, moved: Moves | None, now: int
    ) -> _Folder:
        prefix = f"{path}/" if path else ""
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._down.enter(path))
        try:
            names, others = list[str](), list[os.DirEntry[str]]()
            with os.scandir(fd) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        names.append(entry.name)
                    else:
                        others.append(entry)
            ignores = self._rules(fd, prefix, {entry.name for entry in others}, above)
            names = [name for name in names if self._enters(name, prefix + name, ignores)]
            self._meet(others, prefix, ignores, moved, now)
        finally:
            os.close(fd)
        ctime = status.st_ctime_ns if status.st_ctime_ns < now - _GRAIN else 0
        return _Folder(ctime, _stamps(status), names, ignores)

    def _rules(self, fd: int, prefix: str, names: Container[str], above: Ignores) -> Ignores:
        """What is ignored in a directory with these names."""
        if _ATTRIBUTES in names:
            self.attributes[prefix] = _read(_ATTRIBUTES, fd)
        if GITIGNORE not in names:
            return above
        return above.beneath(prefix, _read(GITIGNORE, fd).decode("utf-8", "replace"))

    def _meet(
        self,
        entries: "Iterable[os.DirEntry[str]]",
        prefix: str,
        ignores: Ignores,
        moved: Moves | None,
        now: int,
    ) -> None:
        """What is no directory: noted if it is new."""
        files, tracked, young = self.files, self.tracked, now - _GRAIN
        for entry in entries:
            path = prefix + entry.name
            counts = path in tracked or self._counts(entry.name, path, ignores)
            if path in files or not counts:
                if not counts:
                    self._drop(path)
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            files[path] = stamps = _stamps(status)
            if stamps[0] > young or entry.is_symlink():
                self._note(path, status, now)
            if moved is not None:
                moved[path] = moved.get(path, (GONE, GONE))[0], self.glance(path)

    def _enters(self, name: str, path: str, ignores: Ignores) -> bool:
        if name == GIT_DIRECTORY or path == _OWN:
            return False
        if path in self.tracked_folders:
            return True
        return name not in NOISE and not (ignores.files and ignores.hides(path, is_directory=True))

    def _counts(self, name: str, path: str, ignores: Ignores) -> bool:
        if name.startswith((TEMP_PREFIX, RECOVERY_PREFIX)):
            return False
        return not (ignores.files and ignores.hides(path, is_directory=False))


# Called for every file of a tree: in C.
_stamps: Callable[[os.stat_result], Stamps] = attrgetter(
    "st_ctime_ns", "st_mtime_ns", "st_ino", "st_size", "st_mode"
)


def _glance(folder: _Folder | None) -> Glance:
    return Glance(folder.stamps, "", True) if folder else GONE


def _read(name: str, inside: int) -> bytes:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=inside)
    except OSError:
        return b""
    try:
        return os.read(fd, MAX_BYTES)
    finally:
        os.close(fd)
