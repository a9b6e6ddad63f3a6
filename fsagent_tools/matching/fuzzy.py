"""Strategy for a block with typing slips: every line has to resemble its counterpart."""

import re
from collections.abc import Sequence, Set
from functools import cached_property

from fsagent_tools.matching.scoring import similar, similarity, slips
from fsagent_tools.matching.source import Source, indent_of
from fsagent_tools.matching.spans import Span
from fsagent_tools.matching.white_space import closed_lines, is_closed

THRESHOLD = 0.85  # similarity of each line that is asked for by default
LONGEST = 2000  # characters of a line that is compared; longer ones have to be equal
COMPARISONS = 100_000  # line pairs looked at before the search gives up and finds nothing
WORD = re.compile(r"[^\W_]+")
DIGITS = re.compile(r"\d")
SHORT, LONG = 2, 8  # letters of a word in which one slip, or two, can be told from another word
MISSPELT = 2  # words of a line that may be misspelt


def similar_block(source: Source, old: bytes, threshold: float) -> list[Span]:
    """Spans of whole lines, each at least `threshold` similar (0 to 1) to its line of `old`.

    A block is then as similar as its lines are, so its own ratio needs no second look. Finds
    nothing when too many places are alike to compare them all. Places with the very indentation
    of `old` come before others.
    """
    wanted = [line.strip().decode() for line in closed_lines(old)]
    if threshold >= 1 or len(wanted) > len(source.lines) or not any(wanted):
        return []
    alike = Alike(wanted, [line.strip().decode() for line in source.lines], threshold)
    firsts = []
    for first in alike.anchored():
        if alike.block(first):
            firsts.append(first)
        if alike.compared > COMPARISONS:
            return []
    indents = [indent_of(line) for line in closed_lines(old)]
    same = [n for n in firsts if indents == [*map(indent_of, source.lines[n : n + len(indents)])]]
    return [source.block(n, len(wanted), closed=is_closed(old)) for n in same or firsts]


class Alike:
    """Compares blocks of a file with the wanted lines, remembering pairs of texts."""

    def __init__(self, wanted: Sequence[str], lines: Sequence[str], threshold: float) -> None:
        self.wanted = wanted
        self.lines = lines
        self.threshold = threshold
        self.compared = 0
        self._known: dict[tuple[str, str], bool] = {}

    @cached_property
    def vocabulary(self) -> Set[str]:
        return {word for line in self.lines for word in WORD.findall(line)}

    def anchored(self) -> list[int]:
        """First lines of the blocks where the longest wanted line fits."""
        anchor = max(range(len(self.wanted)), key=lambda i: len(self.wanted[i]))
        text = self.wanted[anchor]
        if len(text) > LONGEST:
            hits = [i for i, line in enumerate(self.lines) if line == text]
        else:
            short = (line if len(line) <= LONGEST else "" for line in self.lines)
            hits = similar(text, short, self.threshold)
        last = len(self.lines) - len(self.wanted)
        return [hit - anchor for hit in hits if 0 <= hit - anchor <= last]

    def block(self, first: int) -> bool:
        there = self.lines[first : first + len(self.wanted)]
        return all(map(self.line, self.wanted, there))

    def line(self, wanted: str, there: str) -> bool:
        self.compared += 1
        if wanted == there:
            return True
        if not wanted or not there or max(len(wanted), len(there)) > LONGEST:
            return False
        pair = wanted, there
        if pair not in self._known:
            close = similarity(wanted, there, self.threshold) > 0
            self._known[pair] = close and (
                self.threshold < THRESHOLD or is_slip(wanted, there, self.vocabulary)
            )
        return self._known[pair]


def is_slip(wanted: str, there: str, vocabulary: Set[str]) -> bool:
    """True when only misspelt words differ: a letter or two in a long word the file does not know.

    Other digits, signs, short words or words that the file uses elsewhere are a change that
    somebody meant, however small a share of the line it is.
    """
    words, others = WORD.findall(wanted), WORD.findall(there)
    if len(words) != len(others) or _frame(wanted) != _frame(there):
        return False
    pairs = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    return len(pairs) <= MISSPELT and all(
        word not in vocabulary and _misspelt(word, other) for word, other in pairs
    )


def _frame(line: str) -> str:
    """The signs of a line between its words."""
    return "".join(WORD.sub("w", line).split())


def _misspelt(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    if shorter < SHORT or word.casefold() == other.casefold():
        return False
    if DIGITS.findall(word) != DIGITS.findall(other):
        return False
    return slips(word, other) <= (2 if shorter >= LONG else 1)
