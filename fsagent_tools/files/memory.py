"""Files that are elsewhere: a host's `Store` of bytes by path, and `MemoryFiles`, which is one."""

import errno
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from threading import RLock
from typing import Any, NamedTuple, cast

from fsagent_tools import call
from fsagent_tools.files import errors as refusals
from fsagent_tools.files.base import TIMEOUT, Making, ResolvedPath, Status, Version
from fsagent_tools.files.locks import hold
from fsagent_tools.files.resolve import os_error
from fsagent_tools.names import may_be_respelled, meant
from fsagent_tools.validation import check_types


class Etag(NamedTuple):
    """A version of a file: every write gives it another `tag`, in whichever process."""

    tag: str
    size: int
    mtime_ns: int = 0

    def racy(self, now_ns: int | None = None) -> bool:
        """Never: no two contents have one tag."""
        return False


class _Stamps(NamedTuple):
    st_size: int
    st_mtime_ns: int


class StoreEntry(NamedTuple):
    """A file, or a directory, which has no version."""

    name: str
    version: Etag | None = None

    @property
    def kind(self) -> str:
        return "file" if self.version else "directory"

    @property
    def size(self) -> int:
        return self.version.size if self.version else 0

    def is_dir(self, *, follow_symlinks: bool = False) -> bool:
        return not self.version

    def is_file(self, *, follow_symlinks: bool = False) -> bool:
        return bool(self.version)

    def is_symlink(self) -> bool:
        return False

    def stat(self, *, follow_symlinks: bool = False) -> _Stamps:
        return _Stamps(self.size, self.version.mtime_ns if self.version else 0)


class StoredFile:
    """A file that a store opened; here one whose bytes are all there.

    Another one may fetch a window when `pread` asks for it, of what the file was when it was
    opened, and raise `OSError` where that is gone.
    """

    fd = -1

    def __init__(self, version: Etag, data: bytes = b"") -> None:
        self.version, self._data = version, data

    def pread(self, size: int, offset: int) -> bytes:
        """At most `size` bytes from `offset`; fewer only at the end."""
        return self._data[offset : offset + size]

    def close(self) -> None:
        """Give up what is held open."""


class Store(ABC):
    """Bytes by path, for files that are elsewhere. A store knows no policy.

    `Workspace(files=...)` puts its guard around it, which sees every path before the store does:
    names separated by "/", none of them "." or "..", and "" for the root. A store raises the errors
    of the operating system, such as `FileNotFoundError`; the guard words them. `move`, `copy` and
    `lock` have implementations; override them if the store can do better.
    """

    @abstractmethod
    def stat(self, path: str) -> StoreEntry:
        """Raises `FileNotFoundError`."""

    @abstractmethod
    def list(self, path: str) -> Iterable[StoreEntry]:
        """What is in a directory, in any order."""

    @abstractmethod
    def open(self, path: str) -> StoredFile:
        """A file, for reading. Raises `FileNotFoundError`, `IsADirectoryError`."""

    @abstractmethod
    def put(self, path: str, data: bytes, expect: Etag | None) -> Etag:
        """Replace or, where `expect` is None, make a file: whole, or not at all.

        Raises `FileExistsError` where it is not, or no longer, what was expected.
        """

    @abstractmethod
    def mkdir(self, path: str) -> None:
        """Make a directory, and those above it that are missing."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file, or a directory with everything in it."""

    def move(self, source: str, destination: str) -> None:
        """Move a file or tree; a file at `destination` is replaced."""
        self.copy(source, destination)
        self.remove(source)

    def copy(self, source: str, destination: str) -> None:
        """Copy a file, which replaces one at `destination`, or a tree; of one that fails nothing
        stays.
        """
        for inner, entry in [*_members(self, source)]:
            target = _path_in(destination, inner)
            try:
                if entry.is_dir():
                    self.mkdir(target)
                    continue
                with closing(self.open(_path_in(source, inner))) as content:
                    data = content.pread(content.version.size, 0)
                replaced = None
                with suppress(FileNotFoundError):
                    replaced = self.stat(target)
                if replaced and replaced.is_dir():
                    raise os_error(errno.EISDIR)
                self.put(target, data, replaced and replaced.version)
            except BaseException:
                if inner:
                    self.remove(destination)
                raise

    @contextmanager
    def lock(self, paths: Sequence[str], timeout: float) -> Iterator[None]:
        """Keep other writers off, here threads of this process; raises `TimeoutError`."""
        with ExitStack() as stack:
            for path in sorted({*paths}):
                stack.enter_context(hold((id(self), -1), path, timeout, path))
            yield

    def close(self) -> None:  # noqa: B027
        """Give up open handles; it may be used again."""


