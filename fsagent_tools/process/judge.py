"""After a command: what it has made of files by which other programs run something.

What runs nothing, or what git already had before the first command, is taken over; the rest is as
it was before.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable
from functools import partial
from threading import RLock
from urllib.parse import unquote

from fsagent_tools.policy import Policy
from fsagent_tools.policy.protected import BUILT, GIT_OF_COMMANDS, REPOSITORIES
from fsagent_tools.process.closed import Closed, Survey
from fsagent_tools.process.gitconfig import Unreadable, taken_over
from fsagent_tools.process.programs import Programs
from fsagent_tools.process.putback import Remembered, drop_empty, files_in, look_at, put_in_place
from fsagent_tools.process.reach import Reach
from fsagent_tools.process.standing import Standing, left_by

_LARGEST, _MOST_BYTES = 1_000_000, 32_000_000  # of one file, of all
_CONFIGS = ("config", "config.worktree")
_MODULES = "/.git/modules/"
_TOLD = 10
_POINTERS = ("/.git", "/.bare", "/commondir")  # they mean another place elsewhere
_Entry = Remembered | None
_Snapshot = dict[str, Remembered]
_Names = tuple[tuple[str, ...], tuple[str, ...]]


class Judge:
    """Of one root. reach: knows what git had. standing: keeps what there was for who comes after a
    host that was killed.
    """

    def __init__(self, survey: Survey, reach: Reach | None, standing: Standing | None) -> None:
        self._survey, self._root = survey, survey.root
        self._reach, self._standing = reach, standing
        self._lock, self._running = RLock(), 0
        self._before: _Snapshot = {}
        self._made, self._hidden = set[str](), tuple[str, ...]()
        self.standing_file = standing.path if standing else ""

    def before(self, closed: Closed) -> Callable[[], _Names]:
        """A command is about to run. Returns what to call after it: tells which names it has made
        that are denied from now on, and what was put back.
        """
        with self._lock:
            if not self._running:
                self._before = self._look(closed)
                if self._standing:  # of others at work here: what they have made is not the user's
                    self._before = self._standing.of_others(self._before)
                if self._reach:
                    self._reach.note(closed.repositories)
            if self._standing:
                self._standing.begin(self._before)
            self._running += 1
        return partial(self._after, closed.hidden)

    def _after(self, hidden: tuple[str, ...]) -> _Names:
        with self._lock:
            self._running -= 1
            try:
                put_back = self.judge(self._before)
                return self._named({*self._hidden} - {*hidden}), self._named(put_back)
            finally:
                if self._standing:
                    self._standing.end()

    def _named(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The topmost of them, from the root."""
        names = list[str]()
        for path in sorted(os.path.relpath(path, self._root or "/") for path in paths):
            if not names or not f"{path}/".startswith(f"{names[-1]}/"):
                names.append(path)
        return (*names[:_TOLD], *([f"{len(names) - _TOLD:,} more"] if names[_TOLD:] else []))

    def judge(self, before: _Snapshot) -> list[str]:
        """Put back what must not stay, and keep what there is then."""
        self._before, put_back, closed = before, list[str](), self._survey.look()
        self._hidden = closed.hidden
        now, kept = self._look(closed), _by_name(before)
        self._before = {**now}
        for path in sorted(before.keys() | now.keys(), key=_git_first):
            old, new = before.get(path), now.get(path)
            if old.same(new) if old else new and _is_copy(path, new, kept):
                continue
            try:
                put_back += self._decide(path, old, new, closed)
            except (OSError, ValueError):  # nothing that a command wrote ends the judge
                put_back += self._put(path, old)
        self._made |= self._before.keys() - before.keys()
        return put_back

    def _look(self, closed: Closed) -> _Snapshot:
        paths = [path for place in closed.judged for path in files_in(place, self._survey.listed)]
        for place in closed.repositories:
            for name in GIT_OF_COMMANDS:
                inner = files_in(f"{place}/{name}", self._survey.listed)
                paths += [path for path in inner if not path.endswith(".sample")]
        found, left = _Snapshot(), _MOST_BYTES
        for path in paths:
            if entry := look_at(path, self._before.get(path), min(left, _LARGEST)):
                found[path] = entry
                left -= len(entry.content or b"")
        return found

    def _decide(self, path: str, old: _Entry, new: _Entry, closed: Closed) -> list[str]:
        """What is told of one that has changed."""
        place = _repository_of(path, closed)
        if new is None:
            return [] if self._may_go(path, old) else self._put(path, old)
        if place and path[len(place) + 1 :] in _CONFIGS:
            return self._configure(path, old, new)
        if path.endswith("/commondir") or os.path.basename(path).lower() in REPOSITORIES:
            target = _target(path, new)
            return [] if target in closed.repositories else self._put(path, old)
        if not place and self._known(path, new):
            return []
        return self._put(path, old)

    def _may_go(self, path: str, old: _Entry) -> bool:
        """Whether one may be gone: with all that it belongs to, or what can be had again."""
        if old is None or path in self._made or not os.path.isdir(_anchor(path, self._root)):
            return True
        return self._known(path, old)

    def _known(self, path: str, entry: Remembered) -> bool:
        return self._reach is not None and self._reach.has(path, entry.mode, entry.content)

    def _configure(self, path: str, old: _Entry, new: Remembered) -> list[str]:
        if new.content is None or not stat.S_ISREG(new.mode):
            return self._put(path, old)
        before = old.content if old and old.content else b""
        is_tree = partial(self._is_tree, os.path.dirname(path)) if _MODULES in path else None
        try:
            is_built = partial(self._is_built, os.path.dirname(path))
            text, names = taken_over(_text(before), _text(new.content), is_tree, is_built)
        except Unreadable:
            return self._put(path, old)
        if not names:
            return []
        content = text.encode("utf-8", "surrogateescape")
        self._put(path, new._replace(content=content))
        return [f"{path}: {name}" for name in names]

    def _is_built(self, repository: str, address: str) -> bool:
        """Whether it leads to dependencies and the like, whose hooks nobody looks at.

        What has a colon before the first slash is on another machine, as git reads it.
        """
        way = unquote(address[7:]) if address.startswith("file://") else address
        if ":" in way.partition("/")[0]:
            return False
        bases = (repository, os.path.dirname(repository), self._root)
        places = [os.path.realpath(os.path.join(base, way)) for base in bases]
        inside = [place for place in places if place.startswith(f"{self._root}/")]
        return any({*place.removeprefix(self._root).split("/")} & {*BUILT} for place in inside)

    def _is_tree(self, repository: str, way: str) -> bool:
        """Whether it leads from a submodule's repository to the directory that leads back to it."""
        tree = os.path.normpath(os.path.join(repository, way))
        back = look_at(f"{tree}/.git", None, _LARGEST)
        if back is None or os.path.realpath(tree) != tree or not tree.startswith(f"{self._root}/"):
            return False
        return _target(f"{tree}/.git", back) == repository

    def _put(self, path: str, wanted: _Entry) -> list[str]:
        if wanted is not None and wanted.content is None:
            return [path]  # too large to be known
        self._before.pop(path, None)  # not what is found there later: a job may have written again
        if wanted is not None:
            self._before[path] = wanted
        try:
            put_in_place(self._root, path, wanted)
        except (OSError, ValueError):  # what is on the way is no directory any more
            return [path] if os.path.lexists(path) else []
        if wanted is None:
            drop_empty(os.path.dirname(path), _anchor(path, self._root))
        return [path]


