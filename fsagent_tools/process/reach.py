"""Whether git had a content before the first command; what it answers is checked by its names."""

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from functools import partial

from fsagent_tools.process.checked import OF_LINK, CheckedObjects, object_name
from fsagent_tools.process.programs import Programs

_MOST_REFS, _MOST_COMMITS = 5_000, 3_000
_NAME = re.compile(rb"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")


class Reach:
    """Commits that were there are noted once for each repository; see `has`."""

    def __init__(self, root: str, programs: Programs) -> None:
        self._root, self._git = root, partial(programs.find, "git")
        self._noted: dict[str, set[bytes]] = {}
        self._begun = False
        self._objects: dict[str, CheckedObjects] = {}

    def note(self, repositories: Iterable[str]) -> None:
        """Before the first command: those that a later one makes have nothing of the user's."""
        if not self._begun:
            self._begun = True
            around = f"{_top(f'{self._root}/.')}/.git"
            self._noted = {place: _refs(place) for place in {around, *repositories}}

    def has(self, path: str, mode: int, content: bytes | None) -> bool:
        """Whether a commit that was noted, or one before it, has that at the same place."""
        tips = set().union(*self._noted.values())
        top = _top(path)
        if content is None or not tips or not top or not (git := self._git()):
            return False
        objects = self._objects.setdefault(top, CheckedObjects(git, top, tips))
        inside = (*os.fsencode(path[len(top) + 1 :]).split(b"/"),)
        kind = OF_LINK if stat.S_ISLNK(mode) else b""
        for most in (len(tips), _MOST_COMMITS):
            with suppress(OSError, ValueError, KeyError, IndexError):
                for blob in objects.blobs(inside, most):
                    length = len(blob.removeprefix(OF_LINK))
                    if kind + object_name("blob", content, length) == blob:
                        return True
        return False


def _top(path: str) -> str:
    """The work tree that a file belongs to, "" for none."""
    folder = os.path.dirname(path)
    while folder.strip("/"):
        if os.path.lexists(f"{folder}/.git"):
            return folder
        folder = os.path.dirname(folder)
    return ""


def _refs(repository: str) -> set[bytes]:
    """What the references of a repository name."""
    found = set[bytes]()
    paths = [f"{repository}/{name}" for name in ("HEAD", "ORIG_HEAD", "FETCH_HEAD", "packed-refs")]
    for folder, _, names in os.walk(f"{repository}/refs"):
        paths += [f"{folder}/{name}" for name in names]
    for path in paths:
        with suppress(OSError), open(path, "rb") as file:
            found |= {*_NAME.findall(file.read(10_000_000))}
        if len(found) > _MOST_REFS:
            break
    return set(sorted(found)[:_MOST_REFS]) if len(found) > _MOST_REFS else found
