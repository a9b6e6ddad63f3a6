"""Old files: how they are copied, and known again by what they were."""

import errno
import fcntl
import os
from contextlib import suppress

from fsagent_tools.files.atomic import copy_metadata
from fsagent_tools.files.open_file import AT_CWD, opened
from fsagent_tools.history.states import Identity

_CLONE = 0x40049409  # FICLONE of linux/fs.h


def is_whole(status: os.stat_result, identity: Identity) -> bool:
    """Whether a kept file is as it was; some file systems have whole seconds only."""
    _, mtime, size = identity
    return status.st_size == size and status.st_mtime_ns in (mtime, mtime // 10**9 * 10**9)


def copy_file(source: int, path: str, identity: Identity) -> None:
    """A copy of the open file, which is in that state; whole, or none. Raises `OSError`.

    Its time is set last: who was killed leaves one that is no copy.
    """
    with suppress(FileNotFoundError):
        if is_whole(os.lstat(path), identity):
            return
        os.unlink(path)
    with opened(AT_CWD, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as out:
        try:
            fill(source, out, identity[2])
            copy_metadata(source, out)
            now = os.fstat(source)
            if (now.st_ino, now.st_mtime_ns, now.st_size) != identity:
                raise OSError(errno.ESTALE, "changed meanwhile")
            os.utime(out, ns=(identity[1], identity[1]))
        except BaseException:
            os.unlink(path)
            raise


def fill(source: int, target: int, size: int) -> None:
    """By a reflink where there are such, else by the kernel. Raises `OSError`."""
    with suppress(OSError):
        fcntl.ioctl(target, _CLONE, source)
        return
    while size > 0:
        if not (done := os.sendfile(target, source, None, size)):
            raise OSError(errno.ESTALE, "changed meanwhile")
        size -= done
