"""Which IDs the lines of one file carry: runs of lines that were shown together."""

from array import array
from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any
from zlib import adler32, crc32

from fsagent_tools.lines.hunks import Hunk
from fsagent_tools.lines.ids import STYLES, WIDTH, IdSet, Style, split_ids
from fsagent_tools.lines.source import Window, bare_lines

VERSION = 3
SUM = 16  # hex digits of a line's checksum; the first half is that of its text without white space


@dataclass(frozen=True)
class Run:
    """Consecutive lines, from 0-based `start`, that a model was shown as neighbours.

    `ids` is their IDs in one string, `sums` their checksums, `SUM` digits each. Two runs may
    touch: then something between them went away, unseen, after they were shown.
    """

    start: int
    ids: str
    sums: str

    def __len__(self) -> int:
        return len(self.ids) // WIDTH

    @property
    def stop(self) -> int:
        return self.start + len(self)

    def part(self, start: int, stop: int, shift: int = 0) -> "Run":
        """The lines from file line `start` to `stop`, moved down by `shift` lines."""
        low, high = max(0, start - self.start), max(0, stop - self.start)
        ids = self.ids[low * WIDTH : high * WIDTH]
        return Run(self.start + low + shift, ids, self.sums[low * SUM : high * SUM])

    def list(self) -> "list[str]":
        return split_ids(self.ids)


@dataclass
class LineIndex:
    """IDs of the shown lines of one file with `count` lines.

    An ID names one line for as long as the index lives: `retired` are those of deleted and
    rewritten lines, in one string; they are never given out again.
    """

    count: int
    runs: list[Run] = field(default_factory=list)
    retired: str = ""
    gone: dict[str, tuple[int, str]] = field(default_factory=dict)  # retired here: line, how
    changed: bool = False  # since it was saved
    style: Style = STYLES["tag"]
    respaced: set[str] = field(default_factory=set)  # their white space changed, unseen

    @cached_property
    def used(self) -> IdSet:
        """Live and retired IDs: none of them is minted again."""
        return IdSet(self.live + self.retired)

    @property
    def empty(self) -> bool:
        """Whether no line ever had an ID."""
        return not self.runs and not self.retired

    def position(self, line_id: str | None) -> int | None:
        """The 0-based line that carries `line_id`; None if no line does, or more than one.

        The stored index may come with a project: an ID that stands twice in it is not believed.
        """
        found = None
        for run in self.runs:
            if line_id and (at := aligned(run.ids, line_id)) >= 0:
                if found is not None or aligned(run.ids, line_id, at + WIDTH) >= 0:
                    return None
                found = run.start + at // WIDTH
        return found

    @property
    def live(self) -> str:
        return "".join([run.ids for run in self.runs])

    def ids(self, start: int, stop: int) -> list[str | None]:
        """The IDs of lines `start` to `stop`; None for a line that was never shown."""
        ids: list[str | None] = [None] * max(0, stop - start)
        for part in self.parts(start, stop):
            ids[part.start - start : part.stop - start] = part.list()
        return ids

    def parts(self, start: int, stop: int, shift: int = 0) -> list[Run]:
        """What has IDs of lines `start` to `stop`, moved down by `shift` lines."""
        found: list[Run] = []
        n = max(0, bisect_right(self.runs, start, key=_by_start) - 1)
        while n < len(self.runs) and (run := self.runs[n]).start < stop:
            found += filter(len, [run.part(start, stop, shift)])
            n += 1
        return found

    def show(self, window: Window, name: str = "") -> str:
        """Give IDs to the lines of `window`, of the file `name`, and remember them as neighbours.

        Returns the IDs in one string.
        """
        if not window.count:
            return ""
        start, stop = window.start, window.stop
        known = self.parts(start, stop)
        if len(known) == 1 and len(known[0]) == window.count:
            return known[0].ids
        parts, at = [], start
        for part in [*known, Run(stop, "", "")]:
            if part.start > at:
                parts.append(self._minted(window.part(at, part.start), at, name))
            parts.append(part)
            at = part.stop
        shown = _joined(parts)
        low = start if known and known[0].start == start else start - 1
        high = stop if known and known[-1].stop == stop else stop + 1
        near = [run for run in self.runs if run.stop > low and run.start < high]
        head = [run.part(run.start, start) for run in near[:1]]
        tail = [run.part(stop, run.stop) for run in near[-1:]]
        self.changed = self.changed or len(near) > 1
        before = [run for run in self.runs if run.stop <= low]
        after = [run for run in self.runs if run.start >= high]
        self.runs = [*before, _joined([*head, shown, *tail]), *after]
        return shown.ids

    def run_at(self, line: int) -> Run:
        """The run that holds `line`, which must have been shown."""
        return self.runs[bisect_right(self.runs, line, key=_by_start) - 1]

    def follow(self, hunks: Sequence[Hunk]) -> None:
        """The text was changed by hunks (ascending, disjoint); moved lines keep their IDs."""
        runs, moved = list[Run](), ""
        at = shift = 0
        for hunk in [*hunks, Hunk(self.count, self.count, ())]:
            runs += self.parts(at, hunk.start, shift)
            if (first := hunk.origin) is not None:
                parts = self.parts(first, first + len(hunk.new), hunk.start + shift - first)
                runs += parts
                moved += _joined(parts).ids
            at, shift = hunk.stop, shift + hunk.growth
        kept = IdSet(moved)
        for hunk in hunks:
            gone = _joined(self.parts(hunk.start, hunk.stop)).ids
            self.retire(kept.without(gone), hunk.start, "by an edit")
        self.runs, self.count = runs, self.count + shift
        self.changed = self.changed or bool(hunks)

    def retire(self, ids: str, line: int, how: str) -> None:
        """Give up the IDs in the string `ids`, which stood near `line`, for good."""
        if not ids:
            return
        self.retired += ids
        self.gone.update(dict.fromkeys(split_ids(ids), (line, how)))

    def _minted(self, new: Window, start: int, name: str) -> Run:
        """The lines from `start` on with fresh IDs."""
        self.changed = True
        return Run(start, self.style.mint(new, self.used, name), checksums(new.lines, new.bare))

    def adopt(self, other: "LineIndex") -> None:
        """Take over what another index of the same text knows: IDs of lines that have none here."""
        if other.empty:
            return
        for run in other.runs:
            at, own = run.start, self.ids(run.start, run.stop)
            new = {*split_ids(self.used.without(run.ids))}
            pairs = zip(own, run.list(), strict=True)
            for free, group in groupby(mine is None and theirs in new for mine, theirs in pairs):
                part = run.part(at, at + len([*group]))
                if free:
                    self.changed = True
                    self.used.add(part.ids)
                    insort(self.runs, part, key=_by_start)
                at = part.stop
        self.outlive(other)
        self.respaced |= other.respaced

    def outlive(self, other: "LineIndex") -> None:
        """Retire the IDs of another index of the same file that this one does not have."""
        gone = self.used.without(other.live + other.retired)
        self.changed = self.changed or bool(gone)
        self.retired += gone
        self.used.add(gone)
        self.gone.update(other.gone)

    def _check(self) -> int:
        """Tells a damaged index from a whole one."""
        return crc32((self.live + self.retired).encode())

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "words": self.style.quoted,
            "line_count": self.count,
            "runs": [[run.start, run.ids, run.sums] for run in self.runs],
            "retired": self.retired,
            "respaced": "".join(self.respaced),
            "check": self._check(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], style: Style = STYLES["tag"]) -> "LineIndex":
        """Raises `ValueError`, `KeyError`, `TypeError`, `OverflowError` for a corrupt form.

        Also for one whose IDs are not of this style: words and hex digits do not mix.
        """
        if data["version"] != VERSION or data.get("words", False) != style.quoted:
            raise ValueError("another format version or style")
        runs = [Run(int(start), str(ids), str(sums)) for start, ids, sums in data["runs"]]
        index = cls(int(data["line_count"]), runs, str(data["retired"]), style=style)
        index.respaced = {*split_ids(str(data.get("respaced", "")))}
        stops = [0, *(run.stop for run in runs)]
        if (
            any(run.start < stop for run, stop in zip(runs, stops, strict=False))
            or stops[-1] > index.count
            or any(len(run) * SUM != len(run.sums) or len(run.ids) % WIDTH for run in runs)
            or len(index.retired) % WIDTH
            or bytes.fromhex(every := index.live + index.retired).hex() != every
            or data["check"] != index._check()
        ):
            raise ValueError("runs that contradict each other")
        return index


