"""What comes along when lines are copied, and is not meant to be written."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from fsagent_tools.edits.marks import outer_marks

__all__ = ["TRACES", "Pasted", "pasted_marks"]

TRACES = re.compile(  # what a text has where something may have come along; most have none
    rb"^[ \t]*(?:\d+[\t |:\xe2]|```|~~~)|^\+", re.M
)


class Pasted(NamedTuple):
    """What stands before or around lines, in words, and the lines without it."""

    what: str
    bare: tuple[bytes, ...]


def pasted_marks(
    new: Sequence[bytes], old: Sequence[bytes], beside: Sequence[bytes], first: int
) -> Pasted | None:
    """What came along with `new`, where all of it has it, and no line of `old` or `beside` it.

    first: the number, from 1, of the line where it goes; numbers have to count on from it, or just
    to count where what stands behind them is what reads put there.
    """
    for what, bare, own in outer_marks(new, old, first):
        if bare is not None and [*bare] != [*old] and not any(map(own.match, [*old, *beside])):
            return Pasted(what, bare)
    return None
