"""A tree as it was last looked at."""

import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from fsagent_tools.history.descent import Descent
from fsagent_tools.history.glances import Glance, Stamps
from fsagent_tools.history.rules import WatchRules
from fsagent_tools.history.states import State
from fsagent_tools.search.gitignore import Ignores

GRAIN = 50_000_000  # ns within which a time may not tell of a further change


@dataclass
class WatchedFolder:
    """A directory; files: what else is in it.

    ctime: 0: read it again. ctimes: of the files, 0 of those that are not settled. ignores: what
    is hidden in it. listed: False where it could not be read at the last look.
    """

    ctime: int
    stamps: Stamps
    ignores: Ignores
    folders: list[str] = field(default_factory=list)
    files: dict[str, Stamps] = field(default_factory=dict)
    ctimes: dict[str, int] = field(default_factory=dict)
    listed: bool = False

    @property
    def glance(self) -> Glance:
        return Glance(self.stamps, "", True)


@dataclass
class WatchedTree:
    """The entries beneath `root` that no rule hides.

    rules: to be followed from the next look on; followed: those of the last one. attributes: the
    texts of its `.gitattributes`. young: files that are not settled.
    """

    root: str
    rules: WatchRules = field(default_factory=WatchRules)
    followed: WatchRules = field(default_factory=WatchRules)
    attributes: dict[str, bytes] = field(default_factory=dict)
    folders: dict[str, WatchedFolder] = field(default_factory=dict)
    young: set[str] = field(default_factory=set)
    _targets: dict[str, str] = field(default_factory=dict)

    def glance(self, path: str) -> Glance:
        """What is no directory."""
        inside, _, name = path.rpartition("/")
        folder = self.folders.get(inside)
        return self.glance_of(path, folder.files.get(name) if folder else None)

    def glance_of(self, path: str, stamps: Stamps | None) -> Glance:
        return Glance(stamps, self._targets.get(path, ""), path not in self.young)

    def states(self) -> Iterator[State]:
        """Of all that is no directory."""
        for folder in self.folders.values():
            yield from (Glance(stamps).state for stamps in folder.files.values())

    def forget(self, path: str) -> None:
        self._targets.pop(path, None)
        self.young.discard(path)

    def note(self, path: str, stamps: Stamps, down: Descent, now: int) -> int:
        """What is no directory. Returns its ctime, 0 if that is not settled."""
        if stat.S_ISLNK(stamps[4]):
            with suppress(OSError):
                self._targets[path] = down.link(path)
        if stamps[0] > now - GRAIN:
            self.young.add(path)
            return 0
        self.young.discard(path)
        return stamps[0]


def joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
