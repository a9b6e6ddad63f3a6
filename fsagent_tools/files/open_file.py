"""Entries, open files and the identity of a content: on this machine, then in a store."""

import errno
import os
import stat
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

GRAIN_NS = 20_000_000  # kernels stamp files once a tick, at most 10 ms; doubled
COARSE_GRAIN_NS = 2_000_000_000  # FAT; also any stamp in whole seconds
_LARGEST = 64 << 20  # bytes of one read
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY
INNER = DIRECTORY | os.O_NOFOLLOW
AT_CWD = -100  # AT_FDCWD of linux/fcntl.h: in place of a directory
STATX_BTIME = 0x800  # asked for and, in the answer, known
STATX_SIZE, STATX_BIRTH = 256, 80  # bytes of the answer, and where the time of birth is in it
AT_SYMLINK_NOFOLLOW = 0x100
STATFS_SIZE = 4096  # bytes, more than any system's answer has; the first are the type on Linux
OVERLAY = 0x794C7630  # OVERLAYFS_SUPER_MAGIC of linux/magic.h
KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}


def os_error(code: int) -> OSError:
    """An error of the system with its own words."""
    return OSError(code, os.strerror(code))


@contextmanager
def opened(fd: int, name: str, flags: int = INNER, mode: int = 0o600) -> Iterator[int]:
    """What is called so beneath `fd`, opened: by default a directory, never through a link."""
    found = os.open(name, flags, mode, dir_fd=fd)
    try:
        yield found
    finally:
        os.close(found)


def kind_of(mode: int) -> str:
    """ "file", "directory", "link", or "device, socket or pipe"."""
    return KINDS.get(stat.S_IFMT(mode), "device, socket or pipe")


@cache
def _statx() -> Callable[[int, str], bytes | None] | None:
    import ctypes

    function = getattr(ctypes.CDLL(None), "statx", None)
    if function is None:
        return None
    text, number = ctypes.c_char_p, ctypes.c_uint
    function.argtypes = (ctypes.c_int, text, ctypes.c_int, number, ctypes.c_void_p)

    def call(dir_fd: int, name: str) -> bytes | None:
        found = ctypes.create_string_buffer(STATX_SIZE)
        wrong = function(dir_fd, os.fsencode(name), AT_SYMLINK_NOFOLLOW, STATX_BTIME, found)
        return None if wrong else found.raw

    return call


def birth_ns(dir_fd: int, name: str) -> int | None:
    """When an entry, a link itself, was made, in ns since 1970; None where nothing tells."""
    call = _statx()
    found = call(dir_fd, name) if call else None
    if found is None or not struct.unpack_from("=I", found)[0] & STATX_BTIME:
        return None
    seconds, nanoseconds = struct.unpack_from("=qI", found, STATX_BIRTH)
    return int(seconds * 10**9 + nanoseconds)


def is_overlay(path: str) -> bool:
    """Whether it is on a file system that copies a directory when something in it first changes."""
    import ctypes

    function = getattr(ctypes.CDLL(None), "statfs", None)
    found = ctypes.create_string_buffer(STATFS_SIZE)
    if function is None or function(os.fsencode(path), found):
        return False
    return bool(struct.unpack_from("l", found)[0] == OVERLAY)


def check_regular(status: os.stat_result) -> None:
    """Raise `OSError` for what is no regular file."""
    if not stat.S_ISREG(status.st_mode):
        raise os_error(errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.ENXIO)


class Signature(NamedTuple):
    """What `stat` says of a file's content; any write changes it, save one within a clock tick.

    `str()` of it holds in other processes, too, as that of an `Etag` does.
    """

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int
    device: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Signature":
        return cls(
            status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev
        )

    def racy(self, now_ns: int | None = None) -> bool:
        """True while a further write could leave the same stamps (git's racy-index rule)."""
        grain = GRAIN_NS if self.mtime_ns % 1_000_000_000 else COARSE_GRAIN_NS
        now = time.time_ns() if now_ns is None else now_ns
        return now - max(self.mtime_ns, self.ctime_ns) < grain


class LocalEntry(NamedTuple):
    """What is at a path, of a link the link."""

    status: os.stat_result

    @property
    def kind(self) -> str:
        return kind_of(self.status.st_mode)

    @property
    def size(self) -> int:
        return self.status.st_size

    @property
    def version(self) -> Signature:
        return Signature.of(self.status)


class LocalFile:
    """An open regular file; `version` is as of opening, so from before any byte was read."""

    __slots__ = ("fd", "version")

    def __init__(self, fd: int) -> None:
        """Takes over `fd` and closes it when it is no regular file. Raises `OSError`."""
        self.fd = fd
        try:
            status = os.fstat(fd)
            check_regular(status)
        except BaseException:
            os.close(fd)
            raise
        self.version = Signature.of(status)

    def pread(self, size: int, offset: int) -> bytes:
        parts = []
        while size > 0 and (part := os.pread(self.fd, min(size, _LARGEST), offset)):
            parts.append(part)
            size, offset = size - len(part), offset + len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Etag(NamedTuple):
    """A version of a file: every write gives it another `tag`, in whichever process."""

    tag: str
    size: int
    mtime_ns: int = 0

    def racy(self, now_ns: int | None = None) -> bool:
        """Never: no two contents have one tag."""
        return False


class _Stamps(NamedTuple):
    st_size: int
    st_mtime_ns: int


class StoreEntry(NamedTuple):
    """A file, or a directory, which has no version."""

    name: str
    version: Etag | None = None

    @property
    def kind(self) -> str:
        return "file" if self.version else "directory"

    @property
    def size(self) -> int:
        return self.version.size if self.version else 0

    def is_dir(self, *, follow_symlinks: bool = False) -> bool:
        return not self.version

    def is_file(self, *, follow_symlinks: bool = False) -> bool:
        return bool(self.version)

    def is_symlink(self) -> bool:
        return False

    def stat(self, *, follow_symlinks: bool = False) -> _Stamps:
        return _Stamps(self.size, self.version.mtime_ns if self.version else 0)


class StoredFile:
    """A file that a store opened; here one whose bytes are all there.

    Another one may fetch a window when `pread` asks for it, of what the file was when it was
    opened, and raise `OSError` where that is gone.
    """

    fd = -1

    def __init__(self, version: Etag, data: bytes = b"") -> None:
        self.version, self._data = version, data

    def pread(self, size: int, offset: int) -> bytes:
        """At most `size` bytes from `offset`; fewer only at the end."""
        return self._data[offset : offset + size]

    def close(self) -> None:
        """Give up what is held open."""
