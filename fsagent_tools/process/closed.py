"""What of a workspace is closed to the programs that run in it, and what is judged after them,
found by a walk of our own.

A directory is read again only when it has changed. Links stay as they are: a policy is about what
they lead to, and nothing can be put over a link.
"""

import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fsagent_tools.names import composed
from fsagent_tools.policy import Policy
from fsagent_tools.policy.paths import Closing
from fsagent_tools.policy.protected import BUILT, FOLDERS, REPOSITORIES, RUN_BY_OTHERS
from fsagent_tools.process.putback import SETTLED, open_to_owner
from fsagent_tools.runtime.state import own_state

_OF_OTHERS = ("/proc", "/sys", "/dev")
_KEPT_INSIDE = ("modules", "worktrees")  # of a `.git`: submodules and further work trees
_STORES = ("objects", "refs", "logs", "hooks", "info")
_LOOKED_INTO = stat.S_IRUSR | stat.S_IXUSR
_How = Closing | Literal["repository"]


@dataclass(frozen=True)
class Closed:
    """Absolute paths, see `Profile`.

    denied: whether the policy wants any of `hidden`, which has our own records, too. judged: files
    and directories that make other programs run something. repositories: directories that git
    takes for one, whatever they are called.
    """

    hidden: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    denied: bool = False
    judged: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Directory:
    stamp: tuple[int, ...] | None  # None: it may yet change without a new time
    found: tuple[tuple[str, _How], ...]
    below: tuple[str, ...]


class Survey:
    """Looks through one root, again and again. since: ns since 1970; what is closed to its owner by
    a change after that, a command may have closed, and it is opened again. Default now. state: the
    directory of `Workspace(state=...)`.
    """

    def __init__(self, root: str, policy: Policy, since: int = 0, state: str = "") -> None:
        self.root, self._policy = root.rstrip("/"), policy
        self.since = since or time.time_ns() - SETTLED
        self._known: dict[str, _Directory] = {}
        self._own, self._judges = own_state(state), bool({*policy.write_denied} & {*RUN_BY_OTHERS})
        self._others = (*policy.denied_places, *self._own)
        needed = map(os.path.realpath, (self.root or "/", tempfile.gettempdir()))
        self._above = {str(each) for path in needed for each in (path, *Path(path).parents)}

    def look(self) -> Closed:
        """What there is now."""
        others = [path for place in self._others for path in _spellings(place)]
        hidden, read_only, pinned = set(filter(self._is_apart, others)), set[str](), set[str]()
        judged, repositories = list[str](), list[str]()
        for path, how in self._walk():
            if how == "repository":
                repositories.append(path)
            elif how == "judged":
                judged.append(path)
            elif not os.path.islink(path):
                (hidden if how == "hidden" else read_only).add(path)
                pinned.update(self._way(os.path.dirname(path)))
        return Closed(
            tuple(sorted(hidden)),
            tuple(sorted(read_only)),
            tuple(sorted(pinned)),
            denied=any(path not in self._own for path in hidden),
            judged=tuple(judged),
            repositories=tuple(repositories),
        )

    def _is_apart(self, path: str) -> bool:
        """Whether it is there, and holds neither the root nor what is temporary."""
        return os.path.exists(path) and os.path.realpath(path) not in self._above

    def _walk(self) -> Iterator[tuple[str, _How]]:
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
        found, below = list[tuple[str, _How]](), list[str]()
        inside = path[len(self.root) :].split("/")
        around = "/".join(inside).partition("/.git/")[0].split("/")
        judges = self._judges and not {*around} & {*BUILT}
        entries = {entry.name: entry for entry in self.listed(path, status)}
        is_git = {"objects", "refs"} <= entries.keys() or {"HEAD", "commondir"} <= entries.keys()
        if judges and is_git:
            found.append((path, "repository"))
        for name, entry in entries.items():
            inner, is_folder = f"{path}/{name}", entry.is_dir(follow_symlinks=False)
            how = self._how(inner, entry)
            if how == "judged" and (not judges or (name.lower() in REPOSITORIES and is_folder)):
                how = None
            if how:
                found.append((inner, how))
            if not is_folder or inner in _OF_OTHERS or how == "hidden":
                continue
            if self._policy.denied_paths or not (how or _is_data(inside, name, is_git)):
                below.append(inner)
        settled = changed < now - SETTLED
        return _Directory(stamp if settled else None, tuple(found), tuple(below))

    def listed(self, path: str, status: os.stat_result | None = None) -> list[os.DirEntry[str]]:
        """What is in a directory. Raises `OSError`."""
        status = status or os.lstat(path)
        is_closed = (
            status.st_mode & _LOOKED_INTO != _LOOKED_INTO and status.st_ctime_ns >= self.since
        )
        if is_closed and 0 < os.geteuid() == status.st_uid:
            open_to_owner(self.root, path)
        with os.scandir(path or "/") as entries:
            return [*entries]

    def _how(self, path: str, entry: os.DirEntry[str]) -> Closing | None:
        if entry.name.lower() in FOLDERS and entry.is_symlink():
            return "judged"
        if path in self._own:
            return "hidden"
        return self._policy.closes(path[len(self.root) + 1 :], path)

    def _way(self, path: str) -> Iterator[str]:
        """The directory `path` and those above it, beneath the root."""
        while len(path) > len(self.root):
            yield path
            path = path.rpartition("/")[0]


def _is_data(inside: list[str], name: str, is_git: bool) -> bool:
    """Whether a directory holds what was built or installed, or in a `.git` only data of git's.
    Names there are git's own: a submodule may be called `vendor`, or `hooks`.
    """
    if inside[-1] == ".git":
        return name not in _KEPT_INSIDE
    if ".git" in inside:
        return is_git and name in _STORES
    return name in BUILT


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
