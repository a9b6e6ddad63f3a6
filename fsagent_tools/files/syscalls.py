"""The kernel calls that Python's `os` lacks: openat2, and renames that never replace or swap."""

import errno
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from stat import S_ISREG

SYS_OPENAT2 = 437  # the same number on every architecture since Linux 5.6
RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_NO_SYMLINKS = 0x04
RESOLVE_BENEATH = 0x08
RENAME_NOREPLACE = 1  # Linux renameat2
RENAME_EXCL = 4  # macOS renameatx_np
RENAME_SWAP = 2  # Linux RENAME_EXCHANGE, the same number
STATX_BTIME = 0x800  # asked for and, in the answer, known
STATX_SIZE, STATX_BIRTH = 256, 80  # bytes of the answer, and where the time of birth is in it
AT_SYMLINK_NOFOLLOW = 0x100
UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)
OpenBeneath = Callable[[int, bytes, int], int]


@cache
def open_beneath() -> OpenBeneath | None:
    """`call(dir_fd, path, flags) -> fd` that cannot leave `dir_fd`; None where the kernel lacks it.

    `path` must hold no NUL; with `O_NOFOLLOW` no part of it may be a link. Raises `OSError`; EXDEV
    for a path or link that leaves. Probed once.
    """
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    syscall = ctypes.CDLL(None, use_errno=True).syscall
    text, number = ctypes.c_char_p, ctypes.c_long
    syscall.argtypes = (number, ctypes.c_int, text, text, ctypes.c_size_t)
    syscall.restype = number
    resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS
    get_errno = ctypes.get_errno
    hows: dict[int, bytes] = {}

    def call(dir_fd: int, path: bytes, flags: int) -> int:
        how = hows.get(flags)
        if how is None:
            links = RESOLVE_NO_SYMLINKS if flags & os.O_NOFOLLOW else 0
            how = hows[flags] = struct.pack("=QQQ", flags | os.O_CLOEXEC, 0, resolve | links)
        fd: int = syscall(SYS_OPENAT2, dir_fd, path, how, 24)
        while fd < 0:
            if (code := get_errno()) != errno.EINTR:
                raise OSError(code, os.strerror(code))
            fd = syscall(SYS_OPENAT2, dir_fd, path, how, 24)
        return fd

    try:
        root = os.open("/", os.O_PATH | os.O_DIRECTORY)
        try:
            os.close(call(root, b".", os.O_PATH | os.O_DIRECTORY))
        finally:
            os.close(root)
    except OSError:
        return None
    return call


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


@cache
def _flagged_rename() -> Callable[[int, str, int, str, int], None] | None:
    import ctypes

    name = "renameatx_np" if sys.platform == "darwin" else "renameat2"
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None:
        return None
    fd, text = ctypes.c_int, ctypes.c_char_p
    function.argtypes = (fd, text, fd, text, ctypes.c_uint)

    def call(old_fd: int, old: str, new_fd: int, new: str, flag: int) -> None:
        if function(old_fd, os.fsencode(old), new_fd, os.fsencode(new), flag):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))

    return call


def rename_new(old_fd: int, old: str, new_fd: int, new: str) -> None:
    """Rename between two directories; `FileExistsError` instead of replacing, without a race.

    Where the file system cannot do that, a file is linked and unlinked, which is as safe; a
    directory is renamed after a look, and the kernel still refuses to replace a non-empty one.
    """
    call = _flagged_rename()
    if call is not None:
        flag = RENAME_EXCL if sys.platform == "darwin" else RENAME_NOREPLACE
        try:
            return call(old_fd, old, new_fd, new, flag)
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
    try:
        os.link(old, new, src_dir_fd=old_fd, dst_dir_fd=new_fd, follow_symlinks=False)
    except (PermissionError, NotImplementedError) as error:
        if exists(new_fd, new):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new) from error
        os.rename(old, new, src_dir_fd=old_fd, dst_dir_fd=new_fd)
    else:
        os.unlink(old, dir_fd=old_fd)
    return None


def exchange_names(one_fd: int, one: str, other_fd: int, other: str) -> None:
    """Swap what two names stand for, atomically. Raises `OSError`, also where that is unknown."""
    call = _flagged_rename()
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    call(one_fd, one, other_fd, other, RENAME_SWAP)


def swap_in(fd: int, temporary: str, name: str) -> None:
    """Give `name` the file `temporary`, atomically; what had the name may stay as `temporary`.

    ext4 waits for the disk when a rename replaces a file, which only content that must outlive a
    power cut is worth.
    """
    call = _flagged_rename()
    with suppress(OSError):  # there is nothing to swap with, or the file system cannot
        if call and S_ISREG(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
            return call(fd, temporary, fd, name, RENAME_SWAP)
    return os.replace(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)


def exists(fd: int, name: str) -> bool:
    """True for an entry of any kind, dangling links included."""
    try:
        os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
