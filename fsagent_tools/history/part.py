"""A part of a history: lines in the order of time, and the old files that they tell of."""

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from hashlib import blake2b, file_digest
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import finalize

from fsagent_tools.files.replace import write_all

JOURNAL, KEPT = "journal", "kept"
IDS_ENDING = ".ids"  # ends the name of a line index, which keeps its other name for a while
FULL = 4 << 20  # bytes of a journal; then another one is begun
LARGE = 64 << 20  # bytes of old files, likewise
_CLONE = 0x40049409  # FICLONE of linux/fs.h
_NO_CLONE = (errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.EPERM, errno.EBADF)
_BLOCK = 1 << 20
_digest = partial(blake2b, digest_size=16)
_SHORT = (",", ":")


class Part:
    """One writer's open part of a history. Its lock says to others that it is in use."""

    def __init__(self, folder: str) -> None:
        """Raises `OSError`, `BlockingIOError` for the part of another process."""
        self.folder, self.name = folder, os.path.basename(folder)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        self._journal = os.open(f"{folder}/{JOURNAL}", flags, 0o600)
        # A `__del__` would close it while others still reach the part through weak references;
        # and at exit threads may still write.
        finalize(self, _close, self._journal).atexit = False
        fcntl.flock(self._journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(self._journal)
        self._size, self.device = status.st_size, status.st_dev
        if self._size and os.pread(self._journal, 1, self._size - 1) != b"\n":
            self._size += os.write(self._journal, b"\n")  # the end of a line that was cut off
        self._numbers, self._lock, self._last = count(), Lock(), 0
        self._bytes = kept_bytes(folder)

    @property
    def gone(self) -> bool:
        """Whether somebody removed it from its directory."""
        return os.fstat(self._journal).st_nlink == 0

    @property
    def full(self) -> bool:
        return self._size > FULL or self._bytes > LARGE

    def append(self, lines: Iterable[Mapping[str, Any]]) -> int:
        """Lines of one moment, in one write, so that they are there or not. Returns the moment."""
        with self._lock:
            self._last = max(time.time_ns(), self._last + 1)
            at = {"at": self._last}
            text = "".join(f"{json.dumps(at | dict(line), separators=_SHORT)}\n" for line in lines)
            try:
                write_all(self._journal, text.encode())
            except OSError:
                os.ftruncate(self._journal, self._size)
                raise
            self._size += len(text)
            return self._last

    def reference(self, kept: str) -> str:
        """What lines call a kept file, whatever part they are in."""
        return f"{self.name}/{kept}"

    def _new(self, ending: str = "") -> tuple[str, str]:
        """A name for a kept file, and its path."""
        name = f"{os.getpid()}-{time.time_ns():x}-{next(self._numbers)}{ending}"
        return name, self.path(name)

    def path(self, kept: str) -> str:
        return f"{self.folder}/{KEPT}/{kept}"

    def keep(self, fd: int, name: str, size: int, ending: str = "") -> str:
        """A further name for the file itself; it is about to lose its own. Raises `OSError`."""
        kept, path = self._new(ending)
        os.link(name, path, src_dir_fd=fd, follow_symlinks=False)
        self._bytes += size
        return kept

    def take(self, fd: int, name: str, size: int) -> str:
        """The file itself, out of its directory. Raises `OSError`."""
        kept, path = self._new()
        os.rename(name, path, src_dir_fd=fd)
        self._bytes += size
        return kept

    def add(self, data: bytes) -> str:
        """A new kept file; its path."""
        kept, path = self._new()
        out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            write_all(out, data)
        except BaseException:
            self.drop(kept)
            raise
        finally:
            os.close(out)
        return path

    def copy(self, source: int) -> tuple[str, str]:
        """A copy of the open file: its name, and the checksum of what it holds."""
        (kept, path), status = self._new(), os.fstat(source)
        out = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            checksum = clone(source, out)
            os.fchmod(out, status.st_mode & 0o7777)
        except BaseException:
            self.drop(kept)
            raise
        finally:
            os.close(out)
        self._bytes += status.st_size
        return kept, checksum

    def checksum(self, kept: str) -> str:
        """blake2b of a kept file, in hexadecimal."""
        with Path(self.path(kept)).open("rb") as file:
            return file_digest(file, _digest).hexdigest()

    def drop(self, kept: str) -> None:
        with suppress(OSError):
            os.unlink(self.path(kept))


def kept_bytes(folder: str | Path) -> int:
    """Bytes on disk of a part's files; of one that has its name in the workspace, too, none."""
    total = 0
    with suppress(OSError), os.scandir(f"{folder}/{KEPT}") as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            total += status.st_blocks * 512 if status.st_nlink == 1 else 0
    return total


def _close(fd: int) -> None:
    with suppress(OSError):
        os.close(fd)


def clone(source: int, target: int) -> str:
    """Fill `target` with what `source` holds, by reflink where that can be; returns a checksum."""
    summed, offset, cloned = blake2b(digest_size=16), 0, reflinked(source, target)
    while block := os.pread(source, _BLOCK, offset):
        summed.update(block)
        if not cloned:
            write_all(target, block)
        offset += len(block)
    return summed.hexdigest()


def reflinked(source: int, target: int) -> bool:
    """Fill `target` by a reflink; False where the file systems have none. Raises `OSError`."""
    try:
        fcntl.ioctl(target, _CLONE, source)
    except OSError as error:
        if error.errno not in _NO_CLONE:
            raise
        return False
    return True
