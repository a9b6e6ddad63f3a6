"""Where a host's files are: bytes by path, in six verbs and some that come with them."""

import errno
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from typing import Any, NamedTuple

from fsagent_tools.files import refusals
from fsagent_tools.files.by_path import StoreHandle, members, path_in
from fsagent_tools.files.locks import hold
from fsagent_tools.files.port import FileSource, os_error


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


class Store(FileSource):
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
        for inner, entry in [*members(self, source)]:
            target = path_in(destination, inner)
            try:
                if entry.is_dir():
                    self.mkdir(target)
                    continue
                with closing(self.open(path_in(source, inner))) as content:
                    data = content.pread(content.version.size, 0)
                self.put(target, data, self._version(target))
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

    def find(self, path: str, *, follow: bool, virtual: bool) -> StoreHandle:
        return StoreHandle(self, path)

    def relative(self, real: str) -> str:
        return real[1:] or "."

    def holds_root(self, real: str) -> bool:
        return real == "/"

    @contextmanager
    def hold(self, handles: Sequence[Any], path: str, timeout: float) -> Iterator[None]:
        with ExitStack() as held:
            try:
                held.enter_context(self.lock([handle.path for handle in handles], timeout))
            except TimeoutError:
                raise refusals.locked_by_another(path, timeout) from None
            yield

    def hold_folder(self, handle: Any, path: str, timeout: float) -> AbstractContextManager[None]:
        return hold((id(self), -1), handle.above, timeout, path)

    def _version(self, path: str) -> Etag | None:
        """Of the file at a path, None where there is nothing."""
        try:
            entry = self.stat(path)
        except FileNotFoundError:
            return None
        if entry.version is None:
            raise os_error(errno.EISDIR)
        return entry.version
