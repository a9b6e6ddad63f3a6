"""Which new line certainly is which old line: what could as well be another copy has no old line.

Lines in their order are certain where no other row of equal lines would do: a `}` beside an
inserted `}` may be the one or the other. A line that moved is unique in both whole versions, and
more than signs.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain

from fsagent_tools.lines.align import (
    MatchingBlock,
    letters_and_digits,
    matching_blocks,
    once,
)
from fsagent_tools.lines.rows import decided


def same_lines(
    old: Sequence[Hashable],
    new: Sequence[Hashable],
    *,
    moves: bool = True,
    texts: Sequence[Hashable] | None = None,
) -> list[MatchingBlock]:
    """Runs (old start, new start, length), in no order; `moves` also finds lines out of order.

    texts: the lines that `new` stands for, where it holds only sums of them.
    """
    texts = new if texts is None else texts
    blocks = decided(old, new, [*_certain(old, new, sorted(matching_blocks(old, new, texts)))])
    return blocks + (_moved(old, new, blocks, texts) if moves else [])


def _certain(
    old: Sequence[Hashable], new: Sequence[Hashable], blocks: Sequence[MatchingBlock]
) -> Iterator[MatchingBlock]:
    """What is left of the blocks, in order, without the lines that may be other copies."""
    turned = [(j, i, length) for i, j, length in blocks]
    unsure = sorted(_sliding(old, new, blocks, 1) | _sliding(old, new, blocks, -1))
    there = sorted(_sliding(new, old, turned, 1) | _sliding(new, old, turned, -1))
    for i, j, length in blocks:
        at = 0
        for k in sorted({*_within(unsure, i, length), *_within(there, j, length), length}):
            if k > at:
                yield i + at, j + at, k - at
            at = k + 1


def _within(places: Sequence[int], start: int, length: int) -> list[int]:
    """Those of the ordered places that lie in a run, counted from its start."""
    low, high = bisect_left(places, start), bisect_left(places, start + length)
    return [place - start for place in places[low:high]]


def _sliding(
    a: Sequence[Hashable], b: Sequence[Hashable], blocks: Sequence[MatchingBlock], step: int
) -> set[int]:
    """Lines of `a` that could be others of `b`: with step 1 earlier ones, with -1 later ones.

    The whole row is laid as early, or late, as it goes; who then stands elsewhere is not certain.
    """
    found: set[int] = set()
    at = 0 if step > 0 else len(b) - 1
    for i, j, length in blocks[::step]:
        for k in range(length)[::step]:
            if at == j + k:  # from here on the row is where it is
                at = j + length if step > 0 else j - 1
                break
            while b[at] != a[i + k]:
                at += step
            if at != j + k:
                found.add(i + k)
            at += step
    return found


def _moved(
    old: Sequence[Hashable],
    new: Sequence[Hashable],
    blocks: Sequence[MatchingBlock],
    texts: Sequence[Hashable],
) -> list[MatchingBlock]:
    """Lines left over that are unique in both versions."""
    left = _left(((i, length) for i, _, length in blocks), len(old))
    right = _left(((j, length) for _, j, length in blocks), len(new))
    if not left or not right:
        return []
    here, there = once([old[x] for x in left], 0), once([new[y] for y in right], 0)
    common = here.keys() & there.keys()
    counts = Counter(line for line in chain(old, new) if line in common) if common else {}
    moved = [(left[here[line]], right[there[line]]) for line, n in counts.items() if n == 2]
    return [(x, y, 1) for x, y in moved if letters_and_digits(texts[y])]


def _left(taken: Iterable[tuple[int, int]], count: int) -> list[int]:
    """The places that no run (start, length), in order, takes."""
    free: list[int] = []
    at = 0
    for start, length in (*taken, (count, 0)):
        free += range(at, start)
        at = start + length
    return free
