"""Indentation of new lines, translated from what a model sent to what the file uses."""

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import pairwise
from math import gcd

from fsagent_tools.matching.source import indent_of

IndentPair = tuple[
    int, bytes, bytes
]  # line of the old text, its indentation, that of the file's line
_FALLBACK = 4  # columns of a level where a text shows none


class Indents:
    """Translates indentation by example: old lines paired with the file's lines they matched."""

    def __init__(
        self, pairs: Sequence[IndentPair], sent: Iterable[bytes], file: Iterable[bytes]
    ) -> None:
        self.pairs = pairs
        self.sent = _unit(sent)
        self.file = _unit(file)
        self.same = all(old == found for _, old, found in pairs)

    def translate(self, line: bytes, position: int) -> bytes:
        """The new line as the file would indent it; `position` is the old line it stands for."""
        indent = indent_of(line)
        if self.same or not line.strip():
            return line
        _, old, found = min(
            self.pairs,
            key=lambda p: (abs(len(p[1]) - len(indent)), p[1] != indent, abs(p[0] - position)),
        )
        return self._moved(indent, old, found) + line[len(indent) :]

    def _moved(self, indent: bytes, old: bytes, found: bytes) -> bytes:
        if len(indent) >= len(old):
            return found + self._converted(indent[len(old) :])
        removed = len(self._converted(old[len(indent) :]))
        return found[: max(0, len(found) - removed)]

    def _converted(self, blanks: bytes) -> bytes:
        """Blanks beyond an example in the file's units, as they are where no unit fits."""
        ratio = self._ratio()
        if not blanks or ratio is None:
            return blanks
        count, rest = divmod(len(blanks) * ratio[0], ratio[1])
        return blanks if rest else self.file[:1] * count

    def _ratio(self) -> tuple[int, int] | None:
        """Characters of the file for characters sent: by two examples, by one, or by the units."""
        by_width = sorted({(len(old), len(found)) for _, old, found in self.pairs})
        (old, found), (old_last, found_last) = by_width[0], by_width[-1]
        if old_last > old and found_last > found:
            return found_last - found, old_last - old
        units = len(self.file), len(self.sent)
        same_level = old and found and old * units[0] == found * units[1] and not old % units[1]
        return units if same_level or self.file[:1] != self.sent[:1] else None


def _unit(lines: Iterable[bytes]) -> bytes:
    """One level of indentation: a tab, or as many spaces as divide every step."""
    indents = [indent_of(line) for line in lines if line.strip()]
    tabs = sum(indent.startswith(b"\t") for indent in indents)
    spaces = sum(indent.startswith(b" ") for indent in indents)
    if tabs > spaces:
        return b"\t"
    widths = sorted({len(indent) for indent in indents if not indent.startswith(b"\t")})
    steps = [b - a for a, b in pairwise(widths)]
    return b" " * (reduce(gcd, steps, 0) or (widths and widths[0]) or _FALLBACK)