class StoreFilesystem:
    """See `base.Filesystem`: what a path leads to in a store, which has no links, is told by its
    names alone.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def open_directly(self, path: str, *, folder: bool, virtual: bool) -> None:
        """There is no way that is shorter."""

    def resolve(self, path: str, *, follow: bool, virtual: bool) -> ResolvedPath:
        todo = self._as_stored([name for name in path.split("/") if name not in ("", ".")])
        if any(len(name.encode()) > refusals.NAME_MAX for name in todo):
            raise refusals.too_long(path)
        slash = path.rpartition("/")[2] in ("", ".", "..")
        way, left = todo[:-1], todo[-1:]
        if ".." in todo or (way and not self._is_directory(path, way)):
            way, left = [], []
            for at, name in enumerate(todo, 1):
                if name == "..":
                    if left or not way:
                        raise refusals.no_such(path, left[0]) if left else refusals.outside(path)
                    way.pop()
                elif left or at == len(todo) or not self._is_directory(path, [*way, name]):
                    left.append(name)
                else:
                    way.append(name)
            if not left:
                way, left = way[:-1], way[-1:]
        return ResolvedPath("/" + "/".join(way), left, slash)

    def _as_stored(self, todo: list[str]) -> list[str]:
        """The names that are meant, up to the first that leads back or is not there."""
        if not any(map(may_be_respelled, todo)):
            return todo
        for at, name in enumerate(todo):
            if name == "..":
                break
            try:
                self._store.stat("/".join(todo[: at + 1]))
            except OSError:
                with suppress(OSError):
                    names = [entry.name for entry in self._store.list("/".join(todo[:at]))]
                    todo[at] = meant(name, names)
        return todo

    def _is_directory(self, path: str, names: Sequence[str]) -> bool:
        """False where there is nothing."""
        try:
            if self._store.stat("/".join(names)).is_dir():
                return True
        except (FileNotFoundError, NotADirectoryError):
            return False
        raise refusals.not_a_directory(path, names[-1])

    def relative(self, real: str) -> str:
        return real[1:] or "."

    def holds_root(self, real: str) -> bool:
        return real == "/"

    @contextmanager
    def hold(self, paths: Sequence[ResolvedPath], path: str, timeout: float) -> Iterator[None]:
        with ExitStack() as held:
            try:
                held.enter_context(self._store.lock([at.real[1:] for at in paths], timeout))
            except TimeoutError:
                raise refusals.locked_by_another(path, timeout) from None
            yield

    def hold_folder(self, at: ResolvedPath, path: str) -> AbstractContextManager[None]:
        return hold((id(self._store), -1), at.above, TIMEOUT, path)

    def stat(self, at: ResolvedPath) -> StoreEntry:
        if len(at.missing) > 1:
            raise os_error(errno.ENOENT)
        return self._store.stat(at.real[1:])

    def describe(self, at: ResolvedPath, kind_of: Callable[[str], str | None]) -> Status:
        entry = self.stat(at)
        when = entry.stat().st_mtime_ns
        mode = 0o755 if entry.is_dir() else 0o644
        return Status(at.place, entry.kind, entry.size, mode, when, when)

    def open(self, at: ResolvedPath) -> StoredFile:
        if at.slash and not self.stat(at).is_dir():
            raise os_error(errno.ENOTDIR)
        return self._store.open(at.real[1:])

    def folder(self, at: ResolvedPath) -> ResolvedPath:
        if not self.stat(at).is_dir():
            raise os_error(errno.ENOTDIR)
        return ResolvedPath(at.real, ())

    def enter(self, at: ResolvedPath, name: str) -> ResolvedPath | None:
        inner = ResolvedPath(at.real, (name,))
        with suppress(FileNotFoundError):
            return ResolvedPath(inner.real, ()) if self.stat(inner).is_dir() else None
        return None

    def entries(self, at: ResolvedPath) -> Iterable[StoreEntry]:
        return self._store.list(at.real[1:])

    def identity(self, at: ResolvedPath) -> str:
        return at.real

    def siblings(self, at: ResolvedPath) -> Sequence[str]:
        try:
            return [entry.name for entry in self._store.list(at.above[1:])]
        except OSError:
            return []

    def members(self, at: ResolvedPath) -> Iterator[tuple[str, StoreEntry]]:
        return _members(self._store, at.real[1:])

    def make_parents(self, at: ResolvedPath, making: Making) -> None:
        """A store needs none for a lock."""

    def mkdir(self, at: ResolvedPath, making: Making) -> None:
        with making(at):
            self._store.mkdir(at.real[1:])

    def writable(self, at: ResolvedPath) -> bool:
        return True

    def write(
        self, at: ResolvedPath, data: bytes, expect: Version | None, seen: bytes | None
    ) -> Etag:
        path = at.real[1:]
        if len(at.missing) > 1:
            at.above, at.missing = f"/{path.rpartition('/')[0]}", at.missing[-1:]
            self._store.mkdir(at.above[1:])
        return self._store.put(path, bytes(data), cast("Etag | None", expect))

    def move(self, old: ResolvedPath, new: ResolvedPath, *, overwrite: bool) -> None:
        self._store.move(old.real[1:], new.real[1:])

    def copy(
        self, old: ResolvedPath, new: ResolvedPath, *, overwrite: bool, without: Collection[str]
    ) -> None:
        self._store.copy(old.real[1:], new.real[1:])

    def remove(self, at: ResolvedPath) -> None:
        self._store.remove(at.real[1:])

    def close(self) -> None:
        self._store.close()


def _path_in(path: str, inner: str) -> str:
    """The path of what is `inner`, "" for itself, beneath `path`."""
    return f"{path}/{inner}".strip("/")


def _members(
    store: Store, top: str, inner: str = "", depth: int = 0
) -> Iterator[tuple[str, StoreEntry]]:
    """The entry and all in it by name, each with its path from there, "" for itself.

    Raises `OSError`, `InvalidPath` (too deep).
    """
    call.current.get().check()
    path = _path_in(top, inner)
    entry = store.stat(path)
    yield inner, entry
    if entry.is_dir():
        if depth >= refusals.MAX_DEPTH:
            raise refusals.too_deep(path)
        for name in sorted(child.name for child in store.list(path)):
            yield from _members(store, top, _path_in(inner, name), depth + 1)


class MemoryFiles(Store):
    """Files in memory, for tests, drafts and hosts without a disk. Thread-safe, without links.

    Args:
        contents: Path -> text (stored as UTF-8) or bytes.

    Examples:
        >>> workspace = Workspace(files=MemoryFiles({"src/a.py": "x = 1", "b.md": "# B"}))
        >>> workspace.find("**/*.py").paths
        ('src/a.py',)
    """

    def __init__(self, contents: Mapping[str, str | bytes] | None = None) -> None:
        check_types(locals(), contents=Mapping | None)
        self._root = dict[str, Any]()  # name -> the same of a directory, or a `StoredFile`
        self._id, self._writes, self._lock = os.urandom(6).hex(), 0, RLock()
        for path, text in (contents or {}).items():
            check_types({path: text}, **{path: str | bytes})
            plain = StoreFilesystem(self).resolve(path, follow=True, virtual=False).real[1:]
            self.mkdir(plain.rpartition("/")[0])
            self.put(plain, text.encode() if isinstance(text, str) else text, None)

    def contents(self) -> dict[str, bytes]:
        """Every file as it is now, by its path from the root."""

        def files(folder: dict[str, Any], above: str) -> Iterator[tuple[str, bytes]]:
            for name, node in folder.items():
                if isinstance(node, dict):
                    yield from files(node, f"{above}{name}/")
                else:
                    yield above + name, node.pread(node.version.size, 0)

        with self._lock:
            return dict(files(self._root, ""))

    def stat(self, path: str) -> StoreEntry:
        node = self._node(path)
        return StoreEntry(path.rpartition("/")[2], getattr(node, "version", None))

    def list(self, path: str) -> "list[StoreEntry]":
        with self._lock:
            return [self.stat(_path_in(path, name)) for name in self._folder(path)]

    def open(self, path: str) -> StoredFile:
        if isinstance(node := self._node(path), StoredFile):
            return node
        raise os_error(errno.EISDIR)

    def put(self, path: str, data: bytes, expect: Etag | None) -> Etag:
        above, _, name = path.rpartition("/")
        with self._lock:
            folder = self._folder(above)
            old = folder.get(name)
            if getattr(old, "version", old) != expect:
                raise os_error(errno.EEXIST)
            self._writes += 1
            version = Etag(f"{self._id}:{self._writes}", len(data), time.time_ns())
            folder[name] = StoredFile(version, data)
        return version

    def mkdir(self, path: str) -> None:
        with self._lock:
            folder = self._root
            for name in path.split("/") if path else ():
                folder = folder.setdefault(name, {})
                if isinstance(folder, StoredFile):
                    raise os_error(errno.ENOTDIR)

    def remove(self, path: str) -> None:
        above, _, name = path.rpartition("/")
        with self._lock:
            if self._folder(above).pop(name, None) is None:
                raise os_error(errno.ENOENT)

    def move(self, source: str, destination: str) -> None:
        above, _, name = destination.rpartition("/")
        with self._lock:
            self._folder(above)[name] = self._node(source)
            self.remove(source)

    def _node(self, path: str) -> Any:
        node: Any = self._root
        with self._lock:
            for name in path.split("/") if path else ():
                node = node.get(name) if isinstance(node, dict) else None
        if node is None:
            raise os_error(errno.ENOENT)
        return node

    def _folder(self, path: str) -> dict[str, Any]:
        if isinstance(node := self._node(path), dict):
            return node
        raise os_error(errno.ENOTDIR)
