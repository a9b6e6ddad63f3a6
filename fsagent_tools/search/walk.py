"""Walking down a directory, however deep; no link is followed unless asked for."""

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from fsagent_tools.call import current
from fsagent_tools.errors import InvalidGlob, ToolError
from fsagent_tools.files.base import TEMP_PREFIX, Listed
from fsagent_tools.files.guarded import Directory
from fsagent_tools.globs import Glob
from fsagent_tools.names import composed, display
from fsagent_tools.search.start import Start
from fsagent_tools.text import some

NOISE = frozenset(
    {"node_modules", "__pycache__", ".git", ".venv", "venv", ".tox", ".pytest_cache", ".nox"}
    | {".mypy_cache", ".ruff_cache", "dist", "build", ".eggs", ".hg", ".svn"}
)
NOISE_SUFFIX = ".egg-info"
NOISE_TOO = "Directories such as node_modules or build too"
GIT_DIRECTORY = ".git"  # never entered unless it is named
OWN_CACHE = ".ai/cache"  # never entered
_OWN = ".ai"  # shown when there is something else in it
_GITIGNORE, _EXCLUDE = ".gitignore", ".git/info/exclude"
_MAX_GITIGNORE = 1 << 20  # bytes; a larger one is no list of patterns
_NAMED = 5  # of what was left out


def order(path: str) -> str:
    """Sort key of a path: name by name, so that a directory's files stand together."""
    return path.replace("/", "\0")


def status(entry: Listed, name: str) -> Any:
    """A field of what `stat` says of a regular file, or of a link; 0 of what is gone."""
    try:
        return getattr(entry.stat(follow_symlinks=False), name)
    except OSError:
        return 0


class Ignores(NamedTuple):
    """The rules of `.gitignore` files in force in a directory, as git documents them.

    rules: those of parents first; each has the directory of its file (as a path prefix: "" or
    "a/b/"), its glob, whether it ignores, and whether it is about directories only.
    """

    rules: tuple[tuple[str, Glob, bool, bool], ...] = ()

    def beneath(self, prefix: str, text: str) -> "Ignores":
        """These rules and those of the `.gitignore` with this text in the directory `prefix`."""
        found = list(self.rules)
        for line in text.splitlines():
            body = re.sub(r"(?<!\\) +$", "", line)
            pattern = body.removeprefix("!").rstrip("/")
            if not pattern.strip("/") or body.startswith("#"):
                continue
            anywhere = "" if "/" in pattern else "**/"
            pattern = re.sub(r"(?<!\\)([{}])", r"\\\1", pattern.removeprefix("/"))
            try:
                glob = Glob(anywhere + pattern, names=False)
            except InvalidGlob:  # gives no rule in git either
                continue
            found.append((prefix, glob, not body.startswith("!"), body.endswith("/")))
        return Ignores(tuple(found))

    def hides(self, path: str, *, is_directory: bool) -> bool:
        """Whether the last rule that matches says so; its parents are taken as not ignored."""
        for prefix, glob, ignores, only_directories in reversed(self.rules):
            if (is_directory or not only_directories) and glob.matches(path[len(prefix) :]):
                return ignores
        return False


@dataclass(frozen=True)
class Scope:
    """What a walk enters and shows.

    hidden: names that begin with a dot too. noise: directories such as node_modules too.
    gitignore: leave out what `.gitignore` files name. named: directories that are entered
    although they are noise.
    lead: names that the first levels must have. depth: how many levels, None for all.
    """

    hidden: bool = False
    noise: bool = False
    gitignore: bool = False
    named: frozenset[str] = frozenset()
    lead: tuple[str, ...] = ()
    depth: int | None = None


class Listing(NamedTuple):
    """One directory: `prefix` is "" or "a/b/", beneath the start; `entries` are not directories.

    The entries may be asked for their kind and `stat` until the next listing is asked for.
    """

    prefix: str
    directories: list[Listed]
    entries: list[Listed]


@dataclass
class _Level:
    """A directory on the way down, with the names still to be entered, the last one first."""

    directory: Directory
    prefix: str
    depth: int
    ignores: Ignores
    ahead: list[str] = field(default_factory=list)


