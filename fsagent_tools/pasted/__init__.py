"""What comes along when lines are copied, and is not meant to be written."""

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from fsagent_tools.pasted.marks import outer_marks
from fsagent_tools.pasted.spellings import spellings, without_entities

__all__ = ["TRACES", "Pasted", "pasted_marks", "without_entities"]

TRACES = re.compile(  # what a text has where something may have come along; most have none
    rb"^[ \t]*(?:\d+[\t |:\xe2]|```|~~~)|^\+|&(?:lt|gt|amp|quot|#)|\\[n\"]|\xe2\x80[\x9c\x9d]", re.M
)
_OUTER = 3  # kinds of marks


class Pasted(NamedTuple):
    """What stands before, around or in lines, in words, and the lines without it.

    spelling: it is in the lines, as another spelling of what is meant.
    """

    what: str
    bare: tuple[bytes, ...]
    spelling: bool


def pasted_marks(
    new: Sequence[bytes], old: Sequence[bytes], beside: Sequence[bytes], first: int
) -> Pasted | None:
    """What came along with `new`, where all of it has it, and no line of `old` or `beside` it.

    first: the number, from 1, of the line where it goes; numbers have to count on from it, or just
    to count where what stands behind them is what reads put there.
    """
    kinds = chain(outer_marks(new, old, first), spellings(new, old))
    for number, (what, bare, own) in enumerate(kinds):
        if bare is not None and [*bare] != [*old] and not any(map(own.match, [*old, *beside])):
            return Pasted(what, bare, number >= _OUTER)
    return None
