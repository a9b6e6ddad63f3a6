"""How much else than the exact text a quote may stand for, and how many places of it."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Literal, NamedTuple

from fsagent_tools.lines.splice import Hunk
from fsagent_tools.problems import Parsing

if TYPE_CHECKING:
    from fsagent_tools.edits.quotes import Haystack, Match

THRESHOLD = 0.85  # similarity of each line that is asked for by default

Occurrences = Literal["unique", "first", "all"] | int
Check = Callable[[], None]  # is called again and again in long work; raises to end it
Parses = Callable[[bytes], Parsing]
WellFormed = Callable[[Hunk], Parsing]  # does the text parse with it? None: nobody can tell
Choice = Callable[["Haystack", "list[Match]"], "list[Match]"]  # of places, all where it is open


def go_on() -> None:
    """Lets work take as long as it takes."""


class Evidence(NamedTuple):
    """How much else than the exact text is taken.

    threshold: least similarity of each line, 0 to 1, None for the exact text, whatever its line
    endings. typos_only: similar lines differ in misspelt words at most. parses: whether a whole
    text is well formed, None if nobody can tell; it decides between two readings of the
    indentation. check: is called all the while, and may raise. lost: lines that were there when
    the text was read, and are not any more. name: of the file, by which its language is told.
    whole_lines: the quote begins and ends with a line. among: which of several places is meant.
    """

    threshold: float | None = THRESHOLD
    typos_only: bool = True
    parses: Parses | None = None
    check: Check = go_on
    lost: Collection[bytes] = ()
    name: str = ""
    whole_lines: bool = False
    among: Choice | None = None


SIMILAR, EXACTLY = Evidence(), Evidence(threshold=None)
