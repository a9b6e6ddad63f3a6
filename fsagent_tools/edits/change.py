"""A change as it was asked for: which lines, by ID, and what becomes of them."""

from dataclasses import dataclass
from typing import Literal

Placement = Literal["replace", "after", "before"]


@dataclass(frozen=True)
class Change:
    """Lines `first` to `last` replaced, or something put beside `first`.

    empty_end: the text was a list that ends with an empty element. until: `last` is not one of
    the lines. old: the part of the line that is replaced, "" for all of it. lines: what is put
    there, to the byte, in place of `new`: lines of another file, or those of this one that a change
    names. moves: these keep their IDs, and are gone where they were.
    """

    place: Placement
    first: str
    last: str
    new: tuple[str, ...] = ()
    empty_end: bool = False
    until: bool = False
    old: str = ""
    lines: "Change | tuple[bytes, ...] | None" = None
    moves: bool = False
