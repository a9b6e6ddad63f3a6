"""Blocks of lines that differ from quoted ones in typing slips."""

import re
from collections.abc import Callable, Iterable, Sequence

from fsagent_tools.edits.scoring import similarity

_LONGEST = 2000  # characters of a line that is compared; longer ones have to be equal
_TELLING = 8  # characters of a line that can be told from another by its likeness
COMPARISONS = 30_000  # line pairs looked at before the search gives up and finds nothing
_LINES = 400_000  # lines of a file that are compared
_PLACES = 1000  # that are looked for
_AT_ONCE = 4096  # lines between two calls of a check
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d")
_SHORT, _LONG = 2, 8  # letters of a word in which one slip, or two, can be told from another word
_MISSPELT = 2  # words of a line that may be misspelt


class Alike:
    """Compares blocks of lines with the wanted ones, remembering pairs of texts.

    threshold: least similarity of each line. typos_only: only misspelt words may differ, a letter
    or two in words that the text does not know: other digits, signs, very short words or words that
    it uses elsewhere are a change that somebody meant, however small a share of the line it is.
    """

    def __init__(
        self,
        lines: Sequence[bytes],
        wanted: Sequence[bytes],
        threshold: float,
        check: Callable[[], None],
        *,
        typos_only: bool,
    ) -> None:
        self.lines, self.check = lines, check
        self.wanted = [line.strip().decode() for line in wanted]
        self.threshold, self.typos_only = threshold, typos_only
        self.compared = 0
        self._known: dict[tuple[str, bytes], bool] = {}

    def blocks(self) -> list[int]:
        """First lines of the blocks that are alike; none where there are too many to tell."""
        anchor = max(range(len(self.wanted)), key=lambda i: len(self.wanted[i]))
        fits = len(self.wanted) <= len(self.lines) <= _LINES
        if not fits or len(self.wanted[anchor]) < _TELLING:
            return []
        alike, last = {*self._alike(self.wanted[anchor])}, len(self.lines) - len(self.wanted)
        found = []
        for first in range(last + 1):
            if self.lines[first + anchor] not in alike:
                continue
            if all(map(self._line, self.wanted, self.lines[first : first + len(self.wanted)])):
                found.append(first)
            if self.compared > COMPARISONS:
                return []
            if len(found) >= _PLACES:
                break
        return found

    def _alike(self, text: str) -> Iterable[bytes]:
        """Distinct lines that are similar to the text, as they stand."""
        from rapidfuzz import fuzz, process

        if len(text) > _LONGEST:
            return [line for line in self.lines if line.strip() == text.encode()]
        least = len(text) * self.threshold / (2 - self.threshold)
        near = [line for line in {*self.lines} if least <= len(line) <= 4 * _LONGEST]
        found: list[bytes] = []
        for start in range(0, len(near), _AT_ONCE):
            self.check()
            part = near[start : start + _AT_ONCE]
            rows = process.extract_iter(
                text,
                (line.strip().decode() for line in part),
                scorer=fuzz.ratio,
                score_cutoff=self.threshold * 100,
            )
            found += [part[position] for _, _, position in rows]
        return found

    def _line(self, wanted: str, there: bytes) -> bool:
        self.compared += 1
        self.check()
        pair = wanted, there
        if pair not in self._known:
            self._known[pair] = self._is_alike(wanted, there.strip().decode())
        return self._known[pair]

    def _is_alike(self, wanted: str, there: str) -> bool:
        if wanted == there:
            return True
        if not wanted or not there or max(len(wanted), len(there)) > _LONGEST:
            return False
        if not similarity(wanted, there, self.threshold):
            return False
        return not self.typos_only or self._is_slip(wanted, there)

    def _is_slip(self, wanted: str, there: str) -> bool:
        words, others = _WORD.findall(wanted), _WORD.findall(there)
        if len(words) != len(others) or _frame(wanted) != _frame(there):
            return False
        pairs = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
        return len(pairs) <= _MISSPELT and all(
            _misspelt(*pair) and not self._uses(pair[0]) for pair in pairs
        )

    def _uses(self, word: str) -> bool:
        whole = rb"(?<![A-Za-z0-9])" + re.escape(word.encode()) + rb"(?![A-Za-z0-9])"
        return any(re.search(whole, line) for line in self.lines)


def _misspelt(word: str, other: str) -> bool:
    from rapidfuzz.distance import OSA

    shorter = min(len(word), len(other))
    if shorter < _SHORT or word.casefold() == other.casefold():
        return False
    if word.startswith(other) or other.startswith(word):  # a plural, or a name made longer
        return False
    same = _DIGITS.findall(word) == _DIGITS.findall(other)
    return same and OSA.distance(word, other) <= (2 if shorter >= _LONG else 1)


def _frame(line: str) -> str:
    """The signs of a line between its words."""
    return "".join(_WORD.sub("w", line).split())
