"""What a look at a tree finds of its entries."""

import os
from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

from fsagent_tools.history.states import ABSENT, State

Stamps = tuple[int, int, int, int, int]  # ctime and mtime in ns, inode, bytes, mode


class Glance(NamedTuple):
    """An entry at one look. stamps: None where there is none. target: of a link.

    settled: no change can have left the same ctime.
    """

    stamps: Stamps | None
    target: str = ""
    settled: bool = False

    @property
    def state(self) -> State:
        if self.stamps is None:
            return ABSENT
        _, mtime, inode, size, mode = self.stamps
        return State.made(mode, (inode, mtime, size), self.target)


Moves = dict[str, tuple[Glance, Glance]]  # path -> before and after; the same: it came into view
GONE = Glance(None)

# Called for every file of a tree: in C.
stamps_of: Callable[[os.stat_result], Stamps] = attrgetter(
    "st_ctime_ns", "st_mtime_ns", "st_ino", "st_size", "st_mode"
)
