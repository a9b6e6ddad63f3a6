"""What a look at a tree finds."""

import os
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from fsagent_tools.history.states import ABSENT, State
from fsagent_tools.search.gitignore import Ignores

Stamps = tuple[int, int, int, int, int]  # ctime and mtime in ns, inode, bytes, mode
DirectoryKey = tuple[int, int | None]  # inode and birth of a directory

stamps_of: Callable[[os.stat_result], Stamps] = attrgetter(  # of every file of a tree: in C
    "st_ctime_ns", "st_mtime_ns", "st_ino", "st_size", "st_mode"
)


class Glance(NamedTuple):
    """An entry at one look. stamps: None where there is none. target: of a link.

    settled: no change can have left the same ctime. ignored: `.gitignore` files name it.
    """

    stamps: Stamps | None = None
    target: str = ""
    settled: bool = False
    ignored: bool = False

    @property
    def state(self) -> State:
        if self.stamps is None:
            return ABSENT
        _, mtime, inode, size, mode = self.stamps
        return State.made(mode, (inode, mtime, size), self.target)


GONE = Glance()
Moves = dict[str, tuple[Glance, Glance]]  # path -> before and after; the same: it came into view


@dataclass
class WatchedFolder:
    """A directory; files: what else is in it. closed: directories that are not looked into.

    key: ctime and inode. above: what is hidden in its parent. listed: False where what is in it is
    not known. settled: it has these names as long as it has this ctime.
    """

    key: tuple[int, int]
    mode: int
    above: Ignores
    ignores: Ignores
    ignored: bool = False
    listed: bool = True
    settled: bool = False
    files: dict[str, Stamps] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    closed: dict[str, DirectoryKey] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)

    @property
    def glance(self) -> Glance:
        return Glance((0, 0, 0, 0, self.mode), "", True, self.ignored)


@dataclass(frozen=True)
class Tracked:
    """Files that no rule hides: their names by directory. folders: all on the way to them."""

    names: Mapping[str, Set[str]] = field(default_factory=dict)
    folders: Set[str] = frozenset()

    @classmethod
    def of(cls, entries: Mapping[str, Mapping[str, object]]) -> "Tracked":
        """entries: what git has, by directory and name."""
        folders = {*entries}
        for path in entries:
            while (path := path.rpartition("/")[0]) and path not in folders:
                folders.add(path)
        return cls({path: names.keys() for path, names in entries.items()}, folders)


NO_FOLDER = WatchedFolder((0, 0), 0, Ignores(), Ignores())


def joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
