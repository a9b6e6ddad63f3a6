"""One file's lines with their IDs, and what a session was shown of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate, pairwise
from string import punctuation
from typing import NamedTuple

from fsagent_tools.encoding import with_escapes
from fsagent_tools.errors import NotReadYet, StaleLineIds
from fsagent_tools.lines.hunks import Hunk, grouped
from fsagent_tools.lines.ids import STYLES, WIDTH, Style, split_ids
from fsagent_tools.lines.index import LineIndex, aligned
from fsagent_tools.lines.source import Lines, Window, text_of
from fsagent_tools.text import MAX_LINE_CHARS, in_quotes, unclipped

NEARBY = 8  # live lines shown in a refusal
ROOM = 4000  # characters they may take
AROUND = 2  # unchanged lines shown beside a change
MOST_SHOWS = 500  # displays remembered; what is forgotten has to be read again
NOTHING = "Nothing was written."


class Shown(NamedTuple):
    """A line that was shown: its 0-based number, its ID as a model sees it, and its text."""

    line: int
    line_id: str
    text: bytes


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


class Joint(NamedTuple):
    """Lines that an edit made, and whether those above and below were seen beside what was there.

    Without lines of its own it stands for those that were taken out.
    """

    start: int
    stop: int
    above: bool
    below: bool


@dataclass
class Document:
    """A text whose lines keep their IDs while other lines change. Line numbers are 0-based."""

    name: str
    lines: Lines
    index: LineIndex
    seen: Seen = field(default_factory=Seen)
    style: Style = STYLES["tag"]
    note: Callable[[], str] = str  # what a reader has to know of how its bytes were read

    def show(self, window: Window) -> str:
        """IDs, in one string, for lines that the model is about to see."""
        ids = self.index.show(window, self.name)
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

    def require_ids(self) -> None:
        """Raise `NotReadYet` for a text of which no line was shown."""
        if not self.index.empty:
            return
        if not self.lines.count:
            raise NotReadYet(f"{self.name} is empty. {NOTHING}", hint="Fill it with `write`.")
        raise NotReadYet(
            f"{self.name} has no line IDs yet. Read the file first to generate line IDs."
        )

    def misquoted(self, quoted: str, line: int) -> str:
        """What is wrong with words that are not how the live text begins, white space aside."""
        quote = unclipped(quoted).split()
        words = self.words(line)
        if len(quote) < min(2, len(words)) and self.style.quoted:
            wanted = "word" if len(words) == 1 else "two words"
            return f"needs the first {wanted} of its line behind it"
        there, sent = "".join(self.words(line, len(quote) + NEARBY)), "".join(quote)
        bare = sent.lstrip(punctuation)  # who quotes words leaves out what stands before the first
        bare *= bool("".join(words).lstrip(punctuation))  # else they are those of the line below
        if there.startswith(sent) or (bare and there.lstrip(punctuation).startswith(bare)):
            return ""
        return f"does not stand before {in_quotes(' '.join(quote)[:60])}"

    def quotation(self, line: int, most: int) -> str:
        """The first `most` words of the text from `line` on, blank lines aside."""
        return " ".join(self.words(line, most + NEARBY)[:most])

    def words(self, line: int, count: int = 1) -> list[str]:
        """The words of lines as a model sees them, whatever white space parts them."""
        return with_escapes(" ".join(text_of(self.lines.between(line, line + count)))).split()

    def spelled(self, line: int) -> str:
        """The ID of a line that has one, as a model names it."""
        return self.style.spelled(self.index.ids(line, line + 1)[0] or "")

    def named(self, line: int) -> str:
        """The same, and the words of the line that have to follow."""
        return " ".join([self.spelled(line), *self.words(line)[:2]])

    def joints(self, hunks: Sequence[Hunk]) -> list[Joint]:
        """What a session that makes these changes has seen of the lines beside them."""
        joints: list[Joint] = []
        shift = 0
        for group in grouped(hunks, 0):
            start, stop, new = group[0].start, group[-1].stop, sum(len(one.new) for one in group)
            ids = self.index.ids(start - 1, stop + 1)
            edge = start == stop and stop in (0, self.lines.count)  # nothing on its other side
            above, below = (edge or self._joined(pair) for pair in (ids[:2], ids[-2:]))
            joints.append(Joint(start + shift, start + shift + new, above, below))
            shift += new - (stop - start)
        return joints

    def join(self, joints: Sequence[Joint]) -> None:
        """New lines count as seen, and as seen beside the lines where the replaced ones were."""
        for start, stop, above, below in joints if self.index.runs else ():
            own = self.index.show(self.lines.window(start, stop), self.name)
            upper, lower = (self.index.ids(n, n + 1)[0] or "" for n in (start - 1, stop))
            if own or (above and below):
                self.seen.add(upper * above + own + lower * below)

    def _joined(self, pair: Sequence[str | None]) -> bool:
        upper, lower = pair
        return upper is not None and lower is not None and self.seen.below(upper) == lower

    def check_range(self, start: int, stop: int) -> None:
        """Raise `StaleLineIds` unless lines `start` to `stop` are the ones the session saw.

        Blank lines that it did not see are nobody's loss.
        """
        ids = self.index.ids(start, stop)
        if not self.index.respaced.isdisjoint(ids):
            raise StaleLineIds(
                f"The white space of lines in {self.name} has changed since last read. {NOTHING}",
                hint=f"Retry with these lines:\n{self.region(start, stop)}",
            )
        lines = self.lines.between(start, stop)
        blank = {n for n, x in enumerate(ids) if x is None and not lines[n].strip()}
        for n, pair in enumerate(pairwise(ids), start + 1):
            if not self._joined(pair) and blank.isdisjoint((n - start - 1, n - start)):
                what = f"Lines {n} and {n + 1} of {self.name} were not side by side when last read."
                if None in pair:
                    what = f"The range in {self.name} has lines you have not seen, at line {n + 1}."
                hint = f"Retry with these lines:\n{self.region(start, stop)}"
                raise StaleLineIds(f"{what} {NOTHING}", hint=hint)

    def described(self) -> Iterator[tuple[int, str, str]]:
        """(1-based number, ID, sha256 of the text) of every line that has an ID."""
        for line, line_id, text in self.identified():
            yield line + 1, line_id, sha256(text).hexdigest()

    def identified(self) -> Iterator[Shown]:
        """Every line that has an ID."""
        for run in self.index.runs:
            lines = self.lines.between(run.start, run.stop)
            ids = map(self.style.spelled, run.list())
            for line, (line_id, text) in enumerate(zip(ids, lines, strict=True), run.start):
                if line_id:
                    yield Shown(line, line_id, text)

    def region(self, start: int, stop: int) -> str:
        """Lines `start` to `stop` as `tagged` shows them; of many only those at both ends."""
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

    def near(self, lines: Sequence[int]) -> str:
        """What is shown for lines that may be meant: they, and those around them, with IDs."""
        if not self.lines.count:
            return "The file is empty. Use `write`."
        wanted = sorted({*lines})
        size = NEARBY if len(wanted) == 1 else 2 * AROUND + 1
        windows: list[tuple[int, int]] = []
        for line in wanted:
            start = max(0, min(line - size // 2, self.lines.count - size))
            stop = start + self._fitting(self.lines.between(start, start + size))
            start, stop = (start, stop) if line < stop else (line, line + 1)
            start = windows.pop()[0] if windows and start <= windows[-1][1] else start
            windows.append((start, stop))
        where = " and ".join(f"{start + 1} to {stop}" for start, stop in windows)
        shown = "\n...\n".join(self.tagged(*window) for window in windows)
        total = sum(map(len, self.index.runs))  # with those just shown
        return f"Available IDs ({total} in all), lines {where} of {self.lines.count}:\n{shown}"