@dataclass
class Walk:
    """A directory and all beneath it, parents before children, siblings by name.

    follow: enter links to directories inside the workspace, each directory once.
    `unreadable` counts what was left out so far; `skipped` has the paths of directories that were
    not entered, `unlisted` of entries that were not shown.
    """

    top: Directory
    scope: Scope
    start: Start
    follow: bool = False
    unreadable: int = 0
    skipped: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    _seen: set[object] = field(default_factory=set)

    def __iter__(self) -> Generator[Listing, None, None]:
        check = current.get().check
        if self.follow:
            self._seen.add(self.top.identity)
        stack = [_Level(self.top, "", 0, self._ignores())]
        try:
            yield self._list(stack[0])
            while stack:
                check()
                level = stack[-1]
                child = self._enter(level, level.ahead.pop()) if level.ahead else None
                if not level.ahead:  # its last child is open: a chain of directories costs one
                    self._close(stack.pop())
                if child:
                    stack.append(child)
                    yield self._list(child)
        finally:
            for level in stack:
                self._close(level)

    def left_out(self, matches: Callable[[str], object]) -> list[str]:
        """One sentence for each kind of thing that the walk did not see.

        matches: whether an entry would have been a hit.
        """
        paths = [path for path in self.skipped if self.start.lists(path)]
        paths += [p for p in self.unlisted if matches(p) and self.start.allows(p)]
        paths.sort(key=lambda path: path.count("/"), reverse=True)
        first = {path.rpartition("/")[2]: path for path in paths}  # the highest of each name
        notes = []
        if first:
            noise = any(map(_is_noise, first))
            hidden = any(name[0] == "." and not _is_noise(name) for name in first)
            why = ", ".join(["hidden"] * hidden + ["dependencies and builds"] * noise)
            names = some(sorted(map(display, first.values())), _NAMED)
            notes.append(f"Left out ({why}): {names}. To see one, give its path.")
            if any(name[0] == "." for name in first) and not self.scope.hidden:
                notes.append("Or set `include_hidden`.")
        if self.unreadable:
            noun = "directory" if self.unreadable == 1 else "directories"
            notes.append(f"{self.unreadable:,} {noun} could not be read.")
        return notes

    def _ignores(self) -> Ignores:
        """The rules of the clone, then those of the directories above the start."""
        ignores = Ignores()
        if self.scope.gitignore:
            ignores = ignores.beneath("", self._patterns(_EXCLUDE))
            above = ""
            for name in self.start.prefix.split("/")[:-1]:
                ignores = ignores.beneath(above, self._patterns(above + _GITIGNORE))
                above += f"{name}/"
        return ignores

    def _patterns(self, relative: str) -> str:
        """A file of patterns as text; empty when it cannot be opened."""
        try:
            with self.start.files.open(relative) as file:
                return file.read(_MAX_GITIGNORE).decode("utf-8", "replace")
        except ToolError:
            return ""

    def _close(self, level: _Level) -> None:
        if level.directory is not self.top:
            level.directory.close()

    def _enter(self, level: _Level, name: str) -> _Level | None:
        """None for what is gone, cannot be read or was seen by another way."""
        child = self._open(level, name)
        if child is None and self.follow:
            child = self.start.enter(level.prefix + name)
        if child is None:
            return None
        if self.follow:
            if (identity := child.identity) in self._seen:
                child.close()
                return None
            self._seen.add(identity)
        return _Level(child, f"{level.prefix}{name}/", level.depth + 1, level.ignores)

    def _open(self, level: _Level, name: str) -> Directory | None:
        try:
            return level.directory.enter(name)
        except ToolError:
            self.unreadable += 1
            return None

    def _list(self, level: _Level) -> Listing:
        prefix, directories, has_rules = level.prefix, list[Listed](), False
        try:
            entries = level.directory.entries()
            if dotted := [entry for entry in entries if entry.name[0] == "."]:
                has_rules = any(entry.name == _GITIGNORE for entry in dotted)
                hidden = {entry.name for entry in dotted if not self._shows(entry, level)}
                entries = [entry for entry in entries if entry.name not in hidden]
            directories = [e for e in entries if e.is_dir(follow_symlinks=False)]
            if self.follow:
                leads = self.start.target_kind
                links = [e for e in entries if e.is_symlink()]
                directories += [e for e in links if leads(prefix + e.name) == "directory"]
            if below := {entry.name for entry in directories}:
                entries = [entry for entry in entries if entry.name not in below]
        except (ToolError, OSError):
            directories, entries = [], []
            self.unreadable += 1
        if self.scope.gitignore:
            root = self.start.prefix + prefix
            rules = self._patterns(root + _GITIGNORE) if has_rules else ""
            level.ignores = level.ignores.beneath(root, rules)
            hides = level.ignores.hides
            entries = [e for e in entries if not hides(root + e.name, is_directory=False)]
        directories = [entry for entry in directories if self._enters(entry.name, level)]
        directories.sort(key=attrgetter("name"))
        if self._goes_below(level):
            level.ahead = [entry.name for entry in reversed(directories)]
        return Listing(prefix, directories, entries)

    def _shows(self, entry: Listed, level: _Level) -> bool:
        """Whether an entry that begins with a dot is listed; what matters otherwise is noted."""
        if entry.name.startswith(TEMP_PREFIX):
            return False
        if not self.scope.hidden:
            self._note(entry.name, level, is_directory=entry.is_dir(follow_symlinks=False))
        return self.scope.hidden

    def _note(self, name: str, level: _Level, *, is_directory: bool) -> None:
        if name in (GIT_DIRECTORY, _OWN) or (is_directory and not self._leads_on(name, level)):
            return  # nobody misses them
        noted = self.skipped if is_directory and self._goes_below(level) else self.unlisted
        noted.append(level.prefix + name)

    def _goes_below(self, level: _Level) -> bool:
        return self.scope.depth is None or level.depth + 1 < self.scope.depth

    def _leads_on(self, name: str, level: _Level) -> bool:
        lead = self.scope.lead
        return level.depth >= len(lead) or composed(name) == lead[level.depth]

    def _enters(self, name: str, level: _Level) -> bool:
        path = level.prefix + name
        if not self._leads_on(name, level) or not self.start.lists(path) or path == OWN_CACHE:
            return False
        if path == _OWN and (own := self._open(level, _OWN)):
            with own:
                if {entry.name for entry in own.entries()} <= {"cache"}:
                    return False
        if name not in self.scope.named:
            if name == GIT_DIRECTORY:
                return False
            if not self.scope.noise and _is_noise(name):
                self._note(name, level, is_directory=True)
                return False
        return not level.ignores.hides(self.start.prefix + path, is_directory=True)


def _is_noise(name: str) -> bool:
    return name in NOISE or name.endswith(NOISE_SUFFIX)
