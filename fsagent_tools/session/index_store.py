"""Where line indexes live between processes: one JSON file per source file."""

import errno
import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from fsagent_tools.errors import NotConfigured
from fsagent_tools.files.atomic import dead_temps, drop, swap_in, temporary, write_all
from fsagent_tools.files.resolve import opened
from fsagent_tools.lines.index import VERSION
from fsagent_tools.runtime.state import state_folder

CACHE = "cache"
FOLDER = (".ai", CACHE, "tools", "read", "line_index")
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
UNUSED_DAYS = 30
DAY = 24 * 3600
MOST_BYTES = 64 * 2**20  # of an index file that is read back
WITH_WORDS = (False, True)  # whether IDs are words


class _Folder:
    """An open directory, closed when the last thread that uses it lets go."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __del__(self) -> None:
        os.close(self.fd)


class IndexStore:
    """Reads and writes index files by the source file's relative path; never raises on IO.

    The folder is `line_index` of the root in `home` (see `state_folder`), if that is given, else
    `cache_dir`, else `.ai/cache/tools/read/line_index/` beneath the root; it is made at the first
    write, with a `.gitignore` of its own in `.ai/cache/`. Of "/" and of a home directory, which are
    no projects, it is in the user's state directory. Where it cannot be written the indexes of the
    session stay in memory. words: IDs are words, whose index is a file of its own, so that both
    kinds of IDs leave each other alone.
    """

    def __init__(
        self, root: Path, cache_dir: str | Path | None, home: str = "", *, memory_only: bool
    ) -> None:
        self._words = False  # what was asked for last
        self._root, self._home = root, home
        self._cache_dir = None if cache_dir is None else Path(cache_dir)
        self._memory: dict[str, tuple[int, Mapping[str, Any]]] | None = {} if memory_only else None
        self._saves = 0
        self._opened: _Folder | None = None
        self._opening = Lock()
        self._pruned = memory_only

    def disown(self) -> None:
        """A forked process has no thread that would give the lock back."""
        self._opening = Lock()

    def rest(self) -> None:
        """Close the folder; who uses it still holds it."""
        self._opened = None

    def load(self, relative: str, *, words: bool) -> Mapping[str, Any] | None:
        """What was saved for the file, or None; a corrupt or foreign index counts as none.

        Raises `NotConfigured` for one that a later version wrote.
        """
        found = self._load(relative, words)
        place = str(self._cache_dir or self._home or "/".join(FOLDER))
        said = f"The line index of {escaped_path(relative)}"
        check_format(said, (found or {}).get("version"), VERSION, place)
        return found

    def _load(self, relative: str, words: bool) -> Mapping[str, Any] | None:
        name = file_name(relative, words)
        if self._memory is not None:
            return self._memory.get(name, (0, None))[1]
        with suppress(OSError, ValueError, RecursionError):
            folder = self._folder()
            with opened(folder.fd, name, os.O_RDONLY | os.O_NOFOLLOW) as fd:
                status = os.fstat(fd)
                if time.time() - status.st_mtime > DAY:
                    os.utime(fd)  # in use: the pruning goes by this time
                if (size := status.st_size) > MOST_BYTES:
                    return None
                data = json.loads(os.read(fd, size))
            if isinstance(data, dict) and data.get("file_path") == escaped_path(relative):
                return data
        return None

    def save(self, relative: str, data: Mapping[str, Any]) -> None:
        """Write atomically: a reader sees the old index or the new one, whole."""
        data = {**data, "file_path": escaped_path(relative)}
        name = file_name(relative, data.get("words", False))
        if self._memory is None:
            try:
                folder = self._folder(create=True)
                _replace(folder.fd, name, json.dumps(data, separators=(",", ":")).encode())
                self._prune(folder.fd)
                return
            except OSError:
                self._memory = {}
        self._saves += 1
        self._memory[name] = (self._saves, data)

    def forget(self, relative: str) -> None:
        """Remove the file's indexes, if there are any."""
        for name in (file_name(relative, words) for words in WITH_WORDS):
            if self._memory is not None:
                self._memory.pop(name, None)
                continue
            with suppress(OSError):
                folder = self._folder()
                os.unlink(name, dir_fd=folder.fd)

    def move(self, old: str, new: str) -> None:
        """The indexes of one file are those of the other from now on."""
        moved = [self._load(old, words) for words in WITH_WORDS]
        self.forget(old)
        self.forget(new)
        for data in filter(None, moved):
            self.save(new, data)

    def version(self, relative: str, *, words: bool) -> object:
        """A token that changes when any process saves or removes the file's index."""
        self._words, name = words, file_name(relative, words)
        if self._memory is not None:
            return self._memory.get(name, (None, {}))[0]
        with suppress(OSError):
            folder = self._folder()
            status = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
            return status.st_ino, status.st_mtime_ns, status.st_size
        return None

    def file(self, relative: str) -> tuple[int, list[str]] | None:
        """The open folder, and the names that the file's indexes have or would have in it.

        The kind that was asked for last comes first.
        """
        if self._memory is None:
            with suppress(OSError):
                kinds = (self._words, not self._words)
                return self._folder().fd, [file_name(relative, words) for words in kinds]
        return None

    def _folder(self, *, create: bool = False) -> "_Folder":
        """The open folder; opened again when somebody removed it. Raises `OSError`."""
        with self._opening:
            folder = self._opened
            if folder is None or os.fstat(folder.fd).st_nlink == 0:
                place = self._cache_dir or _aside(self._root, self._home)
                if place and create:
                    place.mkdir(parents=True, exist_ok=True)
                fd = os.open(place or self._root, _DIRECTORY)
                if not place:
                    fd = _folder_beneath(fd, create=create)
                folder = self._opened = _Folder(fd)
            return folder

    def _prune(self, folder: int) -> None:
        """Once a session, drop what no process uses any more, and what a killed one left behind."""
        if self._pruned:
            return
        self._pruned = True
        names = os.listdir(folder)
        for name in dead_temps(names):
            drop(folder, name)
        for name in names:
            with suppress(OSError):
                used = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime
                if name.endswith(".json") and time.time() - used > UNUSED_DAYS * DAY:
                    os.unlink(name, dir_fd=folder)


