"""What keeps the old state of files: told under a file's locks, right before it changes."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from fsagent_tools.files.port import Place


@dataclass(frozen=True)
class EntrySlot:
    """A name in an open directory, and the place that it has or would have."""

    fd: int
    name: str
    place: Place

    def status(self) -> os.stat_result | None:
        """Of the entry itself, a link's own; None where there is none."""
        try:
            return os.stat(self.name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None


class NotKept(OSError):
    """The old state could not be kept, so nothing was changed; filename: where it would be."""


Members = Sequence[tuple[str, os.stat_result]]  # of a tree: paths from its top, "" for itself


class Recorder(Protocol):
    """Keeps what goes and notes what comes; what it raises prevents the change."""

    def overwrites(
        self, slot: EntrySlot, old: int | None, new: int, data: bytes, *, in_place: bool
    ) -> Callable[[], None]:
        """`data`, in the file of the descriptor `new`, is about to take the name.

        old: descriptor of the file that has it. in_place: that file itself is written. Returns
        what to call when nothing happened.
        """
        ...

    def removes(self, slot: EntrySlot, members: Members) -> Callable[[], None]:
        """A tree is about to go. Returns as `overwrites` does."""
        ...

    def places(
        self, slot: EntrySlot, made: Members, now: EntrySlot | None = None, *, moved: bool = False
    ) -> Callable[[], None]:
        """A tree is about to get the name, or just got it; a file that has the name is kept.

        now: where the tree is. moved: it has its own place there. Returns as `overwrites` does.
        """
        ...


Recording = Callable[[], Recorder | None]  # asked when something changes
