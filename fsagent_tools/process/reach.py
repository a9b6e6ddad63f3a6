"""Whether git had a content before the first command. Git reads its objects in a sandbox, and what
it says counts only if it has the right hash.
"""

import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial

from fsagent_tools.policy import Limits
from fsagent_tools.process.plain import Group
from fsagent_tools.process.programs import Programs
from fsagent_tools.process.reader import limit_reader, start_reader
from fsagent_tools.sandbox.processes import readable

_MOST_REFS, _MOST_COMMITS = 5_000, 3_000
_NAME = re.compile(rb"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_LONGEST = 200_000_000  # bytes of one answer
_SECONDS, _MEMORY = 10.0, 1_000_000_000
OF_LINK = b"link "  # before the name of what a link says


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


class CheckedObjects:
    """What commits from `tips` on have, in the repository that `folder` belongs to, as git reads it
    in a sandbox. What is in a directory is read once.
    """

    def __init__(self, git: str, folder: str, tips: set[bytes]) -> None:
        self._command, self._tips = (git, "--no-replace-objects", "-C", folder), tips
        self._known: dict[tuple[int, tuple[bytes, ...]], dict[bytes, set[bytes]]] = {}

    def blobs(self, inside: tuple[bytes, ...], most: int) -> set[bytes]:
        """What `most` of them have at a path. Raises `OSError`, `ValueError` when nobody knows."""
        return self._entries(inside[:-1], most).get(inside[-1], set())

    def _entries(self, folder: tuple[bytes, ...], most: int) -> dict[bytes, set[bytes]]:
        key, found = (most, folder), dict[bytes, set[bytes]]()
        if key not in self._known:
            trees = self.blobs(folder, most) if folder else self._roots(most)
            trees = {name for name in trees if not name.startswith(OF_LINK)}
            for tree in self._read(trees).values():
                for name, blob in _in_tree(tree, len(next(iter(trees))) // 2):
                    found.setdefault(name, set()).add(blob)
            self._known[key] = found
        return self._known[key]

    def _roots(self, most: int) -> set[bytes]:
        asked = self._tips
        if most > len(asked):
            output = self._ask(
                ("rev-list", f"--max-count={most}", "--ignore-missing", "--stdin"), asked
            )
            asked = asked | {*output.split()}
        commits = self._read(asked)
        reached, ahead = set[bytes](), [tip for tip in self._tips if tip in commits]
        while ahead:
            name = ahead.pop()
            if name not in reached:
                reached.add(name)
                head = commits[name].partition(b"\n\n")[0]
                ahead += [p for p in re.findall(rb"^parent (\w+)$", head, re.M) if p in commits]
        return {commits[name].split(b"\n", 1)[0].removeprefix(b"tree ") for name in reached}

    def _read(self, names: set[bytes]) -> dict[bytes, bytes]:
        """The content of each that is there and is what its name says."""
        if not names:
            return {}
        output, at, found = self._ask(("cat-file", "--batch"), names), 0, dict[bytes, bytes]()
        while at < len(output):
            end = output.index(b"\n", at)
            name, *rest = output[at:end].split()
            at = end + 1
            if len(rest) == 2:
                kind, size = rest[0].decode(), int(rest[1])
                content = output[at : at + size]
                at += size + 1
                if kind in ("commit", "tree") and object_name(kind, content, len(name)) == name:
                    found[name] = content
        return found

    def _ask(self, words: Iterable[str], names: set[bytes]) -> bytes:
        with tempfile.TemporaryFile() as file:
            file.writelines(name + b"\n" for name in sorted(names))
            file.seek(0)
            with start_reader((*self._command, *words), ("/",), None, file.fileno()) as process:
                try:
                    return _output_of(process)
                finally:
                    process.end()


def _output_of(process: Group) -> bytes:
    """All that it writes, within bounds. Raises `ValueError` if that is not enough."""
    assert process.stdout is not None
    limit_reader(process.pid, Limits(memory=_MEMORY, file_size=None, processes=None))
    fd, output, until = process.stdout.fileno(), bytearray(), time.monotonic() + _SECONDS
    wait = readable((fd,))
    while wait(max(0.0, until - time.monotonic())):
        more = os.read(fd, 1 << 20)
        if not more:
            return bytes(output)
        output += more
        if len(output) > _LONGEST:
            break
    raise ValueError


def _in_tree(tree: bytes, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Its entries: names, and names of objects, which have `size` bytes."""
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        mode, _, name = tree[at:end].partition(b" ")
        at = end + 1 + size
        yield name, (OF_LINK if mode == b"120000" else b"") + tree[end + 1 : at].hex().encode()


def object_name(kind: str, content: bytes, length: int) -> bytes:
    new = hashlib.sha1 if length == 40 else hashlib.sha256
    return new(f"{kind} {len(content)}\0".encode() + content).hexdigest().encode()
