"""Tools that name lines by a mark before each line."""

import re
from abc import ABC, abstractmethod
from typing import NamedTuple

from benchmark.case import Case
from benchmark.dialects.base import Arguments, Row, place
from benchmark.hunks import Hunk
from benchmark.slips import ONLY_QUOTES

ALPHABETS = ("0123456789", "abcdef", "ghijklmnopqrstuvwxyz")


Ends = tuple[int, int] | int


class Sent(NamedTuple):
    """The new lines; tail: a newline too much at their end."""

    lines: list[str]
    tail: str = ""


class Marked(ABC):
    """A line is found by the mark that a read, or an error, shows before it."""

    quoting = False
    several = False  # changes in one call
    as_meant = ONLY_QUOTES
    row: re.Pattern[str]  # groups: mark, text
    named: list[Row]  # the rows as the first call named them

    def widen(self, hunk: Hunk) -> Hunk:
        return hunk

    def rows(self, shown: str) -> list[Row]:
        """Every line that has a mark."""
        found = (self.row.search(line) for line in shown.split("\n"))
        return [Row(m[1], m.string[m.start() : m.start(2)], m[2]) for m in found if m]

    @abstractmethod
    def send(self, path: str, rows: list[Row], ends: Ends, sent: Sent) -> Arguments:
        """The call for the rows from and to, or for the gap before a row (`len(rows)`: the end)."""

    def gap(self, rows: list[Row], at: int) -> int:
        """Which row is named for the gap before a row: that row, or else the one above."""
        return at if at < len(rows) and rows[at].mark else at - 1

    def call(self, case: Case, path: str, read: str) -> Arguments | None:
        if case.more and not self.several:
            return None
        rows = self.rows(read)
        start, stop = case.ends or (case.hunk.start, case.hunk.stop)
        if max(start, stop) > len(rows):
            return None
        ends = (start, stop - 1) if stop > start or case.ends else start
        first, last = (self.gap(rows, ends),) * 2 if isinstance(ends, int) else ends
        if not (rows[first].mark and rows[last].mark):
            return None  # a blank line at the top that has no mark, and no line above it
        self.named = self.slipped(case, rows, first, last)
        return self.send(path, self.named, ends, self.new(case, rows))

    def new(self, case: Case, rows: list[Row]) -> Sent:
        """The new lines, with the prefixes of a read where that is the slip."""
        new = case.new
        if case.pasted:
            half = case.pasted == "half"
            marked = [f"{row.mark} " if half else row.prefix for row in rows if row.mark]
            every = [f"{marked[n % len(marked)]}{x}" if x.strip() else x for n, x in enumerate(new)]
            new = [every[0], *new[1:]] if case.pasted == "first" else every
        return Sent(new, case.tail)

    def slipped(self, case: Case, rows: list[Row], first: int, last: int) -> list[Row]:
        """The rows with wrong marks, where that is the slip; the words stay those meant."""
        named = list(rows)
        if case.kind == "mistyped":
            at = case.dice.choice([first, last])
            named[at] = named[at]._replace(mark=mistyped(case, named[at].mark or ""))
        others = [row.mark for row in self.rows(case.other_read) if row.mark]
        for at in {first, last}:
            if others:
                named[at] = named[at]._replace(mark=others[at % len(others)])
            elif case.kind == "invented mark":
                named[at] = named[at]._replace(mark=invented(case, named[at].mark or ""))
        for at in {first, last} if case.off else ():
            beside = at + case.off
            if 0 <= beside < len(rows):
                text = rows[beside].text if case.kind.endswith("own words") else rows[at].text
                named[at] = rows[at]._replace(mark=rows[beside].mark, text=text)
        return named

    def again(self, case: Case, path: str, read: str, error: str) -> Arguments | None:
        rows, lines = self.rows(error), case.hunk.lines
        start, stop = case.hunk.start, case.hunk.stop

        def now(at: int) -> Row | None:
            """The line as the error shows it; else as it was named, if no error is about that."""
            found = place(rows, *around(lines, at))
            named = self.named[at]
            wrong = case.off or case.kind == "mistyped"
            kept = None if wrong and named.mark and named.mark in error else named
            return kept if found is None else rows[found]

        sent = Sent([*case.hunk.new])
        if stop == start:
            at = self.gap(self.named, start)
            row = now(at)
            return row and self.send(path, [row], 0 if at == start else 1, sent)
        first, last = now(start), now(stop - 1)
        if first is None or last is None:
            return None
        return self.send(path, [first, last], (0, 1) if stop - start > 1 else (0, 0), sent)


def around(lines: list[str], at: int) -> tuple[str, str | None, str | None]:
    """A line and its neighbours."""
    below = lines[at + 1] if at + 1 < len(lines) else None
    return lines[at], lines[at - 1] if at else None, below


def invented(case: Case, mark: str) -> str:
    """A mark of the same form that nothing showed; where it is a number and a hash, the hash."""
    number, colon, rest = mark.rpartition(":")
    kinds = "".join(ALPHABETS[:2]) if re.search(r"\d", rest) else "".join(ALPHABETS[1:])
    kinds = ALPHABETS[0] if rest.isdigit() else kinds
    return number + colon + "".join(case.dice.choice(kinds) if x.isalnum() else x for x in rest)


def mistyped(case: Case, mark: str) -> str:
    """One character of a mark is another of its kind."""
    places = [n for n, letter in enumerate(mark) if letter.isalnum()]
    at = case.dice.choice(places)
    kinds = "".join(ALPHABETS[:2]) if re.search(r"\d", mark) else "".join(ALPHABETS[1:])
    if mark[at].isdigit() and ":" in mark[at:]:  # a line number stays one
        kinds = ALPHABETS[0]
    other = case.dice.choice(kinds.replace(mark[at].lower(), ""))
    return mark[:at] + other + mark[at + 1 :]
