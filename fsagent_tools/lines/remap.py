"""IDs carried over when a file changed: unchanged lines keep theirs, nothing is guessed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from fsagent_tools.lines.index import SUM, LineIndex, Run, bare_sum, checksums
from fsagent_tools.lines.matching import MatchingBlock, as_runs, same_lines
from fsagent_tools.lines.source import Lines

OUTSIDE = "outside this session"
_L = TypeVar("_L", bytes, str)  # a line, or its checksum


def carry(index: LineIndex, old: Sequence[bytes], new: Sequence[bytes]) -> LineIndex:
    """The index of `old`, both given as lines, as it is for `new`."""
    same = same_lines(old, new)
    spaced = [*_respaced(same, old, new, _bare)]
    return _moved(index, as_runs([*same, *spaced]), new, spaced)


def carry_by_hash(index: LineIndex, new: Sequence[bytes]) -> LineIndex:
    """The same when only the checksums of the shown lines are left.

    A line is then believed only together with a neighbour, unless the whole file had been shown:
    alone it might be another copy of a line that nobody saw.
    """
    whole = sum(map(len, index.runs)) == index.count
    known, numbers = _known(index)
    sums = checksums(new)
    found = [sums[k : k + SUM] for k in range(0, len(sums), SUM)]
    same = same_lines(known, found, moves=whole, texts=new)
    spaced = [*_respaced(same, known, found, bare_sum)]
    blocks = as_runs([*same, *spaced])
    believed = [(numbers[i], j, size) for i, j, size in blocks if whole or size > 1]
    return _moved(index, believed, new, spaced)


def _bare(line: bytes) -> bytes:
    return b"".join(line.split())


def _respaced(
    blocks: Iterable[MatchingBlock], old: Sequence[_L], new: Sequence[_L], bare: Callable[[_L], _L]
) -> Iterator[MatchingBlock]:
    """Lines that differ in white space only, between lines that stayed."""
    ordered = [*enumerate(sorted(blocks))]
    before = _without_white_space(old, [(i, i + size, n) for n, (i, _, size) in ordered], bare)
    by_new = sorted((j, j + size, n) for n, (_, j, size) in ordered)
    after = _without_white_space(new, by_new, bare)
    if len(before) == len(ordered) or len(after) == len(ordered):
        return
    texts = [text for _, text in before], [text for _, text in after]
    for i, j, size in same_lines(*texts, moves=False):
        pairs = zip(before[i : i + size], after[j : j + size], strict=True)
        for (x, text), (y, _) in pairs:
            if text and not isinstance(text, int) and old[x] != new[y]:
                yield x, y, 1


def _without_white_space(
    lines: Sequence[_L], kept: Sequence[tuple[int, int, int]], bare: Callable[[_L], _L]
) -> list[tuple[int, _L | int]]:
    """Each line that is not `kept` as (place, text), and each kept part as its number."""
    found: list[tuple[int, _L | int]] = []
    at = 0
    for start, stop, number in [*kept, (len(lines), len(lines), -1)]:
        found += [(n, bare(lines[n])) for n in range(at, start)]
        found += [(start, number)] * (number >= 0)
        at = max(at, stop)
    return found


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
    return Run(run.start, run.ids, checksums(lines.between(run.start, run.stop)))


def _moved(
    index: LineIndex,
    blocks: Iterable[MatchingBlock],
    new: Sequence[bytes],
    spaced: Iterable[MatchingBlock],
) -> LineIndex:
    """What each block (in old order) took along; the rest is given up.

    spaced: those of lines with other white space now.
    """
    moved = _heir(index, len(new))
    at = near = 0
    for i, j, size in [*blocks, (index.count, len(new), 0)]:
        for lost in index.parts(at, i):
            moved.retire(lost.ids, near, OUTSIDE)
        for part in index.parts(i, i + size, j - i):
            moved.runs.append(part)
            near = part.stop
        at = i + size
    moved.runs.sort(key=lambda run: run.start)
    respaced = {j for _, j, _ in spaced}
    for n, run in enumerate(moved.runs if respaced else ()):
        if there := respaced.intersection(range(run.start, run.stop)):
            moved.respaced.update(run.part(j, j + 1).ids for j in there)
            moved.runs[n] = Run(run.start, run.ids, checksums(new[run.start : run.stop]))
    return moved


def _heir(index: LineIndex, count: int) -> LineIndex:
    """An index without lines that gives out none of the IDs that `index` gave out."""
    heir = LineIndex(count, [], index.retired, index.gone, changed=True, style=index.style)
    heir.used, heir.respaced = index.used, {*index.respaced}
    return heir


def _known(index: LineIndex) -> tuple[list[str], list[int]]:
    """Checksums of the shown lines in file order, with a token unlike any line for each gap.

    And the number of each line.
    """
    known: list[str] = []
    numbers: list[int] = []
    for run in [*index.runs, Run(index.count, "", "")]:
        if run.start > (numbers[-1] + 1 if numbers else 0):
            known.append(f"gap {run.start}")
            numbers.append(run.start - 1)
        known += [run.sums[k : k + SUM] for k in range(0, len(run.sums), SUM)]
        numbers += range(run.start, run.stop)
    return known, numbers
