"""Changes of which every moment is the old state or the new, whole; trees by descriptor."""

import errno
import os
import stat
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache

from fsagent_tools import call, errors
from fsagent_tools.files.base import TEMP_PREFIX, EntrySlot, Recorder
from fsagent_tools.files.errors import MAX_DEPTH, not_a_file, refusal, too_deep
from fsagent_tools.files.resolve import DIRECTORY, INNER, READ, kind_of, opened, os_error

RECOVERY_PREFIX = ".fsagent-recovery-"  # an old content kept for a human; never swept
IN_PLACE = (errno.EPERM, errno.EBUSY, errno.EXDEV)  # what a rename onto a mount point answers
_BLOCK = 1 << 20
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
RENAME_NOREPLACE = 1  # Linux renameat2
RENAME_EXCL = 4  # macOS renameatx_np
RENAME_SWAP = 2  # Linux RENAME_EXCHANGE, the same number
UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)
_live: set[str] = set()


# Temporary names


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


# Bytes and metadata


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes, completing short writes."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def pour(source: int, target: int) -> None:
    """Append the whole of `source` at the position of `target`."""
    offset = 0
    while block := os.pread(source, _BLOCK, offset):
        call.current.get().check()
        write_all(target, block)
        offset += len(block)


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


# One file


@dataclass
class AtomicWrite:
    """One atomic write in a slot.

    old: descriptor of the file that is replaced, None for a new one.
    """

    slot: EntrySlot
    old: int | None
    durable: bool
    recorder: Recorder | None = None

    def write(self, data: bytes, check: Callable[[], None]) -> os.stat_result:
        """Returns the status of the written file. Raises `OSError`; the old content is whole.

        check: called right before the content becomes visible; what it raises leaves everything as
        it was.
        """
        fd = self.slot.fd
        # A new file's mode is the umask's business; an old one's content stays private.
        mode = 0o666 if self.old is None else 0o600
        with temporary(fd) as temp, opened(fd, temp, _NEW, mode) as out:
            write_all(out, data)
            if self.old is not None:
                copy_metadata(self.old, out)
            if self.durable:
                os.fsync(out)
            check()
            shared = self.old is not None and os.fstat(self.old).st_nlink > 1
            if shared or not self._renamed(temp, out, data):
                with noted(self._told(out, data, in_place=True)):
                    drop(fd, temp)  # it proved that there is room
                    return self._in_place(data)
            written = os.fstat(out)  # before the sync, during which others may write to it
            if self.durable:
                self._sync()
            return written

    def _told(self, out: int, data: bytes, *, in_place: bool) -> Callable[[], None] | None:
        if not self.recorder:
            return None
        return self.recorder.overwrites(self.slot, self.old, out, data, in_place=in_place)

    def _renamed(self, temp: str, out: int, data: bytes) -> bool:
        """False where that is refused, and the file itself may be written."""
        fd, name = self.slot.fd, self.slot.name
        forget = self._told(out, data, in_place=False)
        try:
            with noted(forget):
                if self.old is None:
                    rename_new(fd, temp, fd, name)
                else:
                    os.rename(temp, name, src_dir_fd=fd, dst_dir_fd=fd)
        except OSError as error:
            if self.old is None or error.errno not in IN_PLACE:
                raise
            return False
        return True

    def _sync(self) -> None:
        try:
            sync_directory(self.slot.fd)
        except OSError as error:
            raise errors.WriteFailed(
                f"The new content of {self.slot.name!a} is in place, but the directory could not "
                f"be synced ({error.strerror}).",
                hint="A power cut may bring the old content back.",
            ) from None

    def _in_place(self, data: bytes) -> os.stat_result:
        """Overwrite the file itself: its other names, or the mount on it, must see the change.

        The old content is saved first. It stays beside the file where it could not be put back.
        """
        assert self.old is not None
        fd, old, torn = self.slot.fd, os.fstat(self.old), False
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        recovery = f"{RECOVERY_PREFIX}{os.urandom(8).hex()}"
        with opened(fd, self.slot.name, flags) as target:
            if not os.path.samestat(old, os.fstat(target)):
                raise os_error(errno.EEXIST)
            with opened(fd, recovery, _NEW) as saved:
                try:
                    pour(self.old, saved)
                    if self.durable:
                        os.fsync(saved)
                    torn = True
                    try:
                        write_all(target, data)
                        os.ftruncate(target, len(data))
                        written = os.fstat(target)
                        if self.durable:
                            os.fsync(target)
                    except BaseException:
                        os.lseek(saved, 0, os.SEEK_SET)
                        os.lseek(target, 0, os.SEEK_SET)
                        while block := os.read(saved, _BLOCK):
                            write_all(target, block)
                        os.ftruncate(target, old.st_size)
                        torn = False
                        raise
                    torn = False
                    return written
                finally:
                    if not torn:
                        os.unlink(recovery, dir_fd=fd)


# Renames


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
            raise os_error(ctypes.get_errno())

    return call


