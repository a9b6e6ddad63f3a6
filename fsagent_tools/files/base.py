"""What is known of files, the `Filesystem` behind the guard, and the hook of the history."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

TIMEOUT = 10.0  # seconds to wait for other writers
COMPARED = 64 << 20  # bytes up to which a write reads what it replaces
SNIFFED = 8192  # bytes of a file's head that decide whether it is text
ENDLESS = 1 << 62  # bytes: what has no size to go by is read to its end
TEMP_PREFIX = ".fsagent-tmp-"  # names that walkers hide and the next writer sweeps


class Version(Protocol):
    """Of one content of one file: equal for the same, and for no other; `str()` holds anywhere."""

    @property
    def size(self) -> int: ...
    @property
    def mtime_ns(self) -> int: ...
    def racy(self, now_ns: int | None = None) -> bool:
        """Whether another content could have the same version for now."""
        ...


class FileContent(Protocol):
    """An open regular file; `fd` is -1 where it is elsewhere."""

    fd: int
    version: Any  # a `Version`, as of before any byte was read

    def pread(self, size: int, offset: int) -> bytes: ...
    def close(self) -> None: ...


class FileEntry(Protocol):
    """What is at a path, of a link the link; a directory of a store has no version."""

    @property
    def kind(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def version(self) -> Version | None: ...


class Stamps(Protocol):
    """The part of a status that every file system tells."""

    @property
    def st_size(self) -> int: ...
    @property
    def st_mtime_ns(self) -> int: ...


class Listed(Protocol):
    """What is in a directory, as `os.scandir` has it."""

    @property
    def name(self) -> str: ...
    def is_dir(self, *, follow_symlinks: bool = ...) -> bool: ...
    def is_file(self, *, follow_symlinks: bool = ...) -> bool: ...
    def is_symlink(self) -> bool: ...
    def stat(self, *, follow_symlinks: bool = ...) -> Stamps: ...


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


@dataclass
class ResolvedPath:
    """What a path leads to, held until it is closed: what the guard allows is what is used.

    above: absolute path of the last directory on the way, links resolved. missing: the names below
    that: one for an ordinary end, existing or not; more when parents are missing; none for a root
    and for a directory that was opened itself. slash: only a directory will do. fd: of the
    directory at `above`, which closing closes; -1 where the files are elsewhere. place: of what the
    guard has allowed.
    """

    above: str
    missing: Sequence[str]
    slash: bool = False
    fd: int = -1
    place: Place = field(init=False)

    @property
    def name(self) -> str:
        return self.missing[0] if self.missing else "."

    @property
    def real(self) -> str:
        return "/".join((self.above.rstrip("/"), *self.missing)) or "/"

    @property
    def slot(self) -> "EntrySlot":
        return EntrySlot(self.fd, self.name, self.place)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)


Making = Callable[[ResolvedPath], AbstractContextManager[object]]  # around what is made there


class Filesystem(Protocol):
    """Where files are: what the guard does once it has resolved a path and asked the policy.

    resolve: what a path leads to; follow: through a link at its end; virtual: an absolute path
        begins at the root. open_directly: an ordinary file or directory, opened, and its real path,
        or None: then `resolve` decides. relative: a real path from the main root, None where it is
        beneath no root. holds_root: whether that is a root, or above one.
    hold: keeps other writers off paths; hold_folder: those who hold it so off the directory
        `above`. Both raise `TimedOut` and `Cancelled`.
    folder: a directory, opened, which `enter` (never through a link; None where there is no
        directory), `entries` and `identity` (equal for one directory) are asked about.
    siblings: the names in `above`. members: the entry, called "", and all in it with their paths
        from there. make_parents: makes what a lock needs. making: is around each directory that is
        made, and may refuse it. writable: whether a file that is there may be replaced.
    write: replaces or makes a file, whole or not at all; `FileExistsError` where it is not, or no
        longer, what was expected. seen: the content that was read, where that is known.
    copy: without the links in it of those paths.

    Verbs raise `OSError`, which the guard words, and a `ToolError` where they know more.
    """

    def open_directly(
        self, path: str, *, folder: bool, virtual: bool
    ) -> tuple[Any, str] | None: ...
    def resolve(self, path: str, *, follow: bool, virtual: bool) -> ResolvedPath: ...
    def relative(self, real: str) -> str | None: ...
    def holds_root(self, real: str) -> bool: ...
    def hold(
        self, paths: Sequence[ResolvedPath], path: str, timeout: float
    ) -> AbstractContextManager[None]: ...
    def hold_folder(self, at: ResolvedPath, path: str) -> AbstractContextManager[None]: ...
    def stat(self, at: ResolvedPath) -> FileEntry: ...
    def describe(self, at: ResolvedPath, kind_of: Callable[[str], str | None]) -> Status: ...
    def open(self, at: ResolvedPath) -> FileContent: ...
    def folder(self, at: ResolvedPath) -> ResolvedPath: ...
    def enter(self, at: ResolvedPath, name: str) -> ResolvedPath | None: ...
    def entries(self, at: ResolvedPath) -> Iterable[Listed]: ...
    def identity(self, at: ResolvedPath) -> object: ...
    def siblings(self, at: ResolvedPath) -> Sequence[str]: ...
    def members(self, at: ResolvedPath) -> Iterable[tuple[str, FileEntry]]: ...
    def make_parents(self, at: ResolvedPath, making: Making) -> None: ...
    def mkdir(self, at: ResolvedPath, making: Making) -> None: ...
    def writable(self, at: ResolvedPath) -> bool: ...
    def write(
        self, at: ResolvedPath, data: bytes, expect: Version | None, seen: bytes | None
    ) -> Version: ...
    def move(self, old: ResolvedPath, new: ResolvedPath, *, overwrite: bool) -> None: ...
    def copy(
        self, old: ResolvedPath, new: ResolvedPath, *, overwrite: bool, without: Collection[str]
    ) -> None: ...
    def remove(self, at: ResolvedPath) -> None: ...
    def close(self) -> None: ...


# What keeps the old state of files: told under a file's locks, right before it changes.


@dataclass(frozen=True)
class EntrySlot:
    """A name in an open directory, and the place that it has or would have."""

    fd: int
    name: str
    place: Place

    def status(self) -> os.stat_result | None:
        """Of the entry itself, a link's own; None where there is none."""
        try:
            return os.stat(self.name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None


class NotKept(OSError):
    """The old state could not be kept, so nothing was changed; filename: where it would be."""


Members = Sequence[tuple[str, os.stat_result]]  # of a tree: paths from its top, "" for itself


class Recorder(Protocol):
    """Keeps what goes and notes what comes; what it raises prevents the change."""

    def overwrites(
        self, slot: EntrySlot, old: int | None, new: int, data: bytes, *, in_place: bool
    ) -> Callable[[], None]:
        """`data`, in the file of the descriptor `new`, is about to take the name.

        old: descriptor of the file that has it. in_place: that file itself is written. Returns
        what to call when nothing happened.
        """
        ...

    def removes(self, slot: EntrySlot, members: Members) -> Callable[[], None]:
        """A tree is about to go. Returns as `overwrites` does."""
        ...

    def places(
        self, slot: EntrySlot, made: Members, now: EntrySlot | None = None, *, moved: bool = False
    ) -> Callable[[], None]:
        """A tree is about to get the name, or just got it; a file that has the name is kept.

        now: where the tree is. moved: it has its own place there. Returns as `overwrites` does.
        """
        ...


Recording = Callable[[], Recorder | None]  # asked when something changes
