"""What the rest of the package needs of a file system, wherever the files are."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from fsagent_tools.effects import Effect
from fsagent_tools.policy import Policy
from fsagent_tools.records import dataclass

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
    atime_ns: int
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


@dataclass
class Copied:
    """What a copy did: files and bytes copied, and links left out because they lead outside."""

    files: int = 0
    size: int = 0
    skipped: list[str] = field(default_factory=list)


class Closable(Protocol):
    """Closed by `close`, or at the end of its `with` block."""

    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class ReadableFile(Closable, Protocol):
    """A regular file that was opened and allowed; `version` is from before any byte was read."""

    @property
    def place(self) -> Place: ...
    @property
    def version(self) -> Version: ...
    def read(self, limit: int | None = None) -> bytes:
        """All bytes from the current position, or at most `limit`. Raises `TooLarge`."""
        ...

    def pread(self, size: int, offset: int) -> bytes:
        """At most `size` bytes from `offset`; fewer only at the end of the file."""
        ...


class LockedFile(Protocol):
    """An existing or future regular file under its lock; `version` is None where there is none."""

    @property
    def place(self) -> Place: ...
    @property
    def version(self) -> Version | None: ...
    def check_seen(self, size: int) -> None:
        """Raise `NotRead` when the policy wants a file of this size to be read before an edit."""
        ...

    def read(self) -> bytes:
        """The whole content under the lock. Raises `Missing`, `ReadFailed`."""
        ...

    def write(self, data: bytes, *, expect: Version | None) -> Version:
        """Replace the whole content if it still is `expect`, None for no file. Raises `Conflict`.

        `call.current` may hold a watcher: it is told of the change before anything happens.
        """
        ...


class Listed(Protocol):
    """One entry of a directory."""

    @property
    def name(self) -> str: ...
    def is_dir(self, *, follow_symlinks: bool) -> bool: ...
    def is_file(self, *, follow_symlinks: bool) -> bool: ...
    def is_symlink(self) -> bool: ...
    def stat(self, *, follow_symlinks: bool) -> "Stamped": ...


class Stamped(Protocol):
    """Size in bytes, and when an entry was last changed, in ns since 1970."""

    @property
    def st_size(self) -> int: ...
    @property
    def st_mtime_ns(self) -> int: ...


@runtime_checkable
class Directory(Closable, Protocol):
    """An open directory, for listing and for walking down.

    identity: equal for one directory, by whatever way it was reached.
    """

    @property
    def place(self) -> Place: ...
    @property
    def identity(self) -> object: ...
    def entries(self) -> list[Listed]:
        """What is in it, in any order; valid while it is open. Raises a `ToolError`."""
        ...

    def enter(self, name: str) -> "Directory | None":
        """The directory `name` in it; None for a link, a file or nothing. Raises a `ToolError`."""
        ...

    def open(self, name: str) -> ReadableFile:
        """The regular file `name` in it, never through a link. Raises a `ToolError`."""
        ...


class Files(Protocol):
    """A file system beneath one root, used by one policy. Every verb raises a `ToolError`.

    Paths are relative to the root or absolute; nothing outside is reached, whatever links say.
    A refusal leaves everything as it was. Constructing one does no IO.

    local_root: the root as a directory of this machine, None if the files are elsewhere.
    virtual: an absolute path begins at the root, whose own and further roots' real paths are taken
    as such, too; places are told so.
    """

    @property
    def policy(self) -> Policy: ...
    @property
    def virtual(self) -> bool: ...
    @property
    def local_root(self) -> Path | None: ...
    def under(self, policy: Policy, *, virtual: bool = False) -> "Files":
        """The same files, used by another policy and by such paths."""
        ...

    def place(self, path: str) -> Place:
        """Where an existing object really is, links resolved."""
        ...

    def stat(self, path: str) -> Status:
        """Status of the entry itself, also of a link."""
        ...

    def open(self, path: str, effect: Effect = Effect.READ) -> ReadableFile:
        """Open a regular file for reading."""
        ...

    def directory(self, path: str) -> Directory:
        """Open a directory for listing; it may be on the way to what is allowed."""
        ...

    def lock(self, path: str, *, create_dirs: bool = False) -> AbstractContextManager[LockedFile]:
        """Keep other writers off the file at `path`, existing or not, and write it."""
        ...

    def make_directory(self, path: str) -> tuple[Place, bool]:
        """Make a directory and its missing parents; False when it was there."""
        ...

    def move(self, source: str, destination: str, overwrite: bool = False) -> Done:
        """Move to exactly `destination`; a link itself is moved."""
        ...

    def copy(self, source: str, destination: str, overwrite: bool = False) -> tuple[Done, Copied]:
        """Copy a file or a tree to exactly `destination`, which appears whole."""
        ...

    def remove(self, path: str, recursive: bool = False) -> Done:
        """Remove a file, a link itself or, when `recursive`, a directory; never the root."""
        ...

    def close(self) -> None:
        """Give up open handles; the files may be used again."""
        ...
