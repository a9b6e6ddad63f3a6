"""Values in a directory, a file each; locks that go with their process."""

import fcntl
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from fsagent_tools.call import current

_LOOK = 0.05  # seconds between two looks whether a lease is free
_NEW_ENDING = ".new"


class Value(NamedTuple):
    """tag: the version; another one whenever the data differ."""

    data: bytes
    tag: Any


class DirectoryState:
    """For processes that see one directory and each other's locks. Keys have no "/"; an empty
    file is no value.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return str(self.folder)

    def get(self, key: str) -> Value | None:
        with suppress(FileNotFoundError), self._held(key, os.O_RDONLY, fcntl.LOCK_SH) as fd:
            data = os.pread(fd, os.fstat(fd).st_size, 0)
            return Value(data, _tag(os.fstat(fd))) if data else None
        return None

    def create(self, key: str, data: bytes) -> Any:
        """Write a value that is not there yet; its tag, None if there is one."""
        # In place: an earlier version holds the lock of an empty file while its call runs.
        with self._held(key, os.O_RDWR | os.O_CREAT) as fd:
            if os.fstat(fd).st_size or not self._is_there(key, fd):
                return None
            _write(fd, data)
            return _tag(os.fstat(fd))

    def replace(self, key: str, data: bytes, tag: Any) -> Any:
        """Write over the version `tag`; the new tag, None if that is not the value any more."""
        with suppress(FileNotFoundError), self._held(key, os.O_RDWR) as fd:
            if _tag(os.fstat(fd)) != tag or not self._is_there(key, fd):
                return None
            if data.startswith(held := os.pread(fd, os.fstat(fd).st_size, 0)):
                return _grown(fd, len(held), data)
            new = self.folder / f"{key}-{os.urandom(4).hex()}{_NEW_ENDING}"
            try:
                with _opened(new, os.O_RDWR | os.O_CREAT | os.O_EXCL) as made:
                    _write(made, data)
                    new.replace(self.folder / key)
                    return _tag(os.fstat(made))
            except OSError:
                new.unlink(missing_ok=True)
                raise
        return None

    def put(self, key: str, data: bytes) -> None:
        """Write a value, whatever is there, unless others write it all the time."""
        for _ in range(20):
            held = self.get(key)
            tag = self.create(key, data) if held is None else self.replace(key, data, held.tag)
            if tag is not None:
                return

    def delete(self, key: str) -> None:
        (self.folder / key).unlink(missing_ok=True)

    def written(self) -> Iterator[tuple[str, float]]:
        """Keys, and when each was written last, in seconds since 1970."""
        for path in self.folder.iterdir():
            with suppress(FileNotFoundError):
                yield path.name, path.stat().st_mtime

    @contextmanager
    def lease(self, key: str) -> Iterator[None]:
        """Waits until nobody else is in such a block; one whose process ended is in none."""
        at = int.from_bytes(sha256(key.encode()).digest()[:7])
        with _opened(leases(self.folder), os.O_RDWR | os.O_CREAT) as fd:
            while not _is_locked(fd, at):
                current.get().check()
                time.sleep(_LOOK)
            yield

    @contextmanager
    def _held(self, key: str, flags: int, lock: int = fcntl.LOCK_EX) -> Iterator[int]:
        with _opened(self.folder / key, flags) as fd:
            fcntl.flock(fd, lock)
            yield fd

    def _is_there(self, name: str, fd: int) -> bool:
        """Whether the open file still has its name."""
        with suppress(FileNotFoundError):
            return os.path.samestat((self.folder / name).stat(), os.fstat(fd))
        return False


def leases(folder: Path) -> Path:
    """The file beside it, of whose bytes one is locked for each lease."""
    return folder.with_suffix(".leases")


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


def _is_locked(fd: int, at: int) -> bool:
    """Lock one byte, for as long as the file is open; there need not be one."""
    lock = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, at, 1, 0)
    try:
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, lock)
    except BlockingIOError:
        return False
    return True


def _grown(fd: int, size: int, data: bytes) -> tuple[int, ...]:
    """What goes on as it was is written on, at the price of one sync less; who is killed meanwhile
    leaves it cut off.
    """
    try:
        os.lseek(fd, size, os.SEEK_SET)
        _write(fd, data[size:])
    except OSError:
        os.ftruncate(fd, size)
        raise
    return _tag(os.fstat(fd))


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
    os.fsync(fd)


def _tag(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_mtime_ns, status.st_size
