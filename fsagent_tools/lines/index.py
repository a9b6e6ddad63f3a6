"""Which IDs the lines of one file carry: runs of lines that were shown together."""

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from fsagent_tools.lines.ids import WIDTH, mint

VERSION = 1
HASH = 8  # bytes of sha256 kept per line


@dataclass(frozen=True)
class Run:
    """Consecutive lines, from 0-based `start`, that a model was shown as neighbours.

    `ids` is their IDs in one string, `hashes` their content hashes (`HASH` bytes each). Two runs
    may touch: then something between them went away, unseen, after they were shown.
    """

    start: int
    ids: str
    hashes: bytes

    def __len__(self) -> int:
        return len(self.ids) // WIDTH

    @property
    def stop(self) -> int:
        return self.start + len(self)

    def part(self, start: int, stop: int, shift: int = 0) -> "Run":
        """The lines from file line `start` to `stop`, moved down by `shift` lines."""
        low, high = max(0, start - self.start), max(0, stop - self.start)
        ids = self.ids[low * WIDTH : high * WIDTH]
        return Run(self.start + low + shift, ids, self.hashes[low * HASH : high * HASH])

    def list(self) -> "list[str]":
        return _cut(self.ids)


@dataclass
class LineIndex:
    """IDs of the shown lines of one file with `count` lines.

    An ID names one line for as long as the index lives: `retired` are those of deleted and
    rewritten lines, in one string; they are never given out again.
    """

    count: int
    runs: list[Run] = field(default_factory=list)
    retired: str = ""
    used: set[str] = field(default_factory=set)  # live and retired
    gone: dict[str, tuple[int, str]] = field(default_factory=dict)  # retired here: line, how
    changed: bool = False  # since it was saved

    def __post_init__(self) -> None:
        if not self.used:
            self.used = {*self.live(), *_cut(self.retired)}

    def position(self, line_id: str) -> int | None:
        """The 0-based line that carries `line_id`, or None."""
        for run in self.runs:
            at = run.ids.find(line_id)
            while at >= 0:
                if at % WIDTH == 0:
                    return run.start + at // WIDTH
                at = run.ids.find(line_id, at + 1)
        return None

    def live(self) -> Iterator[str]:
        for run in self.runs:
            yield from run.list()

    def ids(self, start: int, stop: int) -> list[str | None]:
        """The IDs of lines `start` to `stop`; None for a line that was never shown."""
        ids: list[str | None] = [None] * max(0, stop - start)
        for run in self._touching(start, stop):
            part = run.part(start, stop)
            ids[part.start - start : part.stop - start] = part.list()
        return ids

    def show(self, start: int, lines: Sequence[bytes]) -> list[str]:
        """Give IDs to consecutive `lines` from 0-based `start` and remember them as neighbours."""
        if not lines:
            return []
        stop = start + len(lines)
        known = self.ids(start, stop)
        if None in known:
            self.changed = True
            hashes = b"".join([hash_line(line) for line in lines])
        else:
            hashes = b"".join(r.part(start, stop).hashes for r in self._touching(start, stop))
        ids = self._mint_missing(start, lines, known)
        low, high = start - (known[0] is None), stop + (known[-1] is None)
        near = [run for run in self.runs if run.stop > low and run.start < high]
        head = near[0].part(near[0].start, start) if near else Run(start, "", b"")
        tail = near[-1].part(stop, near[-1].stop) if near else head
        shown = Run(
            head.start if head.ids else start,
            head.ids + "".join(ids) + tail.ids,
            head.hashes + hashes + tail.hashes,
        )
        self.changed = self.changed or len(near) > 1
        before = [run for run in self.runs if run.stop <= low]
        self.runs = [*before, shown, *(run for run in self.runs if run.start >= high)]
        return ids

    def run_at(self, line: int) -> Run:
        """The run that holds `line`, which must have been shown."""
        return next(iter(self._touching(line, line + 1)))

    def splice(self, start: int, stop: int, new: int) -> None:
        """Lines `start` to `stop` became `new` lines without IDs; the rest keeps its own."""
        shift = new - (stop - start)
        self.changed = True
        runs = []
        for run in self.runs:
            if run.stop <= start:
                runs.append(run)
            elif run.start >= stop:
                runs.append(Run(run.start + shift, run.ids, run.hashes))
            else:
                pieces = (run.part(run.start, start), run.part(stop, run.stop, shift))
                runs += [piece for piece in pieces if len(piece)]
                self.retire(run.part(start, stop).ids, start, "by an edit")
        self.runs = runs
        self.count += shift

    def retire(self, ids: str, line: int, how: str) -> None:
        """Give up the IDs in the string `ids`, which stood near `line`, for good."""
        self.retired += ids
        self.gone.update(dict.fromkeys(_cut(ids), (line, how)))

    def _mint_missing(
        self, start: int, lines: Sequence[bytes], known: Sequence[str | None]
    ) -> list[str]:
        if None not in known:
            return [line_id for line_id in known if line_id]
        if not any(known):
            return mint(start + 1, lines, self.used)
        ids = []
        for n, (line, line_id) in enumerate(zip(lines, known, strict=True), start + 1):
            ids.append(line_id or mint(n, [line], self.used)[0])
        return ids

    def _touching(self, start: int, stop: int) -> Iterable[Run]:
        first = max(0, bisect_right(self.runs, start, key=_by_start) - 1)
        for run in self.runs[first:]:
            if run.start >= stop:
                break
            if run.stop > start:
                yield run

    def adopt(self, other: "LineIndex") -> None:
        """Take over what another index of the same text knows: IDs of lines that have none here."""
        for run in other.runs:
            ids = self.ids(run.start, run.stop)
            for n, (own, theirs) in enumerate(zip(ids, run.list(), strict=True)):
                if own is None and theirs not in self.used:
                    self._insert(run.part(run.start + n, run.start + n + 1))
        self.retired += "".join(other.used - self.used)
        self.used |= other.used
        self.gone.update(other.gone)

    def _insert(self, run: Run) -> None:
        self.changed = True
        self.used.update(run.list())
        insort(self.runs, run, key=_by_start)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "line_count": self.count,
            "runs": [[run.start, run.ids, run.hashes.hex()] for run in self.runs],
            "retired": self.retired,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "LineIndex":
        """Raises `ValueError`, `KeyError`, `TypeError`, `OverflowError` for a corrupt form."""
        if data["version"] != VERSION:
            raise ValueError("another format version")
        runs = [Run(int(s), str(ids), bytes.fromhex(h)) for s, ids, h in data["runs"]]
        index = cls(int(data["line_count"]), runs, str(data["retired"]))
        stops = [0, *(run.stop for run in runs)]
        if (
            any(run.start < stop for run, stop in zip(runs, stops, strict=False))
            or stops[-1] > index.count
            or any(len(run) * HASH != len(run.hashes) or len(run.ids) % WIDTH for run in runs)
            or len(index.used) * WIDTH != sum(len(run.ids) for run in runs) + len(index.retired)
        ):
            raise ValueError("runs that contradict each other")
        return index


def _cut(ids: str) -> list[str]:
    return [ids[k : k + WIDTH] for k in range(0, len(ids), WIDTH)]


def hash_line(line: bytes) -> bytes:
    return sha256(line).digest()[:HASH]


def _by_start(run: Run) -> int:
    return run.start