def rename_new(old_fd: int, old: str, new_fd: int, new: str) -> None:
    """Rename between two directories; `FileExistsError` instead of replacing, without a race.

    Where the file system cannot do that, a file is linked and unlinked, which is as safe; a
    directory is renamed after a look, and the kernel still refuses to replace a non-empty one.
    """
    if flagged := _flagged_rename():
        flag = RENAME_EXCL if sys.platform == "darwin" else RENAME_NOREPLACE
        try:
            return flagged(old_fd, old, new_fd, new, flag)
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
    try:
        os.link(old, new, src_dir_fd=old_fd, dst_dir_fd=new_fd, follow_symlinks=False)
    except (PermissionError, NotImplementedError) as error:
        with suppress(FileNotFoundError):
            os.stat(new, dir_fd=new_fd, follow_symlinks=False)
            raise os_error(errno.EEXIST) from error
        os.rename(old, new, src_dir_fd=old_fd, dst_dir_fd=new_fd)
    else:
        os.unlink(old, dir_fd=old_fd)
    return None


def swap_in(fd: int, temporary: str, name: str) -> None:
    """Give `name` the file `temporary`, atomically; what had the name may stay as `temporary`.

    ext4 waits for the disk when a rename replaces a file, which only content that must outlive a
    power cut is worth.
    """
    flagged = _flagged_rename()
    with suppress(OSError):  # there is nothing to swap with, or the file system cannot
        if flagged and stat.S_ISREG(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
            return flagged(fd, temporary, fd, name, RENAME_SWAP)
    return os.replace(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)


# Trees; no link is followed


Take = Callable[[int, str, str, os.stat_result], None]  # parent, name, path from the top, status


def survey(
    fd: int, name: str, path: str = "", depth: int = 0
) -> Iterator[tuple[str, os.stat_result]]:
    """Every entry of the tree `name`, the top first: its path from there, "" for the top itself.

    Raises `OSError`, `InvalidPath` (too deep).
    """
    call.current.get().check()
    status = os.stat(name, dir_fd=fd, follow_symlinks=False)
    yield path, status
    if not stat.S_ISDIR(status.st_mode):
        return
    if depth >= MAX_DEPTH:
        raise too_deep(path)
    with opened(fd, name) as directory:
        for child in sorted(os.listdir(directory)):
            inner = f"{path}/{child}" if path else child
            yield from survey(directory, child, inner, depth + 1)


def unlink(fd: int, name: str, _path: str, status: os.stat_result) -> None:
    """Remove an entry that is no directory, or an empty one."""
    (os.rmdir if stat.S_ISDIR(status.st_mode) else os.unlink)(name, dir_fd=fd)


def remove_tree(fd: int, name: str, take: Take = unlink, path: str = "") -> None:
    """Remove an entry of any kind and all beneath it; a link goes, what it names stays."""
    status = os.stat(name, dir_fd=fd, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        with opened(fd, name) as directory:
            for child in os.listdir(directory):
                with suppress(FileNotFoundError):
                    remove_tree(directory, child, take, f"{path}/{child}" if path else child)
    take(fd, name, path, status)


def make_directory(slot: EntrySlot, recorder: Recorder | None) -> None:
    """Make a directory, which has its name only when that is noted. Raises `FileExistsError`."""
    with temporary(slot.fd, remove_tree) as temp:
        os.mkdir(temp, dir_fd=slot.fd)
        made = [("", os.lstat(temp, dir_fd=slot.fd))]
        with noted(recorder.places(slot, made) if recorder else None):
            rename_new(slot.fd, temp, slot.fd, slot.name)


@dataclass
class Copier:
    """Copies a tree with its metadata, links as links.

    told: what refusals call the top. without: paths from there that are left out.
    """

    told: str
    without: Collection[str] = ()
    durable: bool = False

    def copy(self, source: tuple[int, str], target: tuple[int, str], path: str = "") -> None:
        """`target` must not exist. Raises `OSError`, `NotAFile` for devices, sockets and pipes."""
        call.current.get().check()
        if path in self.without:
            return
        status = os.stat(source[1], dir_fd=source[0], follow_symlinks=False)
        kind = kind_of(status.st_mode)
        if kind == "link":
            os.symlink(os.readlink(source[1], dir_fd=source[0]), target[1], dir_fd=target[0])
            owner = status.st_uid, status.st_gid
            with suppress(OSError):
                os.chown(target[1], *owner, dir_fd=target[0], follow_symlinks=False)
            return
        if kind not in ("file", "directory"):
            raise not_a_file(path or source[1], kind)
        flags = READ | os.O_NOFOLLOW if kind == "file" else INNER
        try:
            old = os.open(source[1], flags, dir_fd=source[0])
        except OSError as error:  # that it cannot be opened is no fault of the target
            raise refusal(error, f"{self.told}/{path}" if path else self.told) from None
        try:
            status = os.fstat(old)
            if (now := kind_of(status.st_mode)) != kind:  # another took its place
                raise not_a_file(path or source[1], now)
            self._fill(old, status, target, path)
        finally:
            os.close(old)

    def _fill(self, old: int, status: os.stat_result, target: tuple[int, str], path: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        if is_directory := stat.S_ISDIR(status.st_mode):
            os.mkdir(target[1], 0o700, dir_fd=target[0])
            flags = INNER
        with opened(target[0], target[1], flags) as new:
            if is_directory:
                for child in os.listdir(old):
                    self.copy((old, child), (new, child), f"{path}/{child}" if path else child)
                status = os.fstat(old)
            else:
                pour(old, new)
            copy_metadata(old, new)
            with suppress(OSError):
                os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
            if self.durable:
                os.fsync(new)
