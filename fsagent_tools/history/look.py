"""What is in a tree at one moment, and what became of it since an earlier one."""

import os
import stat
import time
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace

from fsagent_tools.files.atomic import RECOVERY_PREFIX
from fsagent_tools.files.base import TEMP_PREFIX
from fsagent_tools.files.open_file import READ, birth_ns, opened
from fsagent_tools.history.descent import Descent, is_absent
from fsagent_tools.history.glances import (
    GONE,
    NO_FOLDER,
    Glance,
    Moves,
    Stamps,
    Tracked,
    WatchedFolder,
    joined,
    stamps_of,
)
from fsagent_tools.search.gitignore import MAX_BYTES, Ignores
from fsagent_tools.search.walk import GIT_DIRECTORY, GITIGNORE, NOISE

GRAIN = 50_000_000  # ns within which a time may not tell of a further change
MOST_WATCHED = 200_000  # files and directories in a tree that is looked at
MOST_IGNORED = 20_000  # of them what `.gitignore` files name
_OWN = ".ai"
_TEMPORARY = (TEMP_PREFIX, RECOVERY_PREFIX)


@dataclass
class Look:
    """The entries beneath `root`, but for what is in `.git` and in directories such as build.

    began: in ns since 1970.
    """

    root: str
    tracked: Tracked = field(default_factory=Tracked)
    began: int = field(default_factory=time.time_ns)
    folders: dict[str, WatchedFolder] = field(default_factory=dict)

    def sees(self, path: str) -> bool:
        """Whether it would have met an entry of that path."""
        while path:
            path, _, name = path.rpartition("/")
            if folder := self.folders.get(path):
                return folder.listed and name not in folder.closed
        return False

    def is_settled(self, ctime: int) -> bool:
        return ctime < self.began - GRAIN

    def glance(self, path: str) -> Glance:
        """What is no directory."""
        inside, _, name = path.rpartition("/")
        folder = self.folders.get(inside)
        stamps = folder.files.get(name) if folder else None
        if folder is None or stamps is None:
            return GONE
        settled, hidden = self.is_settled(stamps[0]), name in folder.hidden
        return Glance(stamps, folder.links.get(name, ""), settled, hidden)

    def again(self, tracked: Tracked) -> "Look":
        """Another one, now. Raises `OverflowError` for more than `MOST_WATCHED`."""
        walk = _Walk(self, Look(self.root, self.tracked if tracked == self.tracked else tracked))
        try:
            walk.walk()
        finally:
            walk.down.close()
        return walk.now

    def moves(self, now: "Look") -> tuple[Moves, list[str]]:
        """What may have changed from here to `now`, and directories that went and were closed."""
        old, new, lost = dict[str, Glance](), dict[str, Glance](), list[str]()
        for path in self.folders.keys() | now.folders.keys():
            was, became = self.folders.get(path), now.folders.get(path)
            if was is became:
                continue
            before, after = was or NO_FOLDER, became or NO_FOLDER
            for name, _ in before.files.items() - after.files.items():
                old[joined(path, name)] = self.glance(joined(path, name))
            for name, _ in after.files.items() - before.files.items():
                new[joined(path, name)] = now.glance(joined(path, name))
            if path and before.mode != after.mode:
                old |= {path: was.glance} if was else {}
                new |= {path: became.glance} if became else {}
            gone = before.closed.keys() - after.closed.keys() - {*after.folders}
            lost += [joined(path, name) for name in gone if now.sees(joined(path, name))]
        return self._paired(now, old, new), sorted(lost)

    def _paired(self, now: "Look", old: dict[str, Glance], new: dict[str, Glance]) -> Moves:
        """What came into view was there before, and what went out of view is there still."""
        moved = Moves()
        for path in old.keys() | new.keys():
            first, last = old.get(path, GONE), new.get(path, GONE)
            if path not in old and (last.ignored or not self.sees(path)):
                first = last
            if path in new or now.sees(path):
                moved[path] = first, last
        return moved


