"""One file's lines with their IDs, and what a session was shown of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from fsagent_tools.errors import NotReadYet, StaleLineIds, UnknownLineId
from fsagent_tools.lines.digest import sha256
from fsagent_tools.lines.ids import STYLES, WIDTH, Style, parse_id
from fsagent_tools.lines.index import LineIndex, aligned
from fsagent_tools.lines.source import Lines, Window
from fsagent_tools.text import MAX_LINE_CHARS

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
    confirmable: int = 0  # hash of a refused call that may be sent again as it is

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
        """The lines that carry the IDs as the model typed them.

        Raises `NotReadYet`, `UnknownLineId` or `StaleLineIds`; the text shows live lines.
        """
        if self.index.empty:
            raise NotReadYet(
                f"{self.name} has no line IDs yet. Read the file first to generate line IDs."
            )
        ids = [parse_id(text) for text in typed]
        found = [self.index.position(line_id) if line_id else None for line_id in ids]
        for text, line_id, line in zip(typed, ids, found, strict=True):
            if line is None:
                raise self._missing(text, line_id)
        return [line for line in found if line is not None]

    def check_range(self, start: int, stop: int) -> None:
        """Raise `StaleLineIds` unless lines `start` to `stop` are the ones the session saw."""
        ids = self.index.ids(start, stop)
        for n, (upper, lower) in enumerate(pairwise(ids), start + 1):
            if upper is None or lower is None or self.seen.below(upper) != lower:
                raise StaleLineIds(
                    f"The range in {self.name} holds lines you have not seen together (at line "
                    f"{n + 1}): the file has changed since last read. {NOTHING}",
                    hint=f"Re-read, or retry with these lines:\n{self._region(start, stop)}",
                )

    def described(self) -> Iterator[tuple[int, str, str]]:
        """(1-based number, ID, sha256 of the text) of every line that has an ID."""
        for run in self.index.runs:
            lines = self.lines.between(run.start, run.stop)
            for number, (line_id, line) in enumerate(zip(run.list(), lines, strict=True), 1):
                yield run.start + number, line_id, sha256(line).hexdigest()

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

    def _missing(self, typed: str, line_id: str | None) -> UnknownLineId | StaleLineIds:
        shown = typed.strip()[:40]
        if line_id is None:
            return UnknownLineId(
                f"{shown!r} is no line ID: IDs are 6 hex digits such as a3f2c1. {NOTHING}",
                hint=self._available(0),
            )
        if line_id in self.index.used:
            line, how = self.index.gone.get(line_id, (0, "since it was read"))
            return StaleLineIds(
                f"Line {line_id} of {self.name} was rewritten or removed {how}: the file has "
                f"changed since last read. {NOTHING}",
                hint=f"Re-read, or use the current IDs. {self._available(line - NEARBY // 2)}",
            )
        return UnknownLineId(
            f"{self.name} has no line {line_id}. {NOTHING}", hint=self._available(0)
        )

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
