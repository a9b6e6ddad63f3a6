"""Hunks put into a text's bytes: every byte outside them stays as it was."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

from fsagent_tools.lines.matching import matching_blocks
from fsagent_tools.lines.source import Lines

Patch = tuple[int, int, bytes]  # bytes from, to, and what becomes of them


@dataclass(frozen=True)
class Hunk:
    """Old lines `start` to `stop` (0-based, exclusive) became `new`, lines without endings.

    origin: the first of the old lines that these are, where they were moved: another hunk takes
    them out there.
    """

    start: int
    stop: int
    new: tuple[bytes, ...]
    origin: int | None = None

    @property
    def growth(self) -> int:
        return len(self.new) - (self.stop - self.start)


@dataclass(frozen=True)
class Rewritten:
    """A text and its lines."""

    data: bytes
    lines: Lines


def rewrite(
    lines: Lines, data: bytes, hunks: Sequence[Hunk], ends: bool | None = None
) -> Rewritten:
    """`data`, whose lines are `lines`, with `hunks` (ascending, disjoint) applied.

    ends: whether a line ending ends the new text; None: as the hunks leave it.
    """
    at = lines.offset
    cut = any(h.start < h.stop == lines.count and not h.new for h in hunks)
    first = next((h for h in hunks if h.start == h.stop == lines.count and h.new), None)
    texts = [_text(lines, h, cut and h is first) for h in hunks]
    new = _patch(
        lines, data, [(at(h.start), at(h.stop), t) for h, t in zip(hunks, texts, strict=True)]
    )
    size, known = new.lines.size, new.lines.ends_with_newline
    if ends in (None, known) or not size:
        return new
    if ends:
        half = lines.newline == b"\n" and new.data.endswith(b"\r")  # of an ending that was cut
        ending = b"\n" if half else _ending_above(lines, lines.count)
        return _patch(new.lines, new.data, [(size, size, ending)])
    (ending,) = new.lines.endings(new.lines.count - 1, new.lines.count)
    return _patch(new.lines, new.data, [(size - len(ending), size, b"")])


def _patch(lines: Lines, data: bytes, patches: Sequence[Patch]) -> Rewritten:
    """`data`, whose lines are `lines`, with byte `patches` (ascending, disjoint) applied."""
    view, at = memoryview(data), 0
    pieces: list[bytes | memoryview] = []
    for start, stop, new in patches:
        pieces += [view[at:start], new]
        at = stop
    whole = b"".join([*pieces, view[at:]])
    first = patches[0][0] if patches else 0
    return Rewritten(whole, lines.spliced(whole, first, at))


def refine(hunk: Hunk, old: Sequence[bytes]) -> Iterator[Hunk]:
    """The parts of `hunk` that differ from the lines it replaces, so that equal lines stay."""
    if min(len(old), len(hunk.new)) == 0 or len(old) == len(hunk.new) == 1:  # nothing to align
        yield from [hunk] * ([*old] != [*hunk.new])
        return
    blocks = matching_blocks([*old], [*hunk.new])  # slices of one kind compare
    i = j = 0
    for x, y, same in [*blocks, (len(old), len(hunk.new), 0)]:
        if x > i or y > j:
            yield Hunk(hunk.start + i, hunk.start + x, hunk.new[j:y])
        i, j = x + same, y + same


def grouped(hunks: Sequence[Hunk], context: int) -> list[list[Hunk]]:
    """Hunks that are one place, as not more than twice that many lines are between them."""
    groups: list[list[Hunk]] = []
    for hunk in hunks:
        if groups and hunk.start - groups[-1][-1].stop <= 2 * context:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    return groups


def _text(lines: Lines, hunk: Hunk, cut: bool) -> bytes:
    """The hunk's new lines with the endings of the lines they replace or stand beside.

    cut: the last line, which may have none, goes, and these come first in its place.
    """
    if not hunk.new:
        return b""
    if hunk.start < hunk.stop:
        endings = lines.endings(hunk.start, hunk.stop)
    else:
        endings = lines.endings(hunk.start - 1, hunk.start) or lines.endings(0, 1)
    behind_all = hunk.start == hunk.stop == lines.count > 0 and not lines.ends_with_newline
    whole = [ending for ending in endings if ending.endswith(lines.newline)]  # none is cut in two
    usual = next(iter(whole), b"") or _ending_above(lines, hunk.start)
    missing = b"" if hunk.new[-1] else usual  # an empty line is there only with its newline
    if behind_all:
        half = lines.newline == b"\n" and lines.fetch(lines.size - 1, lines.size) == b"\r"
        front = b"" if cut else b"\n" if half else usual
        return front + usual.join(hunk.new) + missing
    last = whole[-1] if whole and len(whole) == len(endings) else usual
    pairs = zip(hunk.new, chain(whole, repeat(last)), strict=False)
    parts = [*chain.from_iterable(pairs)]
    if hunk.start < hunk.stop:
        parts[-1] = endings[-1] or missing
    return b"".join(parts)


def _ending_above(lines: Lines, line: int) -> bytes:
    return next(filter(None, lines.endings(max(0, line - 2), line)), lines.newline)
