"""One call to be made of a real edit, and what its file is meant to be afterwards."""

import random
from dataclasses import dataclass, field
from typing import Literal

from benchmark.hunks import Hunk

Lines = list[str]
Pasted = Literal["", "every", "first", "half"]


@dataclass
class Case:
    """One call to be made: what was read, what the file is by then, what is sent, what was meant.

    meant: the file afterwards; None where only a refusal is right. off: how many lines an anchor is
    beside its line. again: the lines to replace, and the file meant, once a refusal was read.
    quoting: `old` is sent, too. pasted: the prefix of a read on every new line, on the first, or
    half of it on each. ends: the lines that are named, where these are not the hunk's. first: what
    the same session edits before. twice: the call is sent again. other: another file, whose marks
    are named; other_read: what a read of it said. sibling: an equal file, that is "read" or
    "unread", is named. more: a second change of the same call.
    """

    kind: str
    hunk: Hunk
    shown: str
    disk: str
    meant: str | None
    old: Lines
    new: Lines
    quoting: bool = False
    off: int = 0
    ending: str = "\n"
    tail: str = ""
    pasted: Pasted = ""
    ends: tuple[int, int] | None = None
    first: Hunk | None = None
    twice: bool = False
    other: str = ""
    other_read: str = ""
    sibling: Literal["", "read", "unread"] = ""
    more: "Case | None" = None
    dice: random.Random = field(default_factory=random.Random, repr=False)

    @property
    def again(self) -> tuple[Lines, str]:
        """The range as it stands on the disk by now, and the file that a second call is to make."""
        old = self.hunk.old
        if self.kind == "interior changed":
            old = _with(old, self.hunk, "// came")
        if self.meant is not None:
            return old, self.meant
        lines = self.hunk.lines
        return old, "\n".join([*lines[: self.hunk.start], *self.hunk.new, *lines[self.hunk.stop :]])


def _with(old: Lines, hunk: Hunk, line: str) -> Lines:
    at = hunk.core[0] - hunk.start + 1
    return [*old[:at], line, *old[at:]]
