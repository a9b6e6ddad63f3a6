"""One writer per real file, and what it may do: a table for threads, flock for processes."""

import errno
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from fsagent_tools import call, errors
from fsagent_tools.files import errors as refusals
from fsagent_tools.files.atomic import dead_temps, remove_tree
from fsagent_tools.files.base import (
    COMPARED,
    ENDLESS,
    SNIFFED,
    Filesystem,
    Making,
    ResolvedPath,
    Version,
)
from fsagent_tools.files.errors import locked_by_another, refusal, shown
from fsagent_tools.files.resolve import DIRECTORY, opened

if TYPE_CHECKING:
    from fsagent_tools.policy import Policy

FIRST_WAIT, LONGEST_WAIT = 0.0005, 0.01  # seconds between looks at another process's lock
NO_FLOCK = (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL)  # directories on NFS
SWEEP_EVERY = 60.0  # seconds between two looks for dead temps in one directory

_Key = tuple[int, int]
_Lock = tuple[_Key, str]  # of a directory, and a name in it
_changed = threading.Condition()
_files = set[_Lock]()
_directories: dict[_Key, tuple[int, int]] = {}  # -> descriptor that carries the flock, holders
_swept: dict[_Key, float] = {}


class LockedFile:
    """An existing or future regular file under its lock; `version` is None where there is none."""

    def __init__(
        self, store: Filesystem, at: ResolvedPath, policy: "Policy", making: Making
    ) -> None:
        """`at` stays the caller's. making: is around a write, and may refuse it.

        Raises a `ToolError`.
        """
        self.place, self._at, self._store = at.place, at, store
        self._policy, self._making = policy, making
        self._seen: bytes | None = None
        self.version = self._current()
        if self.version:
            self._policy.check_size(self.place.told, self.version.size)

    def read(self, check: Callable[[bytes, str, int], None] | None = None) -> bytes:
        """The whole content under the lock. Raises `Missing`, `ReadFailed`, `TooLarge`.

        check: may refuse the file by its first bytes, name and size, before all are read.
        """
        told = self.place.told
        try:
            with closing(self._store.open(self._at)) as content:
                size = content.version.size
                self._policy.check_size(told, size)
                if check and size > SNIFFED:
                    check(content.pread(SNIFFED, 0), told, size)
                self._policy.check_whole(told, size)
                self._seen = content.pread(size or ENDLESS, 0)
        except FileNotFoundError:
            raise errors.Missing(f"{shown(told)} does not exist yet.") from None
        except OSError as error:
            raise refusal(error, told) from None
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
            with self._making(self._at):
                self.version = self._store.write(self._at, data, expect, self._seen)
        except FileExistsError:
            raise refusals.changed_meanwhile(told) from None
        except OSError as error:
            raise refusal(error, told, writing=True) from None
        self._seen = None
        return self.version

    def check_writable(self, size: int) -> None:
        """Raise unless a file of that size may be there, and one there lets itself be replaced."""
        self._policy.check_size(self.place.told, size)
        if self.version and not self._store.writable(self._at):
            hint = "Change its permissions first, or write another file."
            raise errors.Denied(f"{shown(self.place.told)} is write-protected.", hint=hint)

    def _pending(self, data: bytes, now: Version | None) -> call.PendingChange:
        paths = (self.place.told,)
        if now is None or now.size <= COMPARED:
            return call.PendingChange("write", paths, self.read() if now else None, data)
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
            entry = self._store.stat(self._at)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise refusal(error, self.place.told) from None
        if entry.kind != "file":
            raise refusals.not_a_file(self.place.told, entry.kind)
        return entry.version


def locked(fd: int, name: str, timeout: float, path: str) -> AbstractContextManager[None]:
    """The lock of `name` in the open directory `fd`, existing or not.

    Threads of this process share the directory's flock, so that one may hold two files of a
    directory.
    """
    status = os.fstat(fd)
    return hold((status.st_dev, status.st_ino), name, timeout, path, fd)


@contextmanager
def hold(key: _Key, name: str, timeout: float, path: str, fd: int = -1) -> Iterator[None]:
    """Hold the lock of `name` in what `key` stands for; fd: a directory that others lock, too.

    Raises `TimedOut` after `timeout` seconds, `Cancelled` when the call is.
    """
    release = _taken((key, name), fd, timeout, path)
    try:
        yield
    finally:
        release()


@contextmanager
def hold_all(places: Sequence[tuple[int, str]], path: str, timeout: float) -> Iterator[None]:
    """Hold several files' locks, taken in one order whatever order they are named in."""

    def order(place: tuple[int, str]) -> tuple[int, int, str]:
        status = os.fstat(place[0])
        return status.st_dev, status.st_ino, place[1]

    unique = {order(place): place for place in places}
    with ExitStack() as stack:
        for _, (fd, name) in sorted(unique.items()):
            stack.enter_context(locked(fd, name, timeout, path))
        yield


def _try(lock: _Lock, fd: int) -> bool:
    """Take a lock that nobody has."""
    if lock in _files:
        return False
    key, _ = lock
    carrier, holders = _directories.get(key, (-1, 0))
    if not holders and fd >= 0:
        # Its own open file description: a dup would not conflict with other holders of it.
        carrier = os.open(".", DIRECTORY, dir_fd=fd)
        try:
            fcntl.flock(carrier, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in NO_FLOCK:
                os.close(carrier)
                if isinstance(error, BlockingIOError):
                    return False
                raise
    _directories[key] = (carrier, holders + 1)
    _files.add(lock)
    return True


def _release(lock: _Lock, taken_under: threading.Condition) -> None:
    with _changed:
        if taken_under is not _changed:  # a fork meanwhile left the lock with the parent
            return
        _files.remove(lock)
        key, _ = lock
        carrier, holders = _directories[key]
        if holders > 1:
            _directories[key] = (carrier, holders - 1)
        else:
            del _directories[key]
            if carrier >= 0:
                with suppress(OSError):
                    # A child forked meanwhile has the same description: closing it would not
                    # unlock it.
                    fcntl.flock(carrier, fcntl.LOCK_UN)
                os.close(carrier)
        _changed.notify_all()


def _taken(lock: _Lock, fd: int, timeout: float, path: str) -> Callable[[], None]:
    """Take the lock; returns what gives it back."""
    running, deadline, wait = call.current.get(), time.monotonic() + timeout, FIRST_WAIT
    with _changed:
        while not _try(lock, fd):
            running.check()
            if (left := deadline - time.monotonic()) <= 0:
                raise locked_by_another(path, timeout)
            _changed.wait(min(wait, left))
            wait = min(wait * 1.5, LONGEST_WAIT)
    return partial(_release, lock, _changed)


def sweep(fd: int) -> None:
    """Remove what dead processes left in a locked directory; rarely, and never fails."""
    status, now = os.fstat(fd), time.monotonic()
    key = (status.st_dev, status.st_ino)
    if now - _swept.get(key, -SWEEP_EVERY) < SWEEP_EVERY:
        return
    if len(_swept) > 10_000:
        _swept.clear()
    _swept[key] = now
    with suppress(OSError), opened(fd, ".") as directory:
        for name in dead_temps(os.listdir(directory)):
            with suppress(OSError):
                remove_tree(directory, name)


def _forget() -> None:
    """In a forked child: the parent's locks are not ours."""
    global _changed
    _changed = threading.Condition()
    _files.clear()
    for carrier, _ in _directories.values():
        if carrier >= 0:
            os.close(carrier)
    _directories.clear()


os.register_at_fork(after_in_child=_forget)
