"""Byte patches told as changes of lines."""

from collections.abc import Iterator, Sequence

from fsagent_tools.lines.source import Lines, split
from fsagent_tools.lines.splice import Hunk, Patch, refine


def hunks_of(lines: Lines, patches: Sequence[Patch]) -> Iterator[Hunk]:
    """The lines that byte `patches` (ascending, disjoint) change; those that stay are not in it."""
    for (first, stop), group in _by_lines(lines, _joined(patches)):
        pieces = []
        at = lines.offset(first)
        for start, end, new in group:
            pieces += [lines.fetch(at, start), new]
            at = end
        text = b"".join([*pieces, lines.fetch(at, lines.offset(stop))])
        hunk = Hunk(first, stop, tuple(split(text, lines.newline)) if text else ())
        old = lines.between(first, stop)
        yield from refine(hunk, old) if old and hunk.new else (hunk,)


def _joined(patches: Sequence[Patch]) -> list[Patch]:
    """Patches that touch made one: only together do they tell where a line ends."""
    joined: list[Patch] = []
    for start, stop, new in patches:
        if joined and joined[-1][1] == start:
            low, _, before = joined.pop()
            joined.append((low, stop, before + new))
        else:
            joined.append((start, stop, new))
    return joined


def _by_lines(
    lines: Lines, patches: Sequence[Patch]
) -> Iterator[tuple[tuple[int, int], list[Patch]]]:
    """Patches that share a line together, with the lines they touch."""
    group: list[Patch] = []
    first = stop = 0
    for one in patches:
        low, high = _touched(lines, one)
        if group and low >= stop and low < lines.count:  # behind the last line there is but one
            yield (first, stop), group
            group = []
        if not group:
            first, stop = low, high
        group.append(one)
        stop = max(stop, high)
    if group:
        yield (first, stop), group


def _touched(lines: Lines, one: Patch) -> tuple[int, int]:
    """The lines that a patch changes, the one it ends in only if it does not end right before."""
    start, end, new = one
    first, stop = lines.line_at(start), lines.line_at(end)
    if first == lines.count > 0 and not lines.ends_with_newline:
        first -= 1  # behind the last line is still in it
    whole = new.endswith(lines.newline) or (not new and lines.offset(first) == start)
    if stop < lines.count and not (whole and lines.offset(stop) == end):
        stop += 1
    return first, stop
