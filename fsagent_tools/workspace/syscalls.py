"""The two kernel calls that Python's `os` lacks: openat2 and a rename that never replaces."""

import errno
import os
import struct
import sys
from collections.abc import Callable
from functools import cache

SYS_OPENAT2 = 437  # the same number on every architecture since Linux 5.6
RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_BENEATH = 0x08
RENAME_NOREPLACE = 1  # Linux renameat2
RENAME_EXCL = 4  # macOS renameatx_np
UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)
OpenBeneath = Callable[[int, bytes, int], int]


@cache
def open_beneath() -> OpenBeneath | None:
    """`call(dir_fd, path, flags) -> fd` that cannot leave `dir_fd`; None where the kernel lacks it.

    `path` must hold no NUL. Raises `OSError`; EXDEV for a path or link that leaves. Probed once.
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
            how = hows[flags] = struct.pack("=QQQ", flags | os.O_CLOEXEC, 0, resolve)
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
def _exclusive_rename() -> Callable[[int, bytes, int, bytes], None] | None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    name, flag = (
        ("renameatx_np", RENAME_EXCL)
        if sys.platform == "darwin"
        else ("renameat2", RENAME_NOREPLACE)
    )
    function = getattr(libc, name, None)
    if function is None:
        return None
    fd, text = ctypes.c_int, ctypes.c_char_p
    function.argtypes = (fd, text, fd, text, ctypes.c_uint)

    def call(old_fd: int, old: bytes, new_fd: int, new: bytes) -> None:
        if function(old_fd, old, new_fd, new, flag):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))

    return call


def rename_new(old_fd: int, old: str, new_fd: int, new: str) -> None:
    """Rename between two directories; `FileExistsError` instead of replacing, without a race.

    Where the file system cannot do that, a file is linked and unlinked, which is as safe; a
    directory is renamed after a look, and the kernel still refuses to replace a non-empty one.
    """
    call = _exclusive_rename()
    if call is not None:
        try:
            return call(old_fd, os.fsencode(old), new_fd, os.fsencode(new))
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


def exists(fd: int, name: str) -> bool:
    """True for an entry of any kind, dangling links included."""
    try:
        os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
