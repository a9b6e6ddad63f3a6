"""IDs carried over when a file changed: unchanged lines keep theirs, nothing is guessed."""

from collections.abc import Callable, Sequence

from fsagent_tools.lines.align import align
from fsagent_tools.lines.index import SUM, LineIndex, Run, check
from fsagent_tools.lines.source import Lines

OUTSIDE = "outside this session"


def carry(index: LineIndex, old: Sequence[bytes], new: Sequence[bytes]) -> LineIndex:
    """The index of `old`, both given as lines, as it is for `new`."""
    return _moved(index, _inverse(align(old, new), len(old)).__getitem__, len(new))


def carry_by_hash(index: LineIndex, new: Sequence[bytes]) -> LineIndex:
    """The same when only the checksums of the shown lines are left.

    A line is then believed only together with a neighbour, unless the whole file had been shown:
    alone it might be another copy of a line that nobody saw.
    """
    whole = sum(map(len, index.runs)) == index.count
    known, places = _known(index)
    sums = check(new)
    found = [sums[k : k + SUM] for k in range(0, len(sums), SUM)]
    inverse = _inverse(align(known, found, moves=whole), len(known))
    spread = {
        place: inverse[n]
        for n, place in enumerate(places)
        if place >= 0 and (whole or _has_company(inverse, n))
    }
    return _moved(index, lambda line: spread.get(line, -1), len(new))


def in_place(index: LineIndex, lines: Lines) -> bool:
    """Whether every line with an ID still stands where it stood."""
    return index.count == lines.count and all(_kept(run, lines) == run for run in index.runs)


def carry_in_place(index: LineIndex, lines: Lines) -> LineIndex:
    """For a file too large to compare: runs that stand where they stood, as in a growing log."""
    moved = _heir(index, lines.count)
    for run in index.runs:
        if _kept(run, lines) == run:
            moved.runs.append(run)
        else:
            moved.retire(run.ids, run.start, OUTSIDE)
    return moved


def _kept(run: Run, lines: Lines) -> Run:
    return Run(run.start, run.ids, check(lines.between(run.start, run.stop)))


def _moved(index: LineIndex, where: Callable[[int], int], count: int) -> LineIndex:
    """`where(i)` is where old line i is now, or -1. Runs split where lines came or went."""
    moved = _heir(index, count)
    near = 0
    for run in index.runs:
        start = run.start
        while start < run.stop:
            stop = start + 1
            while stop < run.stop and _continues(where, stop):
                stop += 1
            part = run.part(start, stop, where(start) - start)
            if where(start) >= 0:
                moved.runs.append(part)
                near = part.stop
            else:
                moved.retire(part.ids, near, OUTSIDE)
            start = stop
    moved.runs.sort(key=lambda run: run.start)
    return moved


def _heir(index: LineIndex, count: int) -> LineIndex:
    """An index without lines that gives out none of the IDs that `index` gave out."""
    heir = LineIndex(count, [], index.retired, index.gone, changed=True)
    heir.used = index.used
    return heir


def _continues(where: Callable[[int], int], line: int) -> bool:
    above = where(line - 1)
    return where(line) == (above + 1 if above >= 0 else -1)


def _known(index: LineIndex) -> tuple[list[object], list[int]]:
    """Line checksums in file order, a token unlike any line for each gap; and where each is."""
    known: list[object] = []
    places: list[int] = []
    at = 0
    for run in index.runs:
        if run.start > at:
            known.append(object())
            places.append(-1)
        known += [run.sums[k : k + SUM] for k in range(0, len(run.sums), SUM)]
        places += range(run.start, run.stop)
        at = run.stop
    if at < index.count:
        known.append(object())
        places.append(-1)
    return known, places


def _inverse(matched: Sequence[int], count: int) -> list[int]:
    inverse = [-1] * count
    for j, i in enumerate(matched):
        if i >= 0:
            inverse[i] = j
    return inverse


def _has_company(inverse: Sequence[int], i: int) -> bool:
    j = inverse[i]
    before = i > 0 and j > 0 and inverse[i - 1] == j - 1
    after = i + 1 < len(inverse) and inverse[i + 1] == j + 1
    return j >= 0 and (before or after)
