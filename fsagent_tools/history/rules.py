"""Which entries of a tree are looked at: all that no rule of `.gitignore` hides."""

import os
from collections.abc import Container, Iterable, Mapping, Set
from dataclasses import field

from fsagent_tools.files.replace import RECOVERY_PREFIX, TEMP_PREFIX
from fsagent_tools.records import dataclass
from fsagent_tools.search.gitignore import MAX_BYTES, Ignores
from fsagent_tools.search.walk import GIT_DIRECTORY, GITIGNORE, NOISE

ATTRIBUTES = ".gitattributes"
_OWN = ".ai"


@dataclass(frozen=True)
class WatchRules:
    """tracked: files that no rule hides, as names by directory. folders: all on the way to them."""

    tracked: Mapping[str, Set[str]] = field(default_factory=dict)
    folders: Container[str] = ()

    @classmethod
    def tracking(cls, entries: Mapping[str, Mapping[str, object]]) -> "WatchRules":
        """entries: what git has, by directory and name."""
        return cls({path: names.keys() for path, names in entries.items()}, _with_parents(entries))

    def enters(self, path: str, ignores: Ignores) -> bool:
        """Whether a directory is looked into. ignores: the rules of the one that it is in."""
        name = path.rpartition("/")[2]
        if name == GIT_DIRECTORY or path == _OWN:
            return False
        if path in self.folders:
            return True
        return name not in NOISE and not (ignores.files and ignores.hides(path, is_directory=True))

    def counts(self, path: str, ignores: Ignores) -> bool:
        """Whether what is no directory is looked at."""
        folder, _, name = path.rpartition("/")
        if name in self.tracked.get(folder, ()):
            return True
        if name.startswith((TEMP_PREFIX, RECOVERY_PREFIX)):
            return False
        return not (ignores.files and ignores.hides(path, is_directory=False))


def ignored_beneath(prefix: str, fd: int, above: Ignores) -> Ignores:
    """The rules in an open directory that has a `.gitignore`. above: those of its parent."""
    return above.beneath(prefix, read_rules(GITIGNORE, fd).decode("utf-8", "replace"))


def read_rules(name: str, inside: int) -> bytes:
    """The text of a file with rules; empty for what cannot be read."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=inside)
    except OSError:
        return b""
    try:
        return os.read(fd, MAX_BYTES)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _with_parents(paths: Iterable[str]) -> set[str]:
    found = {*paths}
    for path in [*found]:
        while (path := path.rpartition("/")[0]) and path not in found:
            found.add(path)
    return found