def is_project(root: str) -> bool:
    """False for "/" and for home directories, in which nobody looks for what tools leave behind."""
    homes = ("/", "/root", os.path.realpath(os.environ.get("HOME") or "/"))
    return root not in homes and str(Path(root).parent) not in ("/home", "/Users")


def _aside(root: Path, home: str) -> Path | None:
    """Where the indexes are that have no place beneath the root. Raises `OSError`."""
    if is_project(real := os.path.realpath(root)) and not home:
        return None
    if folder := state_folder(real, "line_index", home, inside=True):
        return Path(folder)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), real)


def file_name(relative: str, words: bool) -> str:
    return _stem(relative) + (".words.json" if words else ".json")


@lru_cache(maxsize=1024)
def _stem(relative: str) -> str:
    return hashlib.sha256(relative.encode(errors="surrogateescape")).hexdigest()[:16]


def escaped_path(relative: str) -> str:
    """The path with the bytes of a name that are no UTF-8 escaped."""
    return relative.encode(errors="backslashreplace").decode()


def _folder_beneath(root: int, *, create: bool) -> int:
    """The folder of the indexes, never through a link; closes `root`. Raises `OSError`.

    create: make what is missing.
    """
    for part in FOLDER:
        root = _descend(root, part, create=create)
        if create and part == CACHE:
            _ignore(root)
    return root


def _descend(parent: int, name: str, *, create: bool) -> int:
    """The folder `name` in `parent`, never through a link; closes `parent`."""
    try:
        try:
            return os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        except FileNotFoundError:
            if not create:
                raise
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
        return os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    finally:
        os.close(parent)


def _ignore(cache: int) -> None:
    """Keep the cache out of version control; a project's own ignore file stays."""
    with opened(cache, ".gitignore", os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o644) as fd:
        if not os.fstat(fd).st_size:
            os.write(fd, b"*\n")


def _replace(folder: int, name: str, data: bytes) -> None:
    with temporary(folder) as new:
        with opened(folder, new, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as fd:
            write_all(fd, data)
        swap_in(folder, new, name)


def check_format(what: str, found: object, known: int, where: str) -> None:
    """Raises `NotConfigured` for a format of a later version."""
    if isinstance(found, int) and found > known:
        raise NotConfigured(
            f"{what} is of format {found}, and this version of fsagent-tools knows formats up to "
            f"{known}. Nothing was changed.",
            hint=f"Upgrade fsagent-tools here, or move {where} away to begin anew.",
        )
