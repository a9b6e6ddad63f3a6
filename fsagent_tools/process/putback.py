"""Files beneath a root as they are, and as they are to be again; no link is followed."""

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from fsagent_tools.runtime.descriptors import held

SETTLED = 1_000_000_000  # ns without a change until a time tells of the next one
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Remembered(NamedTuple):
    """stamp: inode, time of change and size; a file with the same one is the same, and has no time
    while the next change may bear the same. content: None for what is neither a file nor a link,
    and for one that is too large or closed to us.
    """

    stamp: tuple[int, int, int]
    mode: int
    content: bytes | None

    def same(self, other: "Remembered | None") -> bool:
        if other is None or self.mode != other.mode:
            return False
        if self.content is None or other.content is None:
            return self.stamp == other.stamp
        return self.content == other.content


def look_at(path: str, known: Remembered | None, most: int) -> Remembered | None:
    """What is there now, read again only if it is not `known`, and if it has at most `most` bytes.
    None: nothing, or a directory.
    """
    try:
        status = os.lstat(path)
        if known is not None and known.stamp == _stamp(status):
            return known
        if stat.S_ISLNK(status.st_mode):
            return Remembered((0, 0, 0), status.st_mode, os.fsencode(os.readlink(path)))
        if stat.S_ISREG(status.st_mode):
            return _read(path, status, most)
        if not stat.S_ISDIR(status.st_mode):
            return Remembered(_stamp(status), status.st_mode, None)
    except OSError:
        pass
    return None


def _read(path: str, status: os.stat_result, most: int) -> Remembered:
    """All of it is told of the file that is opened: another may have come under its name."""
    content: bytes | None = None
    with contextlib.suppress(PermissionError):
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            status = os.fstat(fd)
            if stat.S_ISREG(status.st_mode) and status.st_size <= most:
                content = file.read(most + 1)
    settled = time.time_ns() - status.st_ctime_ns > SETTLED
    stamp = _stamp(status)
    if content is None or len(content) > most:
        return Remembered(stamp, status.st_mode, None)
    return Remembered(stamp if settled else (stamp[0], 0, 0), status.st_mode, content)


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_ctime_ns, status.st_size


def files_in(path: str, listed: Callable[[str], Iterable[os.DirEntry[str]]]) -> Iterator[str]:
    """`path` itself, or all that is in it and is no directory. listed: what is in one."""
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            yield path
            return
    except OSError:
        return
    ahead = [path]
    while ahead:
        with contextlib.suppress(OSError):
            for entry in listed(ahead.pop()):
                if entry.is_dir(follow_symlinks=False):
                    ahead.append(entry.path)
                else:
                    yield entry.path


def open_to_owner(root: str, path: str) -> None:
    """Its owner may look into the directory `path`. Raises `OSError`."""
    *above, name = path[len(root) + 1 :].split("/")
    flags = getattr(os, "O_PATH", 0) | _FOLDER
    with (
        held(_opened(root, above, make=False)) as folder,
        held(os.open(name, flags, dir_fd=folder)) as inner,
    ):
        mode = stat.S_IMODE(os.fstat(inner).st_mode)
        os.chmod(f"/proc/self/fd/{inner}", mode | stat.S_IRWXU)


def put_in_place(root: str, path: str, wanted: Remembered | None) -> None:
    """Make `path` what it was; None: nothing. Directories on the way are made. Raises `OSError`."""
    *above, name = path[len(root) + 1 :].split("/")
    with held(_opened(root, above, make=wanted is not None)) as folder:
        if wanted is not None and wanted.content is not None:
            _make(folder, name, wanted)
        else:
            _remove(folder, name)


def _opened(root: str, above: list[str], *, make: bool) -> int:
    """The directory that these names lead to, no link among them."""
    folder = os.open(root or "/", _FOLDER)
    try:
        for part in above:
            with contextlib.suppress(FileExistsError):
                if make:
                    os.mkdir(part, dir_fd=folder)
            folder, last = os.open(part, _FOLDER, dir_fd=folder), folder
            os.close(last)
    except BaseException:
        os.close(folder)
        raise
    return folder


def drop_empty(path: str, until: str) -> None:
    """Remove directories on the way up that have become empty, not `until`."""
    with contextlib.suppress(OSError):
        while len(path) > len(until):
            os.rmdir(path)
            path = os.path.dirname(path)


def _make(folder: int, name: str, wanted: Remembered) -> None:
    """In one step: what is written is not what a program has open or has linked."""
    new, content = f".{name[:200]}.fsagent-back", wanted.content or b""
    _remove(folder, new)
    if stat.S_ISLNK(wanted.mode):
        os.symlink(content, new, dir_fd=folder)
    else:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(new, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), stat.S_IMODE(wanted.mode))
    with contextlib.suppress(OSError):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            _remove(folder, name)
    os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)


def _remove(folder: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            _clear(folder, name)
        else:
            os.unlink(name, dir_fd=folder)


def _clear(folder: int, name: str) -> None:
    """Remove a directory however deep it is: what is in one comes up beside it, and goes next."""
    ahead, count = [name], 0
    while ahead:
        with held(os.open(ahead[-1], _FOLDER, dir_fd=folder)) as inner:
            os.fchmod(inner, 0o700)
            with os.scandir(inner) as entries:
                inside = [(e.name, e.is_dir(follow_symlinks=False)) for e in entries]
            emptied = ahead.pop()
            for each, is_folder in inside:
                if is_folder:
                    count += 1
                    ahead.append(f".{count}.fsagent-gone")
                    os.rename(each, ahead[-1], src_dir_fd=inner, dst_dir_fd=folder)
                else:
                    os.unlink(each, dir_fd=inner)
        os.rmdir(emptied, dir_fd=folder)
