"""An open regular file, and the identity of its content on disk."""

import os
import stat
import threading
import time
from contextlib import suppress
from typing import NamedTuple, Self

from fsagent_tools.files import refusals
from fsagent_tools.files.port import Place
from fsagent_tools.policy import Policy

GRAIN_NS = 20_000_000  # kernels stamp files once a tick, at most 10 ms; doubled
COARSE_GRAIN_NS = 2_000_000_000  # FAT; also any stamp in whole seconds
_BLOCK = 1 << 20
SLOW_TO_FREE = 1 << 20  # bytes
_PATIENCE = 1.0  # seconds that a write waits for another file's blocks
_aside = threading.Lock()
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}


def kind_of(mode: int) -> str:
    """ "file", "directory", "link", or "device, socket or pipe"."""
    return KINDS.get(stat.S_IFMT(mode), "device, socket or pipe")


class Signature(NamedTuple):
    """What `stat` says of a file's content; any write changes it, save one within a clock tick."""

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


class WithBlock:
    """Closed at the end of its `with` block."""

    __slots__ = ()

    def close(self) -> None:
        """Give up what is held open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OpenFile(WithBlock):
    """A regular file that was opened, checked and belongs to the workspace; close it with `with`.

    version: as of opening, so before any byte was read.
    """

    __slots__ = ("_policy", "fd", "place", "status", "version")

    def __init__(self, fd: int, place: Place, policy: Policy) -> None:
        """Takes over `fd` and closes it when it is not a regular file or too large."""
        self.fd, self.place, self._policy = fd, place, policy
        try:
            self.status = os.fstat(fd)
            if not stat.S_ISREG(self.status.st_mode):
                raise refusals.not_a_file(place.told, kind_of(self.status.st_mode))
            self.version = Signature.of(self.status)
            if policy.max_file_size is not None:
                policy.check_size(place.told, self.version.size)
        except BaseException:
            os.close(fd)
            raise

    def read(self, limit: int | None = None) -> bytes:
        """All bytes from the current position, or at most `limit`; a growing file is cut off.

        Never trusts the size on disk. Raises `ReadFailed`, `TooLarge`.
        """
        size = self.version.size
        cap = limit
        if limit is None and isinstance(self._policy.max_file_size, int):
            cap = self._policy.max_file_size + 1
        try:
            data = _read(self.fd, size, cap)
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None
        if limit is None and cap is not None and len(data) >= cap:
            self._policy.check_size(self.place.told, len(data))
        return data

    def pread(self, size: int, offset: int) -> bytes:
        """At most `size` bytes from `offset`; fewer only at the end of the file."""
        parts = []
        try:
            while size > 0 and (part := os.pread(self.fd, size, offset)):
                parts.append(part)
                size, offset = size - len(part), offset + len(part)
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def release(self) -> None:
        """Close a file that was just replaced, aside if it is large and has no name left.

        The last close frees its blocks, and may have to wait until they are on the disk: several
        milliseconds a megabyte. One such close at a time runs aside; a second one is made here.
        """
        fd, self.fd = self.fd, -1
        held = _aside
        frees = self.version.size >= SLOW_TO_FREE and not os.fstat(fd).st_nlink
        if frees and held.acquire(blocking=False):
            try:
                return threading.Thread(target=_close_aside, args=(fd, held), daemon=True).start()
            except RuntimeError:  # no more threads, or the interpreter is ending
                held.release()
        return os.close(fd)


def _close_aside(fd: int, held: threading.Lock) -> None:
    try:
        with suppress(OSError):  # its content was replaced; nobody waits for it
            os.close(fd)
    finally:
        held.release()


def wait_for_room(size: int) -> None:
    """Before `size` bytes are written: let a file that is being closed aside give up its blocks."""
    if size >= SLOW_TO_FREE and _aside.acquire(timeout=_PATIENCE):
        _aside.release()


def _forget_aside() -> None:
    """A forked child has no thread that would give the lock back."""
    global _aside
    _aside = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_aside)


def _read(fd: int, expected: int, cap: int | None) -> bytes:
    """What the file held when it was opened: a file that keeps growing must not be chased.

    A size of 0 says nothing (`/proc`), so then all there is.
    """
    most = expected or cap
    if cap is not None and most is not None:
        most = min(most, cap)
    parts, total = [], 0
    while most is None or total < most:
        part = os.read(fd, _BLOCK if most is None else most - total)
        if not part:
            break
        parts.append(part)
        total += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
