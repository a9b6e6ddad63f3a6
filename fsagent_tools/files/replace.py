"""Write a file so that every moment of it is the old content or the new, whole; rename likewise."""

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache

from fsagent_tools import call, errors
from fsagent_tools.files.keeping import EntrySlot, Recorder
from fsagent_tools.files.open_file import DIRECTORY, opened

TEMP_PREFIX = ".fsagent-tmp-"  # names that walkers hide and the next writer sweeps
RECOVERY_PREFIX = ".fsagent-recovery-"  # an old content kept for a human; never swept
IN_PLACE = (errno.EPERM, errno.EBUSY, errno.EXDEV)  # what a rename onto a mount point answers
_BLOCK = 1 << 20
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
RENAME_NOREPLACE = 1  # Linux renameat2
RENAME_EXCL = 4  # macOS renameatx_np
RENAME_SWAP = 2  # Linux RENAME_EXCHANGE, the same number
UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)
_live: set[str] = set()


def drop(fd: int, name: str) -> None:
    """Remove a file if it is still there, and can be."""
    with suppress(OSError):
        os.unlink(name, dir_fd=fd)


@contextmanager
def temporary(fd: int, remove: Callable[[int, str], None] = drop) -> Iterator[str]:
    """A name in a directory that no other process takes for a dead one's; what has it then goes."""
    name = f"{TEMP_PREFIX}{os.getpid()}-{os.urandom(8).hex()}"
    _live.add(name)
    try:
        yield name
    finally:
        try:
            with suppress(OSError):
                remove(fd, name)
        finally:
            _live.discard(name)


def dead_temps(names: Sequence[str]) -> list[str]:
    """Those of `names` that a process left behind; ask only while holding the directory's lock."""
    return [n for n in names if n.startswith(TEMP_PREFIX) and n not in _live and not _alive(n)]


def _alive(name: str) -> bool:
    pid = name.removeprefix(TEMP_PREFIX).split("-")[0]
    if not pid.isdecimal() or int(pid) == os.getpid():
        return False
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes, completing short writes."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def copy_metadata(source: int, target: int, known: os.stat_result | None = None) -> None:
    """Give `target` the owner, extended attributes (ACLs) and mode of `source`, as allowed.

    known: the status of `source`.
    """
    old, new = known or os.fstat(source), os.fstat(target)
    mode = stat.S_IMODE(old.st_mode)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.fchown(target, old.st_uid, old.st_gid)
        except OSError:
            mode &= ~(stat.S_ISUID | stat.S_ISGID)  # never lend another owner's rights
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(source):
                with suppress(OSError):
                    os.setxattr(target, name, os.getxattr(source, name))
    with suppress(OSError):
        os.fchmod(target, mode)


def sync_directory(fd: int) -> None:
    """Sync an open directory, also one that is open for finding names in it only."""
    with opened(fd, ".", DIRECTORY) as readable:
        os.fsync(readable)


@contextmanager
def noted(forget: Callable[[], None] | None) -> Iterator[None]:
    """Around a change that was told of: `forget` is what to call where nothing comes of it."""
    try:
        yield
    except OSError:
        if forget:
            forget()
        raise


