"""What a path leads to in a store, which has no links: found by its names alone."""

import errno
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Self, cast

from fsagent_tools import call
from fsagent_tools.files import refusals
from fsagent_tools.files.port import Handle, Making, Place, Status, Version, os_error
from fsagent_tools.names import may_be_respelled, meant

if TYPE_CHECKING:
    from fsagent_tools.files.store import Etag, Store, StoredFile, StoreEntry

_MODES = {"file": 0o644, "directory": 0o755}


class StoreHandle(Handle):
    """See `port.Handle`; `path` is as the store has it."""

    place: Place

    def __init__(self, store: "Store", path: str) -> None:
        """Raises a `ToolError` for what leaves the root or goes through a file, and `OSError`."""
        self._store = store
        names, self.missing, self.slash = _names(store, path)
        self.path = "/".join((*names, *self.missing))
        self.above = "/" + "/".join(names)

    @property
    def real(self) -> str:
        return f"/{self.path}"

    def entry(self) -> "StoreEntry":
        if len(self.missing) > 1:
            raise os_error(errno.ENOENT)
        return self._store.stat(self.path)

    def status(self, target_kind: Callable[[str], str | None]) -> Status:
        entry = self.entry()
        when = entry.stat().st_mtime_ns
        return Status(self.place, entry.kind, entry.size, _MODES[entry.kind], when, when)

    def open(self) -> "StoredFile":
        if self.slash and not self.entry().is_dir():
            raise os_error(errno.ENOTDIR)
        return self._store.open(self.path)

    def folder(self) -> "StoreFolder":
        if not self.entry().is_dir():
            raise os_error(errno.ENOTDIR)
        return StoreFolder(self._store, self.path)

    def beside(self) -> Sequence[str]:
        try:
            return [entry.name for entry in self._store.list(self.above[1:])]
        except OSError:
            return []

    def members(self) -> "Iterator[tuple[str, StoreEntry]]":
        return members(self._store, self.path)

    def make_parents(self, making: Making) -> None:
        """A store needs none for a lock."""

    def mkdir(self, making: Making) -> None:
        with making(self):
            self._store.mkdir(self.path)

    def writable(self) -> bool:
        return True

    def put(self, data: bytes, expect: Version | None, seen: bytes | None) -> "Etag":
        if len(self.missing) > 1:
            self._store.mkdir(self.path.rpartition("/")[0])
            self.missing = self.missing[-1:]
        return self._store.put(self.path, bytes(data), cast("Etag | None", expect))

    def move(self, new: Self, *, overwrite: bool) -> None:
        self._store.move(self.path, new.path)

    def copy(self, new: Self, *, overwrite: bool, keeps: Callable[[str], bool]) -> list[str]:
        self._store.copy(self.path, new.path)
        return []

    def remove(self) -> None:
        self._store.remove(self.path)

    def close(self) -> None:
        """Nothing is held."""


class StoreFolder:
    """A directory of a store."""

    fd = -1

    def __init__(self, store: "Store", path: str) -> None:
        self._store, self._path = store, path

    @property
    def identity(self) -> str:
        return self._path

    def entries(self) -> "Iterable[StoreEntry]":
        return self._store.list(self._path)

    def enter(self, name: str) -> "StoreFolder | None":
        path = path_in(self._path, name)
        try:
            return StoreFolder(self._store, path) if self._store.stat(path).is_dir() else None
        except FileNotFoundError:
            return None

    def open(self, name: str) -> "StoredFile":
        return self._store.open(path_in(self._path, name))

    def close(self) -> None:
        """Nothing is held."""


def path_in(path: str, inner: str) -> str:
    """The path of what is `inner`, "" for itself, beneath `path`."""
    return f"{path}/{inner}".strip("/")


def members(
    store: "Store", top: str, inner: str = "", depth: int = 0
) -> "Iterator[tuple[str, StoreEntry]]":
    """The entry and all in it by name, each with its path from there, "" for itself.

    Raises `OSError`, `InvalidPath` (too deep).
    """
    call.current.get().check()
    path = path_in(top, inner)
    entry = store.stat(path)
    yield inner, entry
    if entry.is_dir():
        if depth >= refusals.MAX_DEPTH:
            raise refusals.too_deep(path)
        for name in sorted(child.name for child in store.list(path)):
            yield from members(store, top, path_in(inner, name), depth + 1)


def _names(store: "Store", path: str) -> tuple[Sequence[str], Sequence[str], bool]:
    """Of directories on the way, and of what is below the last one; and whether that has to be one
    itself.
    """
    todo = [name for name in path.split("/") if name not in ("", ".")]
    todo = _as_stored(store, todo) if any(map(may_be_respelled, todo)) else todo
    if any(len(name.encode()) > refusals.NAME_MAX for name in todo):
        raise refusals.too_long(path)
    slash = path.rpartition("/")[2] in ("", ".", "..")
    if ".." not in todo and (len(todo) < 2 or _is_directory(store, path, todo[:-1])):
        return todo[:-1], todo[-1:], slash
    way, left = list[str](), list[str]()
    for at, name in enumerate(todo, 1):
        if name == ".." and left:
            raise refusals.no_such(path, left[0])
        if name == ".." and not way:
            raise refusals.outside(path)
        if name == "..":
            way.pop()
        elif left or at == len(todo) or not _is_directory(store, path, [*way, name]):
            left.append(name)
        else:
            way.append(name)
    return (way, left, slash) if left else (way[:-1], way[-1:], slash)


def _as_stored(store: "Store", todo: list[str]) -> list[str]:
    """The names that are meant, see `meant`, up to the first that leads back or is not there."""
    for at, name in enumerate(todo):
        if name == "..":
            break
        try:
            store.stat("/".join(todo[: at + 1]))
        except OSError:
            with suppress(OSError):
                names = [entry.name for entry in store.list("/".join(todo[:at]))]
                todo[at] = meant(name, names)
    return todo


def _is_directory(store: "Store", path: str, names: Sequence[str]) -> bool:
    """False where there is nothing."""
    try:
        if store.stat("/".join(names)).is_dir():
            return True
    except (FileNotFoundError, NotADirectoryError):
        return False
    raise refusals.not_a_directory(path, names[-1])
