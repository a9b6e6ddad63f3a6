"""Walking a directory by file descriptors: no link is followed, no depth is too deep."""

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from fsagent_tools.call import current
from fsagent_tools.files.replace import TEMP_PREFIX
from fsagent_tools.search.gitignore import MAX_BYTES, Ignores
from fsagent_tools.search.start import Start

IGNORED = frozenset(
    {"node_modules", "__pycache__", ".git", ".venv", "venv", ".tox", ".pytest_cache", ".nox"}
    | {".mypy_cache", ".ruff_cache", "dist", "build", ".eggs", ".hg", ".svn"}
)
IGNORED_SUFFIX = ".egg-info"
OWN_CACHE = ".ai/cache"
SUBDIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True)
class Scope:
    """What a walk enters and shows.

    hidden: names that begin with a dot too. gitignore: leave out what `.gitignore` files name.
    named: directories that are entered although they are in the list of ignored ones.
    lead: names that the first levels must have. depth: how many levels, None for all.
    """

    hidden: bool = False
    gitignore: bool = False
    named: frozenset[str] = frozenset()
    lead: tuple[str, ...] = ()
    depth: int | None = None


@dataclass(frozen=True)
class Listing:
    """One directory: `prefix` is "" or "a/b/", beneath the start; `entries` are not directories.

    The entries may be asked for their kind and `stat` until the next listing is asked for.
    """

    prefix: str
    fd: int
    directories: list[str]
    entries: list[os.DirEntry[str]]


@dataclass
class Walk:
    """All directories beneath `fd`, parents before children, siblings in the order of their names.

    follow: enter links to directories inside the workspace, each directory once.
    `unreadable` and `ignored` count and name what was left out so far.
    """

    fd: int
    scope: Scope
    start: Start
    follow: bool = False
    unreadable: int = 0
    ignored: set[str] = field(default_factory=set)
    _seen: set[tuple[int, int]] = field(default_factory=set)

    def __iter__(self) -> Iterator[Listing]:
        check = current.get().check
        top = _Level(os.dup(self.fd), "", 0, self._ignores(), [])
        stack = [top]
        try:
            self._is_new(top.fd)
            yield self._list(top)
            while stack:
                check()
                level = stack[-1]
                child = self._next(level)
                if not level.ahead:  # its last child is open: a chain of directories costs one fd
                    os.close(stack.pop().fd)
                if child:
                    stack.append(child)
                    yield self._list(child)
        finally:
            for level in stack:
                os.close(level.fd)

    def left_out(self) -> list[str]:
        """One sentence for each kind of thing that the walk did not see."""
        notes = []
        if self.ignored:
            names = ", ".join(sorted(self.ignored)[:5])
            notes.append(f"Not searched: {names} (name one in `path` to search it).")
        if self.unreadable:
            noun = "directory" if self.unreadable == 1 else "directories"
            notes.append(f"{self.unreadable:,} {noun} could not be read.")
        return notes

    def _ignores(self) -> Ignores:
        """The rules of the directories above the start, from the root on."""
        ignores = Ignores()
        if self.scope.gitignore:
            for prefix in self.start.above():
                ignores = ignores.beneath(prefix, self.start.read(f"{prefix}.gitignore", MAX_BYTES))
        return ignores

    def _next(self, level: "_Level") -> "_Level | None":
        while level.ahead:
            name = level.ahead.pop()
            fd = self._open(level, name)
            if fd is not None and self._is_new(fd):
                return _Level(fd, f"{level.prefix}{name}/", level.depth + 1, level.ignores, [])
        return None

    def _open(self, level: "_Level", name: str) -> int | None:
        try:
            return os.open(name, SUBDIRECTORY, dir_fd=level.fd)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                self.unreadable += 1
                return None
            # gone since it was listed, or a link
            return self.start.enter(level.prefix + name) if self.follow else None

    def _is_new(self, fd: int) -> bool:
        if not self.follow:
            return True
        status = os.fstat(fd)
        key = (status.st_dev, status.st_ino)
        if key in self._seen:
            os.close(fd)
            return False
        self._seen.add(key)
        return True

    def _list(self, level: "_Level") -> Listing:
        found = Listing(level.prefix, level.fd, [], [])
        directories, entries, follow = found.directories, found.entries, self.follow
        try:
            with os.scandir(level.fd) as scan:
                for entry in scan:
                    if entry.name[0] == "." and not self._shows(entry.name):
                        continue
                    if entry.is_dir(follow_symlinks=False) or (
                        follow and self._leads(entry, level)
                    ):
                        directories.append(entry.name)
                    else:
                        entries.append(entry)
        except OSError:
            self.unreadable += 1
        if self.scope.gitignore:
            prefix = self.start.prefix + level.prefix
            level.ignores = level.ignores.beneath(prefix, _gitignore(level.fd))
            hides = level.ignores.hides
            entries[:] = [e for e in entries if not hides(prefix + e.name, is_directory=False)]
        if directories:
            directories[:] = sorted(name for name in directories if self._enters(name, level))
        if self.scope.depth is None or level.depth + 1 < self.scope.depth:
            level.ahead = directories[::-1]
        return found

    def _leads(self, entry: os.DirEntry[str], level: "_Level") -> bool:
        """A link to a directory inside the workspace."""
        return (
            entry.is_symlink() and self.start.target_kind(level.prefix + entry.name) == "directory"
        )

    def _shows(self, name: str) -> bool:
        return self.scope.hidden and not name.startswith(TEMP_PREFIX)

    def _enters(self, name: str, level: "_Level") -> bool:
        lead = self.scope.lead
        if level.depth < len(lead) and name != lead[level.depth]:
            return False
        path = level.prefix + name
        noise = name in IGNORED or name.endswith(IGNORED_SUFFIX) or path == OWN_CACHE
        if noise and name not in self.scope.named:
            self.ignored.add(name)
            return False
        return not level.ignores.files or not level.ignores.hides(
            self.start.prefix + path, is_directory=True
        )


@dataclass
class _Level:
    """A directory on the way down, with the names still to be entered."""

    fd: int
    prefix: str
    depth: int
    ignores: Ignores
    ahead: list[str]


def order(path: str) -> str:
    """Sort key of a path: name by name, so that a directory's files stand together."""
    return path.replace("/", "\0")


def modified(fd: int, name: str) -> int:
    """When an entry of the directory `fd` was last changed, in ns; 0 when it is gone."""
    try:
        return os.stat(name, dir_fd=fd, follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def _gitignore(fd: int) -> str:
    try:
        opened = os.open(".gitignore", FILE, dir_fd=fd)
    except OSError:
        return ""
    with os.fdopen(opened, "rb") as file:
        return file.read(MAX_BYTES).decode("utf-8", "replace")
