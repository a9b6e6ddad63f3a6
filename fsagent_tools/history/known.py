"""Copies of files that commands may change, as the files are now; within a budget."""

import errno
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from fsagent_tools.effects import Effect
from fsagent_tools.errors import ToolError
from fsagent_tools.files.replace import copy_metadata
from fsagent_tools.history.descent import Descent
from fsagent_tools.history.part import Part, reflinked
from fsagent_tools.history.states import COPIES, State, known_name, known_size
from fsagent_tools.policy import Policy

LARGEST_FILE = 10 << 20  # bytes of one file
MOST_KNOWN = 500 << 20  # bytes in all
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_STALE = 3600.0  # seconds after which a copy of what is there no more may go


class KnownCopies:
    """One copy for each content, named by the file it is of; shared by the sessions on a root."""

    def __init__(self, history: Path, policy: Policy) -> None:
        self._path, self._policy = history / COPIES, policy
        self._unlinked: set[int] = set()  # devices from which there are no reflinks
        self._sizes: dict[str, int] | None = None
        self._total = 0

    @cached_property
    def _folder(self) -> int:
        self._path.mkdir(mode=0o700, exist_ok=True)
        return os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)

    def __del__(self) -> None:
        with suppress(OSError):
            os.close(vars(self).pop("_folder", -1))

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes by name."""
        if self._sizes is None:
            with os.scandir(self._folder) as entries:
                sizes = {entry.name: entry.stat().st_size for entry in entries}
            self._sizes = {name: size for name, size in sizes.items() if size == known_size(name)}
            self._total = sum(self._sizes.values())
        return self._sizes

    @property
    def gone(self) -> bool:
        """Whether somebody removed the copies."""
        return "_folder" in vars(self) and os.fstat(self._folder).st_nlink == 0

    def keep(self, path: str, state: State, down: Descent) -> None:
        """Copy the file unless that is done, it is too large, or the budget is used up.

        down: goes down from the root of the workspace.
        """
        name, size = known_name(state.identity), state.identity[2]
        if name in self.sizes or size > LARGEST_FILE or self._total + size > MOST_KNOWN:
            return
        with suppress(OSError, ToolError):
            self._policy.check_path(path, os.path.join(down.root, path), Effect.READ)
            self._policy.check_size(path, size)
            source = down.open(path)
            try:
                status = os.fstat(source)
                if (status.st_ino, status.st_mtime_ns, status.st_size) == state.identity:
                    self._copy(source, name, status)
                    self.sizes[name] = size
                    self._total += size
            finally:
                os.close(source)

    def _copy(self, source: int, name: str, status: os.stat_result) -> None:
        """Whole and unchanged meanwhile. Raises `OSError` where it is not."""
        out = self._made(name, status.st_size)
        if out < 0:
            return
        try:
            self._fill(source, out, status)
            copy_metadata(source, out, status)
            now = os.fstat(source)
            if (now.st_mtime_ns, now.st_size) != (status.st_mtime_ns, status.st_size):
                raise OSError(errno.ESTALE, "changed meanwhile")
        except BaseException:
            os.unlink(name, dir_fd=self._folder)
            raise
        finally:
            os.close(out)

    def _fill(self, source: int, out: int, status: os.stat_result) -> None:
        """By a reflink, or by the kernel. Raises `OSError` where there are fewer bytes."""
        if status.st_dev not in self._unlinked:
            if reflinked(source, out):
                return
            self._unlinked.add(status.st_dev)
        left = status.st_size
        while left > 0:
            if not (done := os.sendfile(out, source, None, left)):
                raise OSError(errno.ESTALE, "changed meanwhile")
            left -= done

    def _made(self, name: str, size: int) -> int:
        """The open new file; -1 if another session has made it, all of it.

        Until a copy is whole its size tells: who was killed leaves a shorter one.
        """
        try:
            return os.open(name, _NEW, 0o600, dir_fd=self._folder)
        except FileExistsError:
            if os.stat(name, dir_fd=self._folder).st_size == size:
                return -1
            os.unlink(name, dir_fd=self._folder)
            return os.open(name, _NEW, 0o600, dir_fd=self._folder)

    def read(self, state: State) -> bytes | None:
        """What was copied of a file in that state."""
        with suppress(OSError):
            data = (self._path / known_name(state.identity)).read_bytes()
            return data if len(data) == state.identity[2] else None
        return None

    def take(self, state: State, part: Part) -> str:
        """Make the copy one of the kept files of a part; its name there, "" if there is none."""
        name, size = known_name(state.identity), state.identity[2]
        with suppress(OSError):
            if os.stat(name, dir_fd=self._folder).st_size != size:
                return ""
            kept = part.take(self._folder, name, size)
            self._total -= self.sizes.pop(name, 0)
            return kept
        return ""

    def drop(self, state: State) -> None:
        """What the copy is of is there no more."""
        name = known_name(state.identity)
        if (size := self.sizes.pop(name, None)) is not None:
            self._total -= size
            with suppress(OSError):
                os.unlink(name, dir_fd=self._folder)

    def sweep(self, present: Iterable[State]) -> None:
        """Drop copies of what is there no more, left by sessions that ended."""
        needed = {known_name(state.identity) for state in present}
        for name in [*self.sizes]:
            if name not in needed:
                with suppress(OSError):
                    status = os.stat(name, dir_fd=self._folder, follow_symlinks=False)
                    if time.time() - status.st_ctime > _STALE:
                        os.unlink(name, dir_fd=self._folder)
                        self._total -= self.sizes.pop(name)
