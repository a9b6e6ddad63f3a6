"""Files beneath a root as they are, and as they are to be again; no link is followed."""

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Remembered(NamedTuple):
    """stamp: inode, time of change and size; a file with the same one is the same. content: None
    for what is neither a file nor a link, and for one that is too large.
    """

    stamp: tuple[int, int, int]
    mode: int
    content: bytes | None

    def same(self, other: "Remembered | None") -> bool:
        if other is None or self.mode != other.mode:
            return False
        return self.stamp == other.stamp or self.content == other.content is not None


def look_at(path: str, known: Remembered | None, most: int) -> Remembered | None:
    """What is there now, read again only if it is not `known`, and if it has at most `most` bytes.
    None: nothing, or a directory.
    """
    try:
        status = os.lstat(path)
        stamp = status.st_ino, status.st_ctime_ns, status.st_size
        if stat.S_ISDIR(status.st_mode):
            return None
        if known is not None and known.stamp == stamp:
            return known
        return Remembered(stamp, status.st_mode, _content(path, status, most))
    except OSError:
        return None


def files_in(path: str) -> Iterator[str]:
    """`path` itself, or all that is in it and is no directory."""
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            yield path
            return
    except OSError:
        return
    ahead = [path]
    while ahead:
        with contextlib.suppress(OSError), os.scandir(ahead.pop()) as entries:
            for one in entries:
                if one.is_dir(follow_symlinks=False):
                    ahead.append(one.path)
                else:
                    yield one.path


def put_in_place(root: str, path: str, wanted: Remembered | None) -> None:
    """Make `path` what it was; None: nothing. Directories on the way are made. Raises `OSError`."""
    *above, name = path[len(root) + 1 :].split("/")
    folder = os.open(root or "/", _FOLDER)
    try:
        for part in above:
            with contextlib.suppress(FileExistsError):
                if wanted is not None:
                    os.mkdir(part, dir_fd=folder)
            folder, last = os.open(part, _FOLDER, dir_fd=folder), folder
            os.close(last)
        if wanted is not None and wanted.content is not None:
            _make(folder, name, wanted)
        else:
            _remove(folder, name)
    finally:
        os.close(folder)


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
        inner = os.open(ahead[-1], _FOLDER, dir_fd=folder)
        try:
            os.fchmod(inner, 0o700)
            with os.scandir(inner) as entries:
                there = [(one.name, one.is_dir(follow_symlinks=False)) for one in entries]
            emptied = ahead.pop()
            for each, is_folder in there:
                if is_folder:
                    count += 1
                    ahead.append(f".{count}.fsagent-gone")
                    os.rename(each, ahead[-1], src_dir_fd=inner, dst_dir_fd=folder)
                else:
                    os.unlink(each, dir_fd=inner)
        finally:
            os.close(inner)
        os.rmdir(emptied, dir_fd=folder)


def _content(path: str, status: os.stat_result, most: int) -> bytes | None:
    if stat.S_ISLNK(status.st_mode):
        return os.fsencode(os.readlink(path))
    if not stat.S_ISREG(status.st_mode) or status.st_size > most:
        return None
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        content = file.read(most + 1)
    return content if len(content) <= most else None
