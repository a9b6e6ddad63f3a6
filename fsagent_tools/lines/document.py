"""One file's lines with their IDs, and what a session was shown of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from hashlib import sha256
from itertools import accumulate, pairwise

from fsagent_tools.errors import InvalidChange, NotReadYet, StaleLineIds, UnknownLineId
from fsagent_tools.lines.ids import WIDTH, split_ids
from fsagent_tools.lines.index import LineIndex, aligned
from fsagent_tools.lines.likely import likely
from fsagent_tools.lines.source import Lines, Window
from fsagent_tools.lines.styles import STYLES, Style, Typed
from fsagent_tools.records import dataclass
from fsagent_tools.text import MAX_LINE_CHARS, unclipped

NEARBY = 8  # live lines shown in a refusal
ROOM = 4000  # characters they may take
AROUND = 2  # unchanged lines shown beside a change
MOST_SHOWS = 500  # displays remembered; what is forgotten has to be read again
NOTHING = "Nothing was written."


@dataclass
class Seen:
    """What one session was shown of one file.

    shows: IDs that stood below each other, one string for each display, the newest last; those
    that an earlier process showed come first. `whole` are IDs of overlong lines shown in full.
    """

    shows: list[str] = field(default_factory=list)
    whole: set[str] = field(default_factory=set)
    doubted: dict[object, int] = field(default_factory=dict)  # refused change: what it quoted

    def add(self, ids: str) -> None:
        last = self.shows[-1] if self.shows else ""
        if ids != last and aligned(last, ids) < 0:
            self.shows.append(ids)
            del self.shows[:-MOST_SHOWS]

    def below(self, line_id: str) -> str | None:
        """The ID that stood below `line_id` when both were shown last."""
        for shown in reversed(self.shows):
            at = aligned(shown, line_id)
            if at >= 0 and (lower := shown[at + WIDTH : at + 2 * WIDTH]):
                return lower
        return None


@dataclass
class Document:
    """A text whose lines keep their IDs while other lines change. Line numbers are 0-based."""

    name: str
    lines: Lines
    index: LineIndex
    seen: Seen = field(default_factory=Seen)
    style: Style = STYLES["tag"]

    def show(self, window: Window) -> str:
        """IDs, in one string, for lines that the model is about to see."""
        ids = self.index.show(window)
        if ids:
            self.index.respaced.difference_update(split_ids(ids) if self.index.respaced else ())
            start, stop = window.start, window.stop
            around = self.index.run_at(start)
            above = around.part(start - 1, start).ids
            below = around.part(stop, stop + 1).ids
            self.seen.add(
                ("" if above and self.seen.below(above) else above)
                + ids
                + ("" if below and self.seen.below(ids[-WIDTH:]) else below)
            )
        return ids

    def tagged(self, start: int, stop: int) -> str:
        """Lines `start` to `stop` as a model sees them, with their IDs."""
        window = self.lines.window(start, stop)
        return self.style.lines(self.show(window), window.clipped(MAX_LINE_CHARS))

    def find(self, typed: Sequence[str]) -> list[int]:
        """The lines that carry the IDs as the model typed them, with what it quoted of the lines.

        Raises `NotReadYet`, `UnknownLineId`, `StaleLineIds` or `InvalidChange`; the text shows
        live lines.
        """
        if self.index.empty:
            raise NotReadYet(
                f"{self.name} has no line IDs yet. Read the file first to generate line IDs."
            )
        read = {text: self.style.parse(text) for text in typed}
        found = {text: self.index.position(one.line_id) for text, one in read.items() if one}
        lines = {text: line for text, line in found.items() if line is not None}
        if missing := [text for text in read if text not in lines]:
            raise self._missing({text: read[text] for text in missing}, [*lines.values()])
        for text, line in lines.items():
            if typed_id := read[text]:
                self._check_quote(typed_id, line)
        return [lines[text] for text in typed]

    def quotation(self, line: int, most: int) -> str:
        """The first `most` words of the text from `line` on, blank lines aside."""
        words = b" ".join(self.lines.between(line, line + most + NEARBY)).split()
        return b" ".join(words[:most]).decode(errors="replace")

    def around(self, start: int, stop: int) -> tuple[bytes, bytes]:
        """The nearest lines above `start` and from `stop` on that are not blank, b"" if none."""
        above = reversed(self.lines.between(max(0, start - NEARBY), start))
        below = self.lines.between(stop, stop + NEARBY)
        return next(filter(bytes.strip, above), b""), next(filter(bytes.strip, below), b"")

    def _check_quote(self, typed: Typed, line: int) -> None:
        """Refuse words that are not how the live text begins, white space aside."""
        quote = unclipped(typed.quote).split()
        words = self.lines.between(line, line + 1)[0].split()
        live = b"".join(self.lines.between(line, line + len(quote) + NEARBY))
        if len(quote) < min(2, len(words)) and self.style.quoted:
            what = "needs the first words of its line behind it, up to two"
        elif not b"".join(live.split()).startswith("".join(quote).encode(errors="replace")):
            what = f"does not stand before {' '.join(quote)[:60]!r}"
        else:
            return
        name = self.style.spelled(typed.line_id)
        raise InvalidChange(
            f"{name} {what}; it would be {f'{name} {self.quotation(line, 2)}'!r}. {NOTHING}",
            hint=self._available(self._meant(name, typed.quote, line) - NEARBY // 2),
        )

    def check_range(self, start: int, stop: int) -> None:
        """Raise `StaleLineIds` unless lines `start` to `stop` are the ones the session saw."""
        ids = self.index.ids(start, stop)
        if not self.index.respaced.isdisjoint(ids):
            raise StaleLineIds(
                f"The white space of lines in {self.name} has changed since last read. {NOTHING}",
                hint=f"Retry with these lines:\n{self._region(start, stop)}",
            )
        for n, (upper, lower) in enumerate(pairwise(ids), start + 1):
            if upper is None or lower is None or self.seen.below(upper) != lower:
                raise StaleLineIds(
                    f"The range in {self.name} holds lines you have not seen together (at line "
                    f"{n + 1}): the file has changed since last read. {NOTHING}",
                    hint=f"Re-read, or retry with these lines:\n{self._region(start, stop)}",
                )

    def described(self) -> Iterator[tuple[int, str, str]]:
        """(1-based number, ID, sha256 of the text) of every line that has an ID."""
        for line, line_id, text in self._identified():
            yield line + 1, line_id, sha256(text).hexdigest()

    def _identified(self) -> Iterator[tuple[int, str, bytes]]:
        """(0-based number, ID, text) of every line that has an ID."""
        for run in self.index.runs:
            lines = self.lines.between(run.start, run.stop)
            ids = self.style.spelled_all(run.ids)
            for line, (line_id, text) in enumerate(zip(ids, lines, strict=True), run.start):
                if line_id:
                    yield line, line_id, text

    def _meant(self, name: str, quote: str, otherwise: int) -> int:
        """The line that a wrong ID was probably meant for."""
        line = likely(name, quote, self._identified())
        return otherwise if line is None else line

    def _region(self, start: int, stop: int) -> str:
        lines = self.lines.between
        few = self._fitting(lines(start, min(stop, start + NEARBY)))
        last = self._fitting(lines(max(start + few, stop - NEARBY), stop)[::-1])
        if stop - start <= few + last:
            return self.tagged(start, stop)
        head, tail = self.tagged(start, start + few), self.tagged(stop - last, stop)
        return f"{head}\n({stop - start - few - last} lines not shown)\n{tail}"

    def _fitting(self, lines: Sequence[bytes]) -> int:
        """How many of `lines` fit into a refusal, at least one if there is one."""
        sizes = accumulate(min(len(line), MAX_LINE_CHARS) for line in lines)
        return max(min(1, len(lines)), sum(size <= ROOM for size in sizes))

    def _missing(
        self, typed: Mapping[str, Typed | None], found: Sequence[int]
    ) -> UnknownLineId | StaleLineIds:
        """The refusal that names all the IDs which no line carries, and shows lines near them."""
        wrong = [text.strip()[:40] for text, one in typed.items() if one is None]
        ids = [one.line_id for one in typed.values() if one]
        gone = [line_id for line_id in ids if line_id in self.index.used]
        told = []
        if wrong:
            told.append(f"{_listed(map(repr, wrong))}: no line ID. IDs are {self.style.shape}.")
        if unknown := [line_id for line_id in ids if line_id not in gone]:
            told.append(f"{self.name} has no line {_listed(map(self.style.spelled, unknown))}.")
        name, _, quote = next(iter(typed)).strip().partition(" ")
        near, how = self._meant(name, quote, self._last_seen(found)), ""
        if gone:
            near, how = self.index.gone.get(gone[0], (near, "since it was read"))
            lines = "Line {} of {} was" if len(gone) == 1 else "Lines {} of {} were"
            told.append(
                lines.format(_listed(map(self.style.spelled, gone)), self.name)
                + f" rewritten or removed {how}: the file has changed since last read."
            )
        kind = StaleLineIds if gone else UnknownLineId
        hint = self._available(near - NEARBY // 2)
        again = "Re-read, or use the current IDs. " if gone else ""
        return kind(f"{' '.join(told)} {NOTHING}", hint=f"{again}{hint}")

    def _last_seen(self, found: Sequence[int]) -> int:
        """A line near what is meant: another of the call, else the one that was shown last."""
        for shown in reversed(self.seen.shows[-1:]):
            found = [*found, self.index.position(shown[:WIDTH]) or 0]
        return found[0] if found else 0

    def _available(self, start: int) -> str:
        if not self.lines.count:
            return "The file is empty. Use `write`."
        start = max(0, min(start, self.lines.count - NEARBY))
        stop = start + self._fitting(self.lines.between(start, start + NEARBY))
        shown = self.tagged(start, stop)
        total = sum(map(len, self.index.runs))
        return (
            f"Available IDs ({total} in all), lines {start + 1} to {stop} of {self.lines.count}:\n"
            f"{shown}"
        )


def _listed(names: Iterable[str]) -> str:
    """At most ten names."""
    every = [*names]
    return ", ".join(every[:10]) + f" and {len(every) - 10} more" * (len(every) > 10)