class _Walk:
    def __init__(self, before: Look, now: Look) -> None:
        self.before, self.now, self.down = before, now, Descent(now.root)
        self._closed = {one for folder in before.folders.values() for one in folder.closed.values()}
        self._inodes = {inode for inode, _ in self._closed}
        self._ignored = 0

    def walk(self) -> None:
        # the same object as before, so that nothing is listed anew for it
        top = self.before.folders.get("", NO_FOLDER)
        waiting, count = [("", top.above, False)], 0
        while waiting:
            path, above, ignored = waiting.pop()
            if (found := self._seen(path, above, ignored)) is None:
                continue
            self.now.folders[path] = found
            count += 1 + len(found.files)
            self._ignored += len(found.hidden)
            if count > MOST_WATCHED:
                raise OverflowError
            for name in found.folders:
                waiting.append((joined(path, name), found.ignores, name in found.hidden))

    def _seen(self, path: str, above: Ignores, ignored: bool) -> WatchedFolder | None:
        """A directory as it is now; None if it is gone."""
        was = self.before.folders.get(path)
        try:
            fd = self.down.enter(path)
            status = os.fstat(fd)
            same = was and was.settled and was.key == (status.st_ctime_ns, status.st_ino)
            if was and same and was.above is above and self.now.tracked is self.before.tracked:
                try:
                    files = {name: stamps_of(os.lstat(name, dir_fd=fd)) for name in was.files}
                except FileNotFoundError:  # this very moment
                    return self._listed(path, fd, status, above, ignored)
                if files == was.files:
                    return was
                if files.get(GITIGNORE) == was.files.get(GITIGNORE):
                    return replace(was, files=files, links=_links(fd, files))
            return self._listed(path, fd, status, above, ignored)
        except OSError as error:  # it may be as it was
            return None if is_absent(error) else was

    def _listed(
        self, path: str, fd: int, status: os.stat_result, above: Ignores, ignored: bool
    ) -> WatchedFolder:
        was, settled = self.before.folders.get(path), self.now.is_settled(status.st_ctime_ns)
        key = status.st_ctime_ns, status.st_ino
        made = WatchedFolder(key, status.st_mode, above, above, ignored, settled=settled)
        try:
            with opened(fd, ".") as listing, os.scandir(listing) as entries:
                found = [*entries]
                if ignored and self._ignored + len(found) > MOST_IGNORED:
                    made.listed = False
                else:
                    self._take(path, listing, made, found)
        except PermissionError:  # what is in it may be as it was
            return replace(was or made, mode=made.mode, listed=False, settled=False)
        return made

    def _take(
        self, path: str, fd: int, into: WatchedFolder, found: Iterable[os.DirEntry[str]]
    ) -> None:
        tracked: Set[str] = self.now.tracked.names.get(path, frozenset())
        directories = []
        for entry in found:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                directories.append(entry)
            elif name in tracked or not name.startswith(_TEMPORARY):
                try:
                    into.files[name] = stamps_of(entry.stat(follow_symlinks=False))
                except OSError:
                    continue
        into.links = _links(fd, into.files)
        self._set_rules(path, fd, into)
        prefix, hides = joined(path, ""), into.ignores.hides
        into.hidden = {
            name
            for name in into.files.keys() - tracked
            if into.ignored or hides(prefix + name, is_directory=False)
        }
        for entry in directories:
            name, inner = entry.name, prefix + entry.name
            leads = inner in self.now.tracked.folders
            if self._is_closed(inner, entry, fd, leads=leads):
                into.closed[name] = entry.inode(), birth_ns(fd, name)
                continue
            into.folders.append(name)
            if not leads and (into.ignored or hides(inner, is_directory=True)):
                into.hidden.add(name)

    def _is_closed(self, path: str, entry: os.DirEntry[str], fd: int, *, leads: bool) -> bool:
        """leads: to what git has."""
        name = entry.name
        if name == GIT_DIRECTORY or path == _OWN or (name in NOISE and not leads):
            return True
        # moved here from where it was closed: what is in it was there before
        inode = entry.inode()
        return inode in self._inodes and (inode, birth_ns(fd, name)) in self._closed

    def _set_rules(self, path: str, fd: int, into: WatchedFolder) -> None:
        was = self.before.folders.get(path)
        if GITIGNORE not in into.files or into.ignored:
            return
        same = was and was.above is into.above
        if was and same and was.files.get(GITIGNORE) == into.files[GITIGNORE]:
            into.ignores = was.ignores
        else:
            text = read_beneath(GITIGNORE, fd).decode("utf-8", "replace")
            into.ignores = into.above.beneath(joined(path, ""), text)


def read_beneath(name: str, fd: int) -> bytes:
    """The text of a file with rules in an open directory; empty for what cannot be read."""
    with suppress(OSError), opened(fd, name, READ | os.O_NOFOLLOW) as file:
        return os.read(file, MAX_BYTES)
    return b""


def _links(fd: int, files: Mapping[str, Stamps]) -> dict[str, str]:
    names = [name for name, stamps in files.items() if stat.S_ISLNK(stamps[4])]
    return {name: os.readlink(name, dir_fd=fd) for name in names}
