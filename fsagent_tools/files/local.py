"""The one door to files: a path goes in, an opened object that was checked comes out."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from fsagent_tools import call
from fsagent_tools.effects import Effect
from fsagent_tools.files import moves, refusals
from fsagent_tools.files.directory import LocalDirectory
from fsagent_tools.files.keeping import EntrySlot, Recorder, Recording
from fsagent_tools.files.locate import DIRECTORY, Locator
from fsagent_tools.files.locks import locked
from fsagent_tools.files.moves import Transfer
from fsagent_tools.files.open_file import READ, OpenFile, kind_of
from fsagent_tools.files.port import TIMEOUT, Copied, Done, Place, Status
from fsagent_tools.files.roots import checked
from fsagent_tools.files.slots import slots
from fsagent_tools.files.syscalls import birth_ns
from fsagent_tools.files.target import Target
from fsagent_tools.policy import Policy

INSIDE = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY  # for what is in a directory
NO_LINK = (errno.EINVAL, errno.ENOENT)  # what reading one answers where there is none


class LocalFiles:
    """Opens files beneath a root, by the policy's leave. Constructing one does no IO.

    walk: never use openat2, always the walk by hand (what other systems do).
    durable: sync written files and their directories before a write returns.
    virtual: see `port.Files`. recording: tells what keeps the old state of files, asked when
    something changes; default nothing.
    """

    def __init__(  # noqa: PLR0913
        self,
        root: str | Path,
        policy: Policy,
        *,
        durable: bool = False,
        walk: bool = False,
        virtual: bool = False,
        recording: Recording | None = None,
    ) -> None:
        self.local_root = Path(root)
        self.policy, self.durable, self._walk, self.virtual = policy, durable, walk, virtual
        self.recording = recording
        self._known: Recorder | None = None
        self._at = Locator(root, policy, virtual=virtual)

    def under(self, policy: Policy, *, virtual: bool = False) -> "LocalFiles":
        """The same files, used by another policy and by such paths."""
        files = LocalFiles(
            self.local_root,
            policy,
            durable=self.durable,
            walk=self._walk,
            virtual=virtual,
            recording=self.recording,
        )
        if policy.allowed_paths == self.policy.allowed_paths:
            files._at.roots = self._at.roots
        return files

    def open(self, path: str, effect: Effect = Effect.READ) -> OpenFile:
        """Open a regular file for reading. Raises a `ToolError`."""
        return OpenFile(*self._opened(path, READ, effect), self.policy)

    def directory(self, path: str) -> LocalDirectory:
        """Open a directory for listing. Raises a `ToolError`.

        It may be closed itself and only lead to what is allowed: see `Policy.check_listing`.
        """
        return LocalDirectory(*self._opened(path, DIRECTORY, Effect.READ), self.policy)

    @contextmanager
    def lock(
        self, path: str, *, create_dirs: bool = False, timeout: float = TIMEOUT
    ) -> Iterator[Target]:
        """Lock the real file that `path` leads to, existing or not, for writing.

        create_dirs: make missing parent directories. timeout: seconds to wait for other writers.
        Raises `TimedOut`, `Missing` (no parent), `NotAFile`, `PathDenied` and other `ToolError`s.
        """
        with (
            self._step(),
            self._held(path, create_dirs=create_dirs) as (fd, name, place),
            locked(fd, name, timeout, path),
        ):
            slot, durable = EntrySlot(fd, name, place), self.durable
            target = Target(slot, self.policy, durable=durable, recorded=self._recorder)
            try:
                yield target
            finally:
                target.close()

    def stat(self, path: str) -> Status:
        """Status of the entry itself, also of a link. Raises a `ToolError`."""
        with self._at.locate(path, Effect.READ, follow=False) as (spot, place):
            found = self._at.status_of(path, spot)
            text = kind = None
            born = birth_ns(spot.fd, spot.name)
            if stat.S_ISLNK(found.st_mode):
                text = os.readlink(spot.name, dir_fd=spot.fd)
                kind = self._at.target_kind(spot.path)
        return Status(
            place, kind_of(found.st_mode), found.st_size, stat.S_IMODE(found.st_mode),
            found.st_mtime_ns, found.st_ctime_ns, found.st_atime_ns, text, kind, born,
        )  # fmt: skip

    def place(self, path: str) -> Place:
        """Where an existing object really is, links resolved. Raises a `ToolError`."""
        with self._at.locate(path, Effect.READ) as (spot, place):
            self._at.status_of(path, spot)
            return place

    def make_directory(self, path: str) -> tuple[Place, bool]:
        """Make a directory and its missing parents; False when it was there.

        Raises `AlreadyExists` for what is not a directory.
        """
        with self._step(), self._at.locate(path, Effect.WRITE) as (spot, place):
            if not spot.names or (len(spot.names) == 1 and self._at.is_directory(path, spot)):
                return place, False
            if watch := call.current.get().watch:
                watch(call.PendingChange("mkdir", (place.told,)))
            self._at.enter_new(spot, spot.names, self._recorder)
            return place, True

    def move(self, source: str, destination: str, overwrite: bool = False) -> Done:
        """Move to exactly `destination`; a link itself is moved. Across devices too.

        overwrite: replace an existing file, never a directory. Raises `AlreadyExists`, `Denied`
        for a root, `InvalidArguments` into itself, other `ToolError`s; the source is then whole.
        """
        with self._step():
            return self._transfer(overwrite).move(source, destination)

    def copy(self, source: str, destination: str, overwrite: bool = False) -> tuple[Done, Copied]:
        """Copy a file or tree with its metadata to exactly `destination`, which appears whole.

        Links in a tree are copied as links when they lead inside, else left out and reported.
        """
        with self._step():
            return self._transfer(overwrite).copy(source, destination)

    def remove(self, path: str, recursive: bool = False) -> Done:
        """Remove a file, a link itself or, when `recursive`, a directory; never a root."""
        with self._step():
            return moves.remove(self._at, path, recursive=recursive, recorded=self._recorder)

    def slots(
        self, directory: str, names: Sequence[str]
    ) -> AbstractContextManager[Sequence[EntrySlot]]:
        """Names in a real directory, "" for the root, held for what keeps the history.

        Raises a `ToolError` for the first that may not be written.
        """
        return slots(self._at, directory, names)

    def close(self) -> None:
        """Close the roots; the next use opens them again."""
        self._at.roots.close()

    @contextmanager
    def _held(self, path: str, *, create_dirs: bool) -> Iterator[tuple[int, str, Place]]:
        """The directory that a file to write is in, open, the file's name there, its place."""
        if found := self._beside(path):
            fd, name, place = found
            try:
                self.policy.check_path(
                    place.relative, place.absolute, Effect.WRITE, told=place.told
                )
                yield fd, name, place
            except OSError as error:
                raise refusals.refusal(error, path, writing=True) from None
            finally:
                os.close(fd)
            return
        with self._at.locate(path, Effect.WRITE) as (spot, place):
            if spot.slash or not spot.names:
                raise refusals.not_a_file(path, "directory")
            if len(spot.names) > 1:
                if not create_dirs:
                    raise self._at.missing(path, spot, made=True)
                if not call.current.get().dry:
                    self._at.enter_new(spot, spot.names[:-1], self._recorder)
            yield spot.fd, "/".join(spot.names), place

    def _beside(self, path: str) -> tuple[int, str, Place] | None:
        """`_held` for an ordinary path: its directory is there, and no link is at its end."""
        checked(path)
        above, slash, name = path.rpartition("/")
        if name in ("", ".", "..") or not (found := self._at_once(above + slash or ".", INSIDE)):
            return None
        fd, directory = found
        try:
            os.readlink(name, dir_fd=fd)
        except OSError as error:
            absolute = f"{directory.absolute.rstrip('/')}/{name}"
            place = self._at.roots.place(absolute, virtual=self.virtual)
            if error.errno in NO_LINK and place:
                return fd, name, place
        os.close(fd)
        return None

    def _recorder(self) -> Recorder | None:
        if self._known is None and self.recording:
            self._known = self.recording()
        return self._known

    def _step(self) -> AbstractContextManager[None]:
        return call.one_step() if self.recording else nullcontext()

    def _transfer(self, overwrite: bool) -> Transfer:
        durable = self.durable
        return Transfer(self._at, overwrite=overwrite, durable=durable, recorded=self._recorder)

    def _opened(self, path: str, flags: int, effect: Effect) -> tuple[int, Place]:
        """The descriptor of an object that the policy allows, and its place."""
        checked(path)
        fd, place = self._at_once(path, flags) or self._walked(path, flags)
        try:
            if flags & os.O_DIRECTORY:
                self.policy.check_listing(place.relative, place.absolute, told=place.told)
            else:
                self.policy.check_path(place.relative, place.absolute, effect, told=place.told)
        except BaseException:
            os.close(fd)
            raise
        return fd, place

    def _at_once(self, path: str, flags: int) -> tuple[int, Place] | None:
        if self._walk:
            return None
        return self._at.roots.open_at_once(path, flags, virtual=self.virtual)

    def _walked(self, path: str, flags: int) -> tuple[int, Place]:
        listing = bool(flags & os.O_DIRECTORY)
        with self._at.locate(path, Effect.READ, listing=listing) as (spot, place):
            status = self._at.status_of(path, spot)
            if listing and not stat.S_ISDIR(status.st_mode):
                raise refusals.not_a_directory(path)
            if not listing and not stat.S_ISREG(status.st_mode):
                raise refusals.not_a_file(path, kind_of(status.st_mode))
            fd = os.open(spot.name, flags | os.O_NOFOLLOW, dir_fd=spot.fd)
            return fd, place