def judging(survey: Survey, policy: Policy, programs: Programs) -> Judge:
    """Of a workspace, once what others left of it is judged."""
    standing = Standing(survey.root, policy, survey.since)
    for path in standing.others:
        recover(path)
    return Judge(survey, Reach(survey.root, programs), standing)


def recover(path: str) -> None:
    """Judge what a command has left whose host is gone, by its file; nothing for others."""
    with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
        for root, rules, since, before in left_by(path):
            Judge(Survey(root, Policy(write_denied=rules), since), None, None).judge(before)


def _by_name(before: _Snapshot) -> dict[str, list[Remembered]]:
    found: dict[str, list[Remembered]] = {}
    for path, entry in before.items():
        found.setdefault(f"/{os.path.basename(path)}", []).append(entry)
    return found


def _is_copy(path: str, new: Remembered, kept: dict[str, list[Remembered]]) -> bool:
    """Whether the same was there under the same name, as in a directory that was moved."""
    name = f"/{os.path.basename(path)}"
    return name not in _POINTERS and any(entry.same(new) for entry in kept.get(name, ()))


def _git_first(path: str) -> tuple[bool, str]:
    """Configuration before what git is asked about."""
    return os.path.basename(path) not in _CONFIGS, path


def _repository_of(path: str, closed: Closed) -> str:
    """The repository whose hooks or configuration `path` is, "" for other files."""
    for place in closed.repositories:
        if path.startswith(f"{place}/") and path[len(place) + 1 :].startswith(GIT_OF_COMMANDS):
            return place
    return ""


def _anchor(path: str, root: str) -> str:
    """The directory with which `path` goes: a repository, or what a name of tools lies in."""
    parts = path[len(root) + 1 :].split("/")
    for count, part in enumerate(parts[:-1]):
        if part.lower() in REPOSITORIES:
            return "/".join((root, *parts[: count + 1]))
        if part.startswith("."):
            return "/".join((root, *parts[:count]))
    for name in GIT_OF_COMMANDS:
        above = path.removesuffix(f"/{name}")
        if above != path or f"/{name}/" in path:
            return above if above != path else path[: path.index(f"/{name}/")]
    return os.path.dirname(path)


def _target(path: str, entry: Remembered) -> str:
    """Where a `.git` file or link, or a `commondir`, leads; "" through another link, which the next
    command could turn elsewhere.
    """
    target = os.fsdecode(entry.content or b"")
    if not stat.S_ISLNK(entry.mode):
        before = "" if path.endswith("/commondir") else "gitdir: "
        target = target.removeprefix(before).rstrip("\r\n")
    direct = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return direct if direct == os.path.realpath(direct) else ""


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