class AtomicWrite:
    """One atomic write in a slot.

    old: descriptor of the file that is replaced, None for a new one. check: called right before
    the content becomes visible; what it raises leaves everything as it was.
    """

    def __init__(
        self, slot: EntrySlot, old: int | None, *, durable: bool, recorder: Recorder | None = None
    ) -> None:
        self.slot, self.old, self.durable, self.recorder = slot, old, durable, recorder
        self.fd, self.name = slot.fd, slot.name
        self._torn = False  # an in-place write failed and so did putting the old content back

    def write(self, data: bytes, check: Callable[[], None]) -> os.stat_result:
        """Returns the status of the written file. Raises `OSError`; the old content is whole."""
        # A new file's mode is the umask's business; an old one's content stays private.
        mode = 0o666 if self.old is None else 0o600
        with temporary(self.fd) as temp, opened(self.fd, temp, _NEW, mode) as out:
            write_all(out, data)
            if self.old is not None:
                copy_metadata(self.old, out)
            if self.durable:
                os.fsync(out)
            check()
            return self._published(temp, out, data)

    def _published(self, temp: str, out: int, data: bytes) -> os.stat_result:
        shared = self.old is not None and os.fstat(self.old).st_nlink > 1
        if shared or not self._renamed(temp, out, data):
            with self._kept(out, data, in_place=True):
                return self._in_place(temp, data)
        written = os.fstat(out)  # before the sync, during which others may write to it
        if self.durable:
            self._sync_directory()
        return written

    def _renamed(self, temp: str, out: int, data: bytes) -> bool:
        """False where that is refused, and the file itself may be written."""
        refused: tuple[int, ...] = ()
        try:
            with self._kept(out, data, in_place=False):
                refused = IN_PLACE if self.old is not None else ()
                if self.old is None:
                    rename_new(self.fd, temp, self.fd, self.name)
                else:
                    os.rename(temp, self.name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        except OSError as error:
            if error.errno not in refused:
                raise
            return False
        return True

    def _kept(self, out: int, data: bytes, *, in_place: bool) -> AbstractContextManager[None]:
        if not self.recorder:
            return noted(None)
        return noted(self.recorder.overwrites(self.slot, self.old, out, data, in_place=in_place))

    def _sync_directory(self) -> None:
        try:
            sync_directory(self.fd)
        except OSError as error:
            raise errors.WriteFailed(
                f"The new content of {self.name!a} is in place, but the directory could not "
                f"be synced ({error.strerror}).",
                hint="A power cut may bring the old content back.",
            ) from None

    def _in_place(self, temp: str, data: bytes) -> os.stat_result:
        """Overwrite the file itself: its other names, or the mount on it, must see the change."""
        assert self.old is not None
        drop(self.fd, temp)  # it proved that there is room
        old = os.fstat(self.old)
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with opened(self.fd, self.name, flags) as target:
            if not os.path.samestat(old, os.fstat(target)):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.name)
            recovery = f"{RECOVERY_PREFIX}{os.urandom(8).hex()}"
            with opened(self.fd, recovery, _NEW) as saved:
                try:
                    return self._overwrite(target, saved, old.st_size, data)
                finally:
                    if not self._torn:
                        os.unlink(recovery, dir_fd=self.fd)

    def _overwrite(self, target: int, saved: int, size: int, data: bytes) -> os.stat_result:
        assert self.old is not None
        pour(self.old, saved)
        os.lseek(saved, 0, os.SEEK_SET)
        if self.durable:
            os.fsync(saved)
        try:
            write_all(target, data)
            os.ftruncate(target, len(data))
            written = os.fstat(target)
            if self.durable:
                os.fsync(target)
            return written
        except BaseException:
            self._torn = True
            os.lseek(target, 0, os.SEEK_SET)
            while block := os.read(saved, _BLOCK):
                write_all(target, block)
            os.ftruncate(target, size)
            self._torn = False
            raise


def pour(source: int, target: int) -> int:
    """Append the whole of `source` at the position of `target`; returns the bytes copied."""
    offset = 0
    while block := os.pread(source, _BLOCK, offset):
        call.current.get().check()
        write_all(target, block)
        offset += len(block)
    return offset


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
        if _exists(new_fd, new):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new) from error
        os.rename(old, new, src_dir_fd=old_fd, dst_dir_fd=new_fd)
    else:
        os.unlink(old, dir_fd=old_fd)
    return None


def swap_in(fd: int, temporary: str, name: str) -> None:
    """Give `name` the file `temporary`, atomically; what had the name may stay as `temporary`.

    ext4 waits for the disk when a rename replaces a file, which only content that must outlive a
    power cut is worth.
    """
    call = _flagged_rename()
    with suppress(OSError):  # there is nothing to swap with, or the file system cannot
        if call and stat.S_ISREG(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
            return call(fd, temporary, fd, name, RENAME_SWAP)
    return os.replace(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)


def _exists(fd: int, name: str) -> bool:
    """True for an entry of any kind, dangling links included."""
    try:
        os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
