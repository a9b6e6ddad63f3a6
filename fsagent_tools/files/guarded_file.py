"""What the guard opens for reading: files and directories."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from fsagent_tools.effects import Effect
from fsagent_tools.files.base import FileContent, Filesystem, Listed, Place, ResolvedPath, Version
from fsagent_tools.files.errors import refusal
from fsagent_tools.policy import Policy

SNIFFED = 8192  # bytes of a file's head that decide whether it is text
ENDLESS = 1 << 62  # bytes: what has no size to go by is read to its end


class ReadableFile(AbstractContextManager["ReadableFile"]):
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
        rest = self.version.size - self._at if self.version.size else ENDLESS
        if limit is None:
            limit = largest + 1 if isinstance(largest, int) else rest
        found = self.pread(min(rest, limit), self._at)
        self._at += len(found)
        if not limited:
            self._policy.check_size(self.place.told, len(found))
        return found

    def check_whole(self) -> None:
        """Raise `TooLarge` unless it may be read as a whole."""
        self._policy.check_whole(self.place.told, self.version.size)

    def pread(self, size: int, offset: int) -> bytes:
        """At most `size` bytes from `offset`; fewer only at the end of the file."""
        try:
            return self._content.pread(max(0, size), offset)
        except OSError as error:
            raise refusal(error, self.place.told) from None

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

    def __exit__(self, *_: object) -> None:
        self.close()


class Directory(AbstractContextManager["Directory"]):
    """An open directory, for listing and for walking down.

    identity: equal for one directory, by whatever way it was reached. fd: as of `ReadableFile`.
    """

    __slots__ = ("_at", "_below", "_policy", "_store", "_top", "fd")

    def __init__(
        self, at: ResolvedPath, top: Place, policy: Policy, store: Filesystem, below: str = ""
    ) -> None:
        """Takes over `at`, an open directory at the path `below` beneath `top`."""
        self._store, self._at, self.fd = store, at, at.fd
        self._top, self._policy, self._below = top, policy, below

    @property
    def place(self) -> Place:
        return self._top.inside(self._below)

    @property
    def identity(self) -> object:
        return self._store.identity(self._at)

    def entries(self) -> list[Listed]:
        """What is in it, in any order; valid while it is open. Raises a `ToolError`."""
        try:
            return [*self._store.entries(self._at)]
        except OSError as error:
            raise refusal(error, self.place.told) from None

    def enter(self, name: str) -> "Directory | None":
        """The directory `name` in it; None for a link, a file or nothing. Raises a `ToolError`."""
        try:
            inner = self._store.enter(self._at, name)
        except OSError as error:
            raise refusal(error, self.place.inside(name).told) from None
        below = f"{self._below}/{name}" if self._below else name
        return (
            None if inner is None else Directory(inner, self._top, self._policy, self._store, below)
        )

    def open(self, name: str) -> ReadableFile:
        """The regular file `name` in it, never through a link. Raises a `ToolError`."""
        place = self.place.inside(name)
        self._policy.check_path(place.relative, place.absolute, Effect.READ, told=place.told)
        try:
            inner = ResolvedPath(self._at.above, (name,), fd=self.fd)
            return ReadableFile(self._store.open(inner), place, self._policy)
        except OSError as error:
            raise refusal(error, place.told) from None

    def close(self) -> None:
        self._at.close()

    def __exit__(self, *_: object) -> None:
        self.close()
