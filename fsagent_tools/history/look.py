"""One look at a tree: what changed since the last one."""

import os
import stat
import time
from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from operator import methodcaller
from typing import NamedTuple

from fsagent_tools.history.descent import Descent, is_absent
from fsagent_tools.history.glances import GONE, Moves, Stamps, stamps_of
from fsagent_tools.history.rules import ATTRIBUTES, ignored_beneath, read_rules
from fsagent_tools.history.tree import GRAIN, WatchedFolder, WatchedTree, joined
from fsagent_tools.search.gitignore import Ignores
from fsagent_tools.search.walk import GITIGNORE

MOST_WATCHED = 200_000  # files and directories in a tree that is looked at


def look(tree: WatchedTree) -> Moves:
    """Look again; what may have changed since the last look, at the first nothing.

    Raises `OverflowError` for more than `MOST_WATCHED`.
    """
    one = _Look(tree)
    try:
        one.look()
    finally:
        one.down.close()
    tree.followed = tree.rules
    return one.moved


class _Place(NamedTuple):
    """A directory on the way, whose parent has the rules `above`.

    met: the last look would have met it, so that it was not there if it did not.
    """

    path: str
    above: Ignores
    met: bool


class _Look:
    def __init__(self, tree: WatchedTree) -> None:
        self.tree, self.moved, self.down = tree, Moves(), Descent(tree.root)
        self._now, self._before = time.time_ns(), tree.folders
        self._statuses: dict[str, os.stat_result] = {}

    def look(self) -> None:
        tree, before = self.tree, self._before
        self._look_at_files()
        names = {path.rpartition("/")[2] for path in self.moved}
        if tree.rules is not tree.followed or names & {GITIGNORE, ATTRIBUTES}:
            for folder in before.values():
                folder.ctime = 0
        tree.folders = {}
        self._walk()
        for path in before.keys() - tree.folders.keys():
            self._leave(path, before[path])

    def _look_at_files(self) -> None:
        """Those that were there: one call of the system for each."""
        lstat, enter = os.lstat, self.down.enter
        for path, folder in self._before.items():
            times = folder.ctimes
            try:
                fd = enter(path)
                self._statuses[path] = status = os.fstat(fd)
                # another directory that was moved here may have files of the same times
                same = status.st_ino == folder.stamps[2] and [
                    lstat(name, dir_fd=fd).st_ctime_ns for name in times
                ] == [*times.values()]
            except OSError:
                same = False
            if not same:
                self._look_at_each(path, folder)

    def _look_at_each(self, inside: str, folder: WatchedFolder) -> None:
        """The files of one directory, some of which moved."""
        for name, stamps in [*folder.files.items()]:
            path = joined(inside, name)
            try:
                status = os.lstat(name, dir_fd=self.down.enter(inside))
            except OSError as error:
                if not is_absent(error):  # it may be there as it was
                    continue
                status = None
            if status and (status.st_ctime_ns, status.st_ino) == (folder.ctimes[name], stamps[2]):
                continue
            before, after = self.tree.glance_of(path, stamps), GONE
            if status is None or stat.S_ISDIR(status.st_mode):
                self.tree.forget(path)
                del folder.files[name], folder.ctimes[name]
            else:
                folder.files[name] = stamps = stamps_of(status)
                folder.ctimes[name] = self.tree.note(path, stamps, self.down, self._now)
                after = self.tree.glance_of(path, stamps)
            self.moved[path] = before, after

    def _walk(self) -> None:
        """Directories that changed are listed again."""
        before, folders = self._before, self.tree.folders
        waiting, count = [_Place("", Ignores(), bool(before))], 0
        while waiting:
            place = waiting.pop()
            here = self._seen(place)
            if here is None:
                continue
            folders[place.path] = here
            count += 1 + len(here.files)
            if count > MOST_WATCHED:
                raise OverflowError
            for name in here.folders:
                inner = joined(place.path, name)
                met = inner in before or self._would_meet(place, inner, folder=True)
                waiting.append(_Place(inner, here.ignores, met))

    def _seen(self, place: _Place) -> WatchedFolder | None:
        """A directory as it is now; None if it is gone."""
        was = self._before.get(place.path)
        try:
            status = self._statuses.get(place.path) or os.fstat(self.down.enter(place.path))
            if was and (was.ctime, was.stamps[2]) == (status.st_ctime_ns, status.st_ino):
                return was
            here = self._listed(place, status)
        except OSError as error:  # what is in it may be as it was
            return replace(was, ctime=0) if was and not is_absent(error) else None
        self._compare(place, here)
        return here

    def _would_meet(self, place: _Place, path: str, *, folder: bool) -> bool:
        """Whether the last look would have met an entry of that place, see `_Place`."""
        was = self._before.get(place.path)
        if was is None or not place.met:
            return place.met
        follows = self.tree.followed.enters if folder else self.tree.followed.counts
        return was.listed and follows(path, was.ignores)

    def _compare(self, place: _Place, here: WatchedFolder) -> None:
        """A directory that is new, or has another mode."""
        path, was = place.path, self._before.get(place.path)
        if was is None and self._before:
            glance = GONE if place.met else here.glance
            self.moved[path] = self.moved.get(path, (glance,))[0], here.glance
        elif was and path and was.stamps[4] != here.stamps[4]:
            self.moved[path] = was.glance, here.glance

    def _leave(self, path: str, folder: WatchedFolder) -> None:
        """A directory that is there no more, or that a rule hides by now."""
        for name in folder.files:
            self.tree.forget(joined(path, name))
        if path in self.moved:  # a file has its name
            self.moved[path] = folder.glance, self.moved[path][1]
            return
        try:
            self.down.status(path)
        except OSError as error:
            if is_absent(error):
                self.moved[path] = folder.glance, GONE

    def _listed(self, place: _Place, status: os.stat_result) -> WatchedFolder:
        path, was = place.path, self._before.get(place.path)
        here = replace(was) if was else WatchedFolder(0, (0, 0, 0, 0, 0), place.above)
        here.ctime, here.stamps, here.listed = 0, stamps_of(status), False
        try:
            fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.down.enter(path))
        except PermissionError:
            return here
        try:
            here.files, here.ctimes = {**here.files}, {**here.ctimes}
            with os.scandir(fd) as entries:
                found = [*entries]
            here.ignores = ignores = self._ignores(place, fd, {entry.name for entry in found})
            if not self._before:
                found = self._without_plain(place, here, found)
            names, enters = [one.name for one in found if _is_folder(one)], self.tree.rules.enters
            here.folders = [name for name in names if enters(joined(path, name), ignores)]
            self._take(place, here, [one for one in found if not _is_folder(one)])
        finally:
            os.close(fd)
        here.listed = True
        if status.st_ctime_ns < self._now - GRAIN:
            here.ctime = status.st_ctime_ns
        return here

    def _ignores(self, place: _Place, fd: int, names: set[str]) -> Ignores:
        """The rules in a directory with these names."""
        prefix = joined(place.path, "")
        if ATTRIBUTES in names:
            self.tree.attributes[prefix] = read_rules(ATTRIBUTES, fd)
        if GITIGNORE not in names:
            return place.above
        was = self._before.get(place.path)
        if was and GITIGNORE not in was.files:  # new rules for all that is beneath
            for path, folder in self._before.items():
                if path.startswith(prefix):
                    folder.ctime = 0
        return ignored_beneath(prefix, fd, place.above)

    def _without_plain(
        self, place: _Place, here: WatchedFolder, found: list[os.DirEntry[str]]
    ) -> list[os.DirEntry[str]]:
        """What git has and is a file goes into `here`: most of all, and no rule is asked for it."""
        tracked: Container[str] = self.tree.rules.tracked.get(place.path, ())
        plain = [one for one in found if one.name in tracked and _is_file(one)]
        try:
            stamps = [*map(stamps_of, map(_status, plain))]
        except OSError:
            return found
        ctimes = [one[0] for one in stamps]
        if max(ctimes, default=0) > self._now - GRAIN:
            return found
        names = [one.name for one in plain]
        here.files.update(zip(names, stamps, strict=True))
        here.ctimes.update(zip(names, ctimes, strict=True))
        return [one for one in found if one.name not in here.files]

    def _take(
        self, place: _Place, here: WatchedFolder, entries: Iterable[os.DirEntry[str]]
    ) -> None:
        """What is no directory, into `here`."""
        files, ctimes = here.files, here.ctimes
        prefix, rules, young = joined(place.path, ""), self.tree.rules, self._now - GRAIN
        tracked: Container[str] = rules.tracked.get(place.path, ())
        for entry in entries:
            name = entry.name
            if name not in tracked and not rules.counts(prefix + name, here.ignores):
                if files.pop(name, None):
                    del ctimes[name]
                    self.tree.forget(prefix + name)
            elif name not in files:
                try:
                    stamps = stamps_of(entry.stat(follow_symlinks=False))
                except OSError:
                    continue
                files[name], ctimes[name] = stamps, stamps[0]
                if stamps[0] > young or self._before or entry.is_symlink():
                    ctimes[name] = self._meet(place, prefix + name, stamps)

    def _meet(self, place: _Place, path: str, stamps: Stamps) -> int:
        """What is no directory and was not looked at before; returns its ctime, 0 if young."""
        ctime = self.tree.note(path, stamps, self.down, self._now)
        if self._before:
            glance = self.tree.glance_of(path, stamps)
            first = GONE if self._would_meet(place, path, folder=False) else glance
            self.moved[path] = self.moved.get(path, (first,))[0], glance
        return ctime


# Called for every entry of a tree: in C.
_is_folder: Callable[[os.DirEntry[str]], bool] = methodcaller("is_dir", follow_symlinks=False)
_is_file: Callable[[os.DirEntry[str]], bool] = methodcaller("is_file", follow_symlinks=False)
_status: Callable[[os.DirEntry[str]], os.stat_result] = methodcaller("stat", follow_symlinks=False)
