"""Whole directory trees by descriptor: look through, copy, remove; no link is followed."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field

from fsagent_tools import call
from fsagent_tools.files import refusals
from fsagent_tools.files.keeping import EntrySlot, Recorder
from fsagent_tools.files.open_file import DIRECTORY, READ, kind_of, opened
from fsagent_tools.files.replace import (
    copy_metadata,
    noted,
    pour,
    rename_new,
    temporary,
)
from fsagent_tools.runtime.descriptors import held

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
    if depth >= refusals.MAX_DEPTH:
        raise refusals.too_deep(path)
    with opened(fd, name) as directory:
        for child in sorted(os.listdir(directory)):
            inner = f"{path}/{child}" if path else child
            yield from survey(directory, child, inner, depth + 1)


def unlink(fd: int, name: str, _path: str, status: os.stat_result) -> None:
    """Remove an entry that is no directory, or an empty one."""
    if stat.S_ISDIR(status.st_mode):
        os.rmdir(name, dir_fd=fd)
    else:
        os.unlink(name, dir_fd=fd)


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
    """Copies a tree with its metadata; links are copied as links where `keeps` agrees."""

    keeps: Callable[[str], bool]
    told: str  # what refusals call the top
    durable: bool = False
    skipped: list[str] = field(default_factory=list)  # links that it did not agree to

    def copy(self, source: tuple[int, str], target: tuple[int, str], path: str = "") -> None:
        """`target` must not exist. Raises `OSError`, `NotAFile` for devices, sockets and pipes."""
        call.current.get().check()
        status = os.stat(source[1], dir_fd=source[0], follow_symlinks=False)
        match kind_of(status.st_mode):
            case "file":
                self._file(source, target, path)
            case "directory":
                self._directory(source, target, path)
            case "link" if self.keeps(path):
                text = os.readlink(source[1], dir_fd=source[0])
                os.symlink(text, target[1], dir_fd=target[0])
                owner = status.st_uid, status.st_gid
                with suppress(OSError):
                    os.chown(target[1], *owner, dir_fd=target[0], follow_symlinks=False)
            case "link":
                self.skipped.append(path)
            case kind:
                raise refusals.not_a_file(path or source[1], kind)

    def _file(self, source: tuple[int, str], target: tuple[int, str], path: str) -> None:
        with self._reading(source, READ | os.O_NOFOLLOW, path) as old:
            status = os.fstat(old)
            if not stat.S_ISREG(status.st_mode):
                raise refusals.not_a_file(path or source[1], kind_of(status.st_mode))
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with opened(*target, flags) as new:
                pour(old, new)
                self._finish(old, new, status)

    def _directory(self, source: tuple[int, str], target: tuple[int, str], path: str) -> None:
        os.mkdir(target[1], 0o700, dir_fd=target[0])
        flags = DIRECTORY | os.O_NOFOLLOW
        with self._reading(source, flags, path) as old, opened(*target) as new:
            for child in os.listdir(old):
                self.copy((old, child), (new, child), f"{path}/{child}" if path else child)
            self._finish(old, new, os.fstat(old))

    def _reading(
        self, source: tuple[int, str], flags: int, path: str
    ) -> AbstractContextManager[int]:
        """The source, opened: that it cannot be is no fault of the target."""
        try:
            return held(os.open(source[1], flags, dir_fd=source[0]))
        except OSError as error:
            raise refusals.refusal(error, f"{self.told}/{path}" if path else self.told) from None

    def _finish(self, old: int, new: int, status: os.stat_result) -> None:
        copy_metadata(old, new)
        with suppress(OSError):
            os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
        if self.durable:
            os.fsync(new)