def _joined(runs: Sequence[Run]) -> Run:
    """One run of lines that stand below each other; of none where no line has an ID."""
    start = next((run.start for run in runs if run.ids), 0)
    return Run(start, "".join([run.ids for run in runs]), "".join([run.sums for run in runs]))


def aligned(ids: str, wanted: str, start: int = 0) -> int:
    """Where `wanted`, one or more IDs, stands in the string `ids` from `start`; -1 if nowhere."""
    at = ids.find(wanted, start)
    while at % WIDTH and at >= 0:
        at = ids.find(wanted, at + 1)
    return at


def checksums(lines: Sequence[bytes], bare: Sequence[bytes] = ()) -> str:
    """Of each line without its white space CRC-32, of all of it Adler-32.

    They find a line again, they do not guard against forgery; a fifth of the time that any
    cryptographic hash of a short line takes. bare: the lines without it, where they are known.
    """
    sums = array("I", bytes(SUM // 2 * len(lines)))
    sums[::2] = array("I", map(crc32, bare or bare_lines(lines)))
    sums[1::2] = array("I", map(adler32, lines))
    return sums.tobytes().hex()


def bare_sum(checksum: str) -> str:
    """What stays of a line's checksum when only its white space changes; "" for a blank line."""
    half = checksum[: SUM // 2]
    return half if half.strip("0") else ""


def _by_start(run: Run) -> int:
    return run.start
