"""Strategy for a block with typing slips: every line has to resemble its counterpart."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from fsagent_tools.edits.haystack import AT_ONCE, Check, Haystack, go_on, indent_of
from fsagent_tools.edits.scoring import similar, similarity, slips
from fsagent_tools.edits.spans import Span
from fsagent_tools.edits.white_space import MOST, closed_lines, is_closed

THRESHOLD = 0.85  # similarity of each line that is asked for by default
_LONGEST = 2000  # characters of a line that is compared; longer ones have to be equal
_TELLING = 8  # characters of a line that can be told from another by its likeness
COMPARISONS = 30_000  # line pairs looked at before the search gives up and finds nothing
_LINES = 400_000  # lines of a file that are compared
_WORD = re.compile(r"[^\W_]+")
DIGITS = re.compile(r"\d")
SHORT, LONG = 2, 8  # letters of a word in which one slip, or two, can be told from another word
MISSPELT = 2  # words of a line that may be misspelt


Parses = Callable[[bytes], bool | Literal["beyond"] | None]


class Evidence(NamedTuple):
    """How much else than the exact text is taken.

    threshold: least similarity of each line, 0 to 1, None for the exact text, whatever its line
    endings. typos_only: similar lines differ in misspelt words at most. parses:
    whether a whole text is well formed, None if nobody can tell; of two readings of the
    indentation the one that parses is taken. check: is called all the while, and may raise.
    """

    threshold: float | None = THRESHOLD
    typos_only: bool = True
    parses: Parses | None = None
    check: Check = go_on


SIMILAR = Evidence()


def similar_block(source: Haystack, old: bytes, evidence: Evidence) -> list[Span]:
    """Spans of whole lines, each as similar to its line of `old` as `evidence` asks.

    A block is then as similar as its lines are, so its own ratio needs no second look. Places with
    the very indentation of `old` come before others. Finds nothing when there are too many lines,
    or too many places alike, to compare them all.
    """
    quoted = closed_lines(old)
    threshold = evidence.threshold or 1
    if threshold >= 1 or not len(quoted) <= len(source.lines) <= _LINES:
        return []
    alike = Alike(source, [line.strip().decode() for line in quoted], evidence)
    firsts = []
    for first in alike.anchored():
        if alike.block(first):
            firsts.append(first)
        if alike.compared > COMPARISONS or len(firsts) >= MOST:
            break
    if not firsts or alike.compared > COMPARISONS:
        return []
    indents = [indent_of(line) for line in quoted]
    same = [n for n in firsts if indents == [*map(indent_of, source.lines[n : n + len(quoted)])]]
    return [source.block(n, len(quoted), closed=is_closed(old)) for n in same or firsts]


class Alike:
    """Compares blocks of a file with the wanted lines, remembering pairs of texts."""

    def __init__(self, source: Haystack, wanted: Sequence[str], evidence: Evidence) -> None:
        self.source = source
        self.wanted = wanted
        self.threshold = evidence.threshold or 1
        self.typos_only = evidence.typos_only
        self.compared = 0
        self._known: dict[tuple[str, bytes], bool] = {}
        self._used: dict[str, bool] = {}

    def anchored(self) -> Iterator[int]:
        """First lines of the blocks where the longest wanted line fits."""
        anchor = max(range(len(self.wanted)), key=lambda i: len(self.wanted[i]))
        text = self.wanted[anchor]
        if len(text) < _TELLING:
            return
        lines = self.source.lines
        last = len(lines) - len(self.wanted)
        alike = set(self._alike(text))
        for number in range(anchor, last + anchor + 1):
            if lines[number] in alike:
                yield number - anchor

    def _alike(self, text: str) -> list[bytes]:
        """Distinct lines of the file that are similar to the text, as they stand."""
        if len(text) > _LONGEST:
            return [line for line in self.source.lines if line.strip() == text.encode()]
        least = len(text) * self.threshold / (2 - self.threshold)
        most = 4 * _LONGEST
        near = [line for line in {*self.source.lines} if least <= len(line) <= most]
        found = []
        for start in range(0, len(near), AT_ONCE):
            self.source.check()
            part = near[start : start + AT_ONCE]
            texts = (line.strip().decode() for line in part)
            found += [part[position] for position in similar(text, texts, self.threshold)]
        return found

    def block(self, first: int) -> bool:
        there = self.source.lines[first : first + len(self.wanted)]
        return all(map(self.line, self.wanted, there))

    def line(self, wanted: str, there: bytes) -> bool:
        self.compared += 1
        self.source.check()
        pair = wanted, there
        if pair not in self._known:
            self._known[pair] = self._line(wanted, there.strip().decode())
        return self._known[pair]

    def _line(self, wanted: str, there: str) -> bool:
        if wanted == there:
            return True
        if not wanted or not there or max(len(wanted), len(there)) > _LONGEST:
            return False
        if not similarity(wanted, there, self.threshold):
            return False
        return not self.typos_only or self._is_slip(wanted, there)

    def _is_slip(self, wanted: str, there: str) -> bool:
        """True when only misspelt words differ: a letter or two in words the file does not know.

        Other digits, signs, very short words or words that the file uses elsewhere are a change
        that somebody meant, however small a share of the line it is.
        """
        words, others = _WORD.findall(wanted), _WORD.findall(there)
        if len(words) != len(others) or _frame(wanted) != _frame(there):
            return False
        pairs = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
        return len(pairs) <= MISSPELT and all(
            misspelt(word, other) and not self._uses(word) for word, other in pairs
        )

    def _uses(self, word: str) -> bool:
        if word not in self._used:
            whole = rb"(?<![A-Za-z0-9])" + re.escape(word.encode()) + rb"(?![A-Za-z0-9])"
            self._used[word] = bool(re.search(whole, self.source.text))
        return self._used[word]


def misspelt(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    if shorter < SHORT or word.casefold() == other.casefold():
        return False
    if word.startswith(other) or other.startswith(word):  # a plural, or a name made longer
        return False
    if DIGITS.findall(word) != DIGITS.findall(other):
        return False
    return slips(word, other) <= (2 if shorter >= LONG else 1)


def _frame(line: str) -> str:
    """The signs of a line between its words."""
    return "".join(_WORD.sub("w", line).split())
