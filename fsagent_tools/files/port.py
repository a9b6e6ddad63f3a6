"""What is known of files, and the port behind the guard: handles on what a path leads to."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, Self

TIMEOUT = 10.0  # seconds to wait for other writers
COMPARED = 64 << 20  # bytes up to which a write reads what it replaces


@dataclass(frozen=True)
class Place:
    """A real object beneath a root, links resolved.

    relative: POSIX path from the main root, "." for the root itself; the absolute path for an
        object beneath a further allowed root.
    told, told_absolute: what answers say for `relative` and `absolute`; both are from "/" where
        that is the root, else the same.
    """

    relative: str
    absolute: str
    told: str
    told_absolute: str

    def inside(self, path: str) -> "Place":
        """The place of a tree's member; `path` is from here, "" for this itself."""
        if not path:
            return self
        above = (self.relative, self.absolute, self.told, self.told_absolute)
        return Place(*(path if base == "." else f"{base.rstrip('/')}/{path}" for base in above))


class Version(Protocol):
    """A token for one content of one file: equal to that of the same content, and only to it.

    `str()` of it holds in other processes, too.
    """

    @property
    def size(self) -> int: ...
    @property
    def mtime_ns(self) -> int: ...
    def racy(self, now_ns: int | None = None) -> bool:
        """Whether a write after `now_ns` (default now) could still leave an equal token."""
        ...


@dataclass(frozen=True)
class Status:
    """What is known of an entry, of a link itself; times in ns since 1970.

    kind: "file", "directory", "link" or "device, socket or pipe". target: what a link says,
    target_kind: the kind of what it leads to, None for a dangling or forbidden one. birth_ns: None
    where nothing tells when it was made.
    """

    place: Place
    kind: str
    size: int
    mode: int
    mtime_ns: int
    ctime_ns: int
    target: str | None = None
    target_kind: str | None = None
    birth_ns: int | None = None

    @property
    def is_symlink(self) -> bool:
        return self.kind == "link"


@dataclass(frozen=True)
class Done:
    """Where an entry was, where it is now, and the files of its tree, "" for the entry itself."""

    source: Place
    destination: Place
    files: tuple[str, ...]

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Each file's path before and now, beneath the root."""
        for file in self.files:
            yield self.source.inside(file).relative, self.destination.inside(file).relative


@dataclass(frozen=True)
class Copied:
    """What a copy did: files and bytes copied, and links left out because they lead outside."""

    files: int
    size: int
    skipped: list[str]


def os_error(code: int) -> OSError:
    """An error of the system with its own words."""
    return OSError(code, os.strerror(code))


class Stamped(Protocol):
    """Size in bytes, and when an entry was last changed, in ns since 1970."""

    @property
    def st_size(self) -> int: ...
    @property
    def st_mtime_ns(self) -> int: ...


class Listed(Protocol):
    """One entry of a directory."""

    @property
    def name(self) -> str: ...
    def is_dir(self, *, follow_symlinks: bool) -> bool: ...
    def is_file(self, *, follow_symlinks: bool) -> bool: ...
    def is_symlink(self) -> bool: ...
    def stat(self, *, follow_symlinks: bool) -> Stamped: ...


class EntryFacts(Protocol):
    """What is at a path, of a link the link. version: equal while it is the same."""

    @property
    def kind(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def version(self) -> Version | None: ...


class FileContent(Protocol):
    """A file that was opened; `version` is from before any byte was read. fd: -1 for none."""

    @property
    def fd(self) -> int: ...
    @property
    def version(self) -> Version: ...
    def pread(self, size: int, offset: int) -> bytes: ...
    def close(self) -> None: ...


class Folder(Protocol):
    """A directory that was opened; no name in it is followed if it is a link. fd: -1 for none."""

    @property
    def fd(self) -> int: ...
    @property
    def identity(self) -> object: ...
    def entries(self) -> Iterable[Listed]: ...
    def enter(self, name: str) -> "Folder | None": ...
    def open(self, name: str) -> FileContent: ...
    def close(self) -> None: ...


class Handle(Protocol):
    """What a path leads to, held until it is closed: what the guard allows is what is used.

    real: its absolute path, links resolved. above: of the last directory on the way. missing: the
    names below that: one for an ordinary end, existing or not; more when parents are missing; none
    for a root. slash: only a directory will do. place: of what the guard has allowed. The verbs
    raise `OSError`.
    """

    above: str
    missing: Sequence[str]
    slash: bool
    place: Place

    @property
    def real(self) -> str: ...

    def entry(self) -> EntryFacts:
        """What is there. Raises `FileNotFoundError`."""

    def status(self, target_kind: Callable[[str], str | None]) -> Status:
        """All that is known of it; `target_kind` tells it of a path."""

    def open(self) -> FileContent:
        """The file."""

    def folder(self) -> Folder:
        """The directory."""

    def beside(self) -> Sequence[str]:
        """Names in the last directory on the way."""

    def members(self) -> Iterable[tuple[str, EntryFacts]]:
        """The entry and all in it, each with its path from there, "" for itself."""

    def make_parents(self, making: "Making") -> None:
        """Make what a lock of the file needs. making: is around each directory, and may refuse."""

    def mkdir(self, making: "Making") -> None:
        """Make the directory, and those above it that are missing. making: as above."""

    def writable(self) -> bool:
        """Whether the existing file lets itself be replaced."""

    def put(self, data: bytes, expect: Version | None, seen: bytes | None) -> Version:
        """Replace or make the file: whole, or not at all. Raises `FileExistsError` for another.

        seen: the content that was read, where that is known.
        """

    def move(self, new: Self, *, overwrite: bool) -> None:
        """Give it that name."""

    def copy(self, new: Self, *, overwrite: bool, keeps: Callable[[str], bool]) -> list[str]:
        """Copy it there, and links that `keeps` agrees to; returns the others."""

    def remove(self) -> None:
        """Remove it, with everything in it."""

    def close(self) -> None:
        """Give up what is held."""


Making = Callable[[Handle], AbstractContextManager[object]]  # around what is made there


class FileSource(ABC):
    """Where files are."""

    def at_once(self, path: str, *, folder: bool, virtual: bool) -> tuple[Any, str] | None:
        """An ordinary file or directory, opened, and its real path; else `find` decides.

        virtual: an absolute path begins at the root.
        """
        return None

    @abstractmethod
    def find(self, path: str, *, follow: bool, virtual: bool) -> Handle:
        """What `path` leads to. follow: through a link at its end.

        Raises a `ToolError` for what leaves the roots, and `OSError`.
        """

    @abstractmethod
    def relative(self, real: str) -> str | None:
        """A real path from the main root; None where it is beneath no root."""

    @abstractmethod
    def holds_root(self, real: str) -> bool:
        """Whether that is a root, or above one."""

    @abstractmethod
    def hold(
        self, handles: Sequence[Any], path: str, timeout: float
    ) -> AbstractContextManager[None]:
        """Keep other writers off what it found. Raises `TimedOut`, `Cancelled`."""

    @abstractmethod
    def hold_folder(self, handle: Any, path: str, timeout: float) -> AbstractContextManager[None]:
        """Keep others who hold it so out of the directory `above`. Raises as `hold`."""

    def close(self) -> None:  # noqa: B027
        """Give up open handles; it may be used again."""
