"""One writer per real file: a table for threads, flock on its directory for processes."""

import errno
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial

from fsagent_tools import call
from fsagent_tools.files.atomic import dead_temps, remove_tree
from fsagent_tools.files.errors import locked_by_another
from fsagent_tools.files.open_file import DIRECTORY, opened

FIRST_WAIT, LONGEST_WAIT = 0.0005, 0.01  # seconds between looks at another process's lock
NO_FLOCK = (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL)  # directories on NFS
SWEEP_EVERY = 60.0  # seconds between two looks for dead temps in one directory

_Key = tuple[int, int]
_Lock = tuple[_Key, str]  # of a directory, and a name in it
_changed = threading.Condition()
_files = set[_Lock]()
_directories: dict[_Key, tuple[int, int]] = {}  # -> descriptor that carries the flock, holders
_swept: dict[_Key, float] = {}


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
