"""What of a workspace the policy closes to programs, found by a walk."""

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from fsagent_tools.names import composed
from fsagent_tools.policy import Closing, Policy, own_state
from fsagent_tools.policy.protected import BUILT, RUN_BY_OTHERS
from fsagent_tools.runtime import OWN_PYTHON

_SETTLED = 1_000_000_000  # ns after which a directory's times tell whether it changed


@dataclass(frozen=True)
class Closed:
    """Absolute paths; `hidden` has our own state, too."""

    hidden: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()


class ClosedPaths:
    """Of one root. state: the directory of `Workspace(state=...)`, "" for the user's own."""

    def __init__(self, root: str, policy: Policy, state: str = "") -> None:
        self.root, self._policy, self._own = root.rstrip("/"), policy, own_state(state)
        self._known: dict[str, tuple[tuple[int, int], list[tuple[str, Closing]], list[str]]] = {}
        needed = map(os.path.realpath, (self.root or "/", tempfile.gettempdir()))
        self._above = {str(each) for path in needed for each in (path, *Path(path).parents)}
        given = {*policy.write_denied} - {*RUN_BY_OTHERS}
        self._walks = bool(policy.denied_paths or any(self._may_be_here(rule) for rule in given))

    def look(self) -> Closed:
        """What there is now."""
        places = [p for place in self._policy.denied_places for p in _spellings(place)]
        denied = [p for p in places if os.path.exists(p) and os.path.realpath(p) not in self._above]
        found, ahead = list[tuple[str, Closing]](), [self.root] if self._walks else []
        while ahead:
            here, below = self._directory(ahead.pop())
            found += here
            ahead += below
        denied += [path for path, how in found if how == "hidden"]
        own = [path for path in self._own if os.path.isdir(path) and path not in self._above]
        read_only = sorted(path for path, how in found if how == "read_only")
        return Closed(tuple(sorted({*denied, *own})), tuple(read_only))

    def _directory(self, path: str) -> tuple[list[tuple[str, Closing]], list[str]]:
        """What is closed in it, and directories to look into."""
        try:
            state = os.lstat(path or "/")
            stamp, known = (state.st_ino, state.st_ctime_ns), self._known.get(path)
            if known and known[0] == stamp:
                return known[1:]
            with os.scandir(path or "/") as entries:
                listed = [
                    (e.name, e.is_symlink(), e.is_dir(follow_symlinks=False)) for e in entries
                ]
        except OSError:
            return [], []
        found, below = list[tuple[str, Closing]](), list[str]()
        for name, is_link, is_folder in listed:
            inner = f"{path}/{name}"
            how = self._policy.closes(inner[len(self.root) + 1 :], inner)
            if how and not is_link:  # a policy is about what a link leads to
                found.append((inner, how))
            elif is_folder and inner not in (*self._own, "/proc", "/sys", "/dev"):
                below += [inner] if self._policy.denied_paths or name not in BUILT else []
        if time.time_ns() - stamp[1] > _SETTLED:
            self._known[path] = stamp, found, below
        return found, below

    def _may_be_here(self, rule: str) -> bool:
        return rule[:1] != "/" or not any(rule.startswith(own) for own in OWN_PYTHON)


def _spellings(place: str) -> list[str]:
    """The paths of a denied place on disk: a rule holds however a name's letters are composed."""
    ways = [""]
    for name in place.strip("/").split("/"):
        found = []
        for way in ways:
            names = {name}
            if not name.isascii() and os.path.isdir(way or "/"):
                names |= {n for n in os.listdir(way or "/") if composed(n) == composed(name)}
            found += [f"{way}/{each}" for each in names]
        ways = found
    return ways
