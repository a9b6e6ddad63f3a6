"""One file in a session: what it is, what the model knows of it, and one edit after another."""

import ast
import difflib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmark.case import Case
from benchmark.dialects.base import Arguments, Dialect, Row
from benchmark.dialects.marked import Marked, Sent
from benchmark.dialects.quotes import Quotes
from benchmark.fresh import renamed
from benchmark.hunks import Hunk
from benchmark.running import OwnTools, PeerTools

NEAR = 6  # lines around an edit in which those of its answer are looked for


@dataclass(eq=False)
class Line:
    """Who rewrites a line makes another one: two of the same text are not the same."""

    text: str
    mark: str | None = None


@dataclass
class Memory:
    """The lines as the model knows them; last: where its last edit stands."""

    lines: list[Line]
    last: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        return joined(self.lines)


def joined(lines: list[Line]) -> str:
    return "".join(f"{line.text}\n" for line in lines)


@dataclass
class Desk:
    """truth: the lines that the file has. counts: re-reads, and characters sent and answered."""

    tools: OwnTools | PeerTools
    dialect: Dialect
    path: Path
    text: str
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.truth = [Line(text) for text in self.text.removesuffix("\n").split("\n")]
        self.python = self.path.suffix == ".py" and parsed(self.text)
        self.memory = Memory([])
        self.read()
        self.counts.clear()

    def read(self) -> None:
        """The model knows everything again."""
        shown = self.tools.read(self.path.name)
        self.counts["reads"] += 1
        self.memory = Memory([*self.truth])
        if isinstance(self.dialect, Marked):
            for line, row in zip(self.truth, self.dialect.rows(shown), strict=True):
                line.mark = row.mark

    def replaced(self, lines: list[Line]) -> None:
        """By others."""
        self.truth = lines
        self.path.write_text(joined(lines), encoding="utf-8")

    def edit(self, start: int, stop: int, new: list[str]) -> str:
        """applied, refused, needless (refused, though no line named has changed), or wrong."""
        known = self.memory.lines
        hunk = Hunk(self.path.name, "", self.path.name, self.memory.text, start, stop, (*new,))
        wide = self.dialect.widen(hunk)
        if isinstance(self.dialect, Marked) and any(
            x.text.strip() and not x.mark for x in known[max(0, wide.start - 1) : wide.stop + 1]
        ):
            self.read_again_where_unmarked()
        call = self.call(wide)
        ok, answer = self.tools.edit(call)
        self.counts["sent"] += len(str(call))
        self.counts["answered"] += len(answer)
        before, after = joined(self.truth), self.path.read_text(encoding="utf-8")
        lines = [Line(text) for text in new]
        meant = self.meant(wide, start, stop, lines)
        if not ok and after == before:
            return "refused" if meant is None else "needless"
        if not ok or meant is None or after != joined(meant):
            self.truth = [Line(text) for text in after.removesuffix("\n").split("\n")]
            return "wrong"
        self.truth = meant
        self.memory.lines = [*known[:start], *lines, *known[stop:]]
        self.memory.last = start, start + len(lines)
        self.marked(answer)
        return "applied"

    def read_again_where_unmarked(self) -> None:
        """Where no answer showed a mark, and nobody else wrote."""
        last, lines = self.memory.last, self.memory.lines
        self.read()
        if len(self.memory.lines) == len(lines):
            self.memory.last = last

    def call(self, wide: Hunk) -> Arguments:
        """What is sent, by what the model knows."""
        if isinstance(self.dialect, Quotes):
            case = Case("", wide, "", "", None, wide.old, [*wide.new], quoting=True)
            return self.dialect.send(self.path.name, case)
        assert isinstance(self.dialect, Marked)
        rows = [Row(line.mark, "", line.text) for line in self.memory.lines]
        ends = (wide.start, wide.stop - 1) if wide.stop > wide.start else wide.start
        return self.dialect.send(self.path.name, rows, ends, Sent([*wide.new]))

    def meant(self, wide: Hunk, start: int, stop: int, new: list[Line]) -> list[Line] | None:
        """The file afterwards; None where lines that the call names are no longer those."""
        known = self.memory.lines
        inserts = wide.start == wide.stop
        first, end = (wide.start - bool(wide.start), wide.stop) if inserts else (
            wide.start, wide.stop,
        )  # fmt: skip
        if inserts and isinstance(self.dialect, Marked):
            first = self.dialect.gap([Row(x.mark, "", x.text) for x in known], wide.start)
            end = first + 1
        named = known[first:end]
        at = next((n for n, line in enumerate(self.truth) if line is named[0]), -1)
        if at < 0 or any(a is not b for a, b in zip(named, self.truth[at:], strict=False)):
            return None
        begin = at + start - first
        return [*self.truth[:begin], *new, *self.truth[begin + stop - start :]]

    def marked(self, answer: str) -> None:
        """The marks that an answer shows, at the lines where it shows them."""
        if not isinstance(self.dialect, Marked) or not self.memory.last:
            return
        start, stop = self.memory.last
        around = self.memory.lines[max(0, start - NEAR) : stop + NEAR]
        rows = self.dialect.rows(answer)
        compared = difflib.SequenceMatcher(
            None, [x.text for x in around], [row.text for row in rows], autojunk=False
        )
        for a, b, size in compared.get_matching_blocks():
            for n in range(size):
                around[a + n].mark = rows[b + n].mark

    def parses(self, start: int, stop: int, new: list[str]) -> bool:
        """Whether the file can still be parsed; what is no Python can always."""
        known = self.memory.lines
        lines = [*known[:start], *map(Line, new), *known[stop:]]
        return bool(lines) and (not self.python or parsed(joined(lines)))

    def renamed(self, text: str, turn: int) -> str:
        new = renamed(text, str(turn))
        return new if new != text or not text.strip() else f"{text}  # {turn}"

    def depth(self, at: int) -> str:
        """The indentation of the line there, or of the one above."""
        some = [line.text for line in self.memory.lines[max(0, at - 1) : at + 1]]
        text = next(filter(str.strip, reversed(some)), "")
        return text[: len(text) - len(text.lstrip())]


def parsed(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True
