"""Indentation of new lines, translated from what a model sent to what the file uses."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from math import gcd
from typing import NamedTuple

from fsagent_tools.edits.haystack import indent_of

OPENERS = (b":", b"{")  # at the end of a line behind which a block begins
_FALLBACK = 4  # columns of a level where a text shows none


class Example(NamedTuple):
    """Line number of the old text, its line and the file's line that it matched."""

    number: int
    old: bytes
    file: bytes


class Indents:
    """Translates indentation by example: old lines paired with the file's lines they matched."""

    def __init__(
        self, pairs: Sequence[Example], sent: Sequence[bytes], around: Sequence[bytes]
    ) -> None:
        self.pairs = [(n, indent_of(old), indent_of(file)) for n, old, file in pairs]
        self.continued = continuations((n, old) for n, old, _ in pairs)
        self.same = all(old == file for _, old, file in self.pairs)
        self.unit, self.level = _scale(pairs, sent, around)

    def translate(
        self, line: bytes, position: int, continues: bool = False, *, late: bool = False
    ) -> bytes:
        """The new line as the file would indent it; `position` is the old line it stands for.

        `continues`: it goes on with the line above, so a continuation at its place is an example.
        Between two examples equally near the earlier decides, or the later one.
        """
        if self.same or not line.strip():
            return line
        indent = indent_of(line)
        sign = -1 if late else 1
        _, old, file = min(
            (
                p
                for p in self.pairs
                if p[0] not in self.continued or (p[0] == position and continues)
            ),
            key=lambda p: (
                abs(len(p[1]) - len(indent)), p[1] != indent, abs(p[0] - position), sign * p[0],
            ),
        )  # fmt: skip
        return self._moved(indent, old, file) + line[len(indent) :]

    def _moved(self, indent: bytes, old: bytes, file: bytes) -> bytes:
        if len(indent) >= len(old):
            return file + self._scaled(indent[len(old) :])
        blanks = old[len(indent) :]
        exact = b"\t" in file and file.endswith(old)  # the end of tabs and spaces, as it is there
        removed = len(blanks if exact else self._scaled(blanks))
        return file[: max(0, len(file) - removed)]

    def _scaled(self, blanks: bytes) -> bytes:
        """Blanks beyond an example in the file's levels, as they are where no level fits."""
        count, rest = divmod(len(blanks), self.unit or 1)
        return blanks if rest or not self.unit else self.level * count

    def shift(self) -> str:
        """What happens to the lines, in words."""
        moved = {len(file) - len(old) for _, old, file in self.pairs}
        signs = {bytes({*old, *file}) for _, old, file in self.pairs}
        if len(moved) == 1 and all(len(sign) < 2 for sign in signs):
            return columns(moved.pop())
        return "re-indented like the lines there"


def continuations(lines: Iterable[tuple[int, bytes]]) -> set[int]:
    """Numbers of the lines that go in without an opener: examples for nothing but themselves."""
    found: set[int] = set()
    base, opened = 0, True
    for number, line in lines:
        if not line.strip():
            continue
        width = len(indent_of(line))
        if width > base and not opened:
            found.add(number)
        else:
            base = width
        opened = line.rstrip().endswith(OPENERS)
    return found


def columns(count: int) -> str:
    return f"re-indented by {count} column{'s' * (abs(count) != 1)}"


def _scale(
    pairs: Sequence[Example], sent: Sequence[bytes], around: Sequence[bytes]
) -> tuple[int, bytes]:
    """Characters sent for one level, 0 where they stay as they are, and the file's level.

    Another unit needs two levels that agree on it: of lines behind openers, never of
    continuations. Tabs for spaces are another unit in any case.
    """
    olds, files = [pair.old for pair in pairs], [pair.file for pair in pairs]
    steps = [
        (len(indent_of(b.old)) - len(indent_of(a.old)), indent_of(b.file)[len(indent_of(a.file)) :])
        for a, b in pairwise(pairs)
        if a.old.rstrip().endswith(OPENERS) and b.number == a.number + 1
    ]
    found = {(step, level) for step, level in steps if step > 0 and level}
    units = (_unit(sent) or _unit(olds), _unit(files) or _unit(around))
    if len(found) == 1 and (len(steps) > 1 or found == {(len(units[0]), units[1])}):
        return found.pop()
    tabs = {
        b"\t" in indent_of(line) for lines in (olds, files) for line in lines if indent_of(line)
    }
    if len(tabs) == 2:
        return len(units[0] or _any_unit([*olds, *sent])), units[1] or _any_unit([*files, *around])
    return 0, b""


def _unit(lines: Sequence[bytes]) -> bytes:
    """One level, where all lines behind an opener go in by the same."""
    filled = [line for line in lines if line.strip()]
    steps = {
        indent_of(inner)[len(indent_of(outer)) :]
        for outer, inner in pairwise(filled)
        if outer.rstrip().endswith(OPENERS) and len(indent_of(inner)) > len(indent_of(outer))
    }
    return min(steps, key=len) if steps else b""


def _any_unit(lines: Iterable[bytes]) -> bytes:
    """A tab, or as many spaces as divide every step."""
    indents = [indent_of(line) for line in lines if line.strip()]
    tabs = sum(indent.startswith(b"\t") for indent in indents)
    if tabs > sum(indent.startswith(b" ") for indent in indents):
        return b"\t"
    widths = sorted({len(indent) for indent in indents if not indent.startswith(b"\t")})
    steps = [b - a for a, b in pairwise(widths)]
    return b" " * (reduce(gcd, steps, 0) or (widths and widths[0]) or _FALLBACK)


def votes(olds: Sequence[bytes], sent: Sequence[bytes], files: Sequence[bytes]) -> set[str]:
    """Whose indentation the lines sent have: that of the "old" text, of the "file", or both.

    Asked are lines that only moved, the first line and the outermost. A line beneath a new one says
    nothing: it went deeper on purpose.
    """
    found = {_vote(*(_outermost(lines) for lines in (olds, sent, files)))}
    found.add(_vote(*(_first(lines) for lines in (olds, sent, files))))
    found.update(_vote(*three) for three in _repeated(olds, sent, files))
    return found - {""}


def _vote(old: bytes, sent: bytes, file: bytes) -> str:
    if old == file:
        return ""
    return {file: "file", old: "old"}.get(sent, "")


def _outermost(lines: Sequence[bytes]) -> bytes:
    return min((indent_of(line) for line in lines if line.strip()), key=len, default=b"")


def _first(lines: Sequence[bytes]) -> bytes:
    return next((indent_of(line) for line in lines if line.strip()), b"")


def _repeated(
    olds: Sequence[bytes], sent: Sequence[bytes], files: Sequence[bytes]
) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Indentation of lines that stand once in the old text and in the new one, three times."""
    bare_old, bare_sent = [line.strip() for line in olds], [line.strip() for line in sent]
    places = {line: n for n, line in enumerate(bare_old) if line}
    there, here = Counter(bare_old), Counter(bare_sent)
    outer: list[tuple[int, bool]] = []  # the lines around this one, and whether each is repeated
    for number, text in enumerate(bare_sent):
        if not text:
            continue
        width = len(indent_of(sent[number]))
        while outer and outer[-1][0] >= width:
            outer.pop()
        known = text in places
        once = known and there[text] == here[text] == 1
        if once and all(repeated for _, repeated in outer):
            at = places[text]
            yield indent_of(olds[at]), indent_of(sent[number]), indent_of(files[at])
        outer.append((width, known))
