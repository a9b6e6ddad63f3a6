"""What the guard opens: files, directories, and files under their lock."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Self

from fsagent_tools import call, errors
from fsagent_tools.effects import Effect
from fsagent_tools.files import refusals
from fsagent_tools.files.port import (
    COMPARED,
    FileContent,
    Folder,
    Handle,
    Listed,
    Making,
    Place,
    Version,
)
from fsagent_tools.policy import Policy

_ENDLESS = 1 << 62


class WithBlock:
    """Closed at the end of its `with` block."""

    __slots__ = ()

    def close(self) -> None:
        """Give up what is held open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ReadableFile(WithBlock):
    """A regular file that was opened and allowed; `version` is from before any byte was read.

    fd: its descriptor, -1 where the files are elsewhere.
    """

    __slots__ = ("_again", "_at", "_content", "_policy", "fd", "place", "version")

    def __init__(
        self,
        content: FileContent,
        place: Place,
        policy: Policy,
        again: "Callable[[], ReadableFile] | None" = None,
    ) -> None:
        """Takes over `content` and closes it when it is too large. again: opens its path anew."""
        self._again = again
        self.place, self.version, self.fd = place, content.version, content.fd
        self._content, self._policy, self._at = content, policy, 0
        if policy.max_file_size is not None:
            try:
                policy.check_size(place.told, self.version.size)
            except BaseException:
                content.close()
                raise

    def read(self, limit: int | None = None) -> bytes:
        """All bytes from the current position, or at most `limit`; a growing file is cut off.

        A size of 0 says nothing (`/proc`), so then all there is. Raises `ReadFailed`, `TooLarge`.
        """
        limited, largest = limit is not None, self._policy.max_file_size
        rest = self.version.size - self._at if self.version.size else _ENDLESS
        if limit is None:
            limit = largest + 1 if isinstance(largest, int) else rest
        found = self.pread(min(rest, limit), self._at)
        self._at += len(found)
        if not limited:
            self._policy.check_size(self.place.told, len(found))
        return found

    def pread(self, size: int, offset: int) -> bytes:
        """At most `size` bytes from `offset`; fewer only at the end of the file."""
        try:
            return self._content.pread(max(0, size), offset)
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None

    @contextmanager
    def unless_replaced(self, known: Version | None) -> "Iterator[ReadableFile]":
        """This file or, if it is of another version than the known one, what is at its path now."""
        if known in (None, self.version) or not self._again:
            yield self
            return
        with self._again() as now:
            yield now if now.place.relative == self.place.relative else self

    def close(self) -> None:
        self._content.close()


class Directory(WithBlock):
    """An open directory, for listing and for walking down.

    identity: equal for one directory, by whatever way it was reached. fd: as of `ReadableFile`.
    """

    __slots__ = ("_below", "_folder", "_policy", "_top", "fd")

    def __init__(self, folder: Folder, top: Place, policy: Policy, below: str = "") -> None:
        """Takes over `folder`, which is at the path `below` beneath `top`."""
        self._folder, self._top, self._policy, self._below = folder, top, policy, below
        self.fd = folder.fd

    @property
    def place(self) -> Place:
        return self._top.inside(self._below)

    @property
    def identity(self) -> object:
        return self._folder.identity

    def entries(self) -> list[Listed]:
        """What is in it, in any order; valid while it is open. Raises a `ToolError`."""
        try:
            return [*self._folder.entries()]
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None

    def enter(self, name: str) -> "Directory | None":
        """The directory `name` in it; None for a link, a file or nothing. Raises a `ToolError`."""
        try:
            inner = self._folder.enter(name)
        except OSError as error:
            raise refusals.refusal(error, self.place.inside(name).told) from None
        below = f"{self._below}/{name}" if self._below else name
        return None if inner is None else Directory(inner, self._top, self._policy, below)

    def open(self, name: str) -> ReadableFile:
        """The regular file `name` in it, never through a link. Raises a `ToolError`."""
        place = self.place.inside(name)
        self._policy.check_path(place.relative, place.absolute, Effect.READ, told=place.told)
        try:
            return ReadableFile(self._folder.open(name), place, self._policy)
        except OSError as error:
            raise refusals.refusal(error, place.told) from None

    def close(self) -> None:
        self._folder.close()


class LockedFile:
    """An existing or future regular file under its lock; `version` is None where there is none."""

    def __init__(self, found: Handle, policy: Policy, making: Making = nullcontext) -> None:
        """`found` stays the caller's. making: is around a write, and may refuse it.

        Raises a `ToolError`.
        """
        self.place, self._found, self._policy, self._making = found.place, found, policy, making
        self._seen: bytes | None = None
        self.version = self._current()
        if self.version:
            policy.check_size(self.place.told, self.version.size)

    def read(self) -> bytes:
        """The whole content under the lock. Raises `Missing`, `ReadFailed`."""
        try:
            with ReadableFile(self._found.open(), self.place, self._policy) as file:
                self._seen = file.read()
        except FileNotFoundError:
            name = refusals.shown(self.place.told)
            raise errors.Missing(f"{name} does not exist yet.") from None
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None
        return self._seen

    def write(self, data: bytes, *, expect: Version | None) -> Version:
        """Replace the whole content if it still is `expect`, None for no file.

        Compared right before the content becomes visible. `call.current` may hold a watcher: it is
        told of the change before anything happens. Raises `Conflict`, `Denied`, `TooLarge`,
        `WriteFailed`, `Cancelled`; the old content is then whole.
        """
        told = self.place.told
        try:
            self._require(expect)
            self.check_writable(len(data))
            if watch := call.current.get().watch:
                watch(self._pending(data, expect))
                self._require(expect)  # whoever was asked took his time
            call.current.get().check()
            with self._making(self._found):
                self.version = self._found.put(data, expect, self._seen)
        except FileExistsError:
            raise refusals.changed_meanwhile(told) from None
        except OSError as error:
            raise refusals.refusal(error, told, writing=True) from None
        self._seen = None
        return self.version

    def check_writable(self, size: int) -> None:
        """Raise unless a file of that size may be there, and one there lets itself be replaced."""
        self._policy.check_size(self.place.told, size)
        if self.version and not self._found.writable():
            raise refusals.write_protected(self.place.told)

    def _pending(self, data: bytes, now: Version | None) -> call.PendingChange:
        paths = (self.place.told,)
        if now is None or now.size <= COMPARED:
            before = self.read() if now else None
            return call.PendingChange("write", paths, before, data)
        return call.PendingChange("write", paths, None, data, replaces=True, state=str(now))

    def _require(self, expect: Version | None) -> None:
        try:
            now = self._current()
        except errors.NotAFile:
            raise refusals.changed_meanwhile(self.place.told) from None
        if now != expect:
            raise refusals.changed_meanwhile(self.place.told)

    def _current(self) -> Version | None:
        try:
            entry = self._found.entry()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None
        if entry.kind != "file":
            raise refusals.not_a_file(self.place.told, entry.kind)
        return entry.version
