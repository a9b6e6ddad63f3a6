"""Which matched lines every longest row of common lines pairs: the proof, where a text is small.

Bit n of a number is line n of the old text, so that one addition does a whole column of the table
of lengths (Hyyrö's form of the bit-parallel algorithm).
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence

from fsagent_tools.lines.align import MatchingBlock, as_runs, equal_ends

_WHOLE = 400  # lines of both texts up to which all of them are looked at
_MOST = 1 << 20  # old lines times new lines between common ends that are looked at


def decided(
    old: Sequence[Hashable], new: Sequence[Hashable], blocks: Sequence[MatchingBlock]
) -> list[MatchingBlock]:
    """The blocks, in order, without lines that another longest common row pairs otherwise."""
    small = len(old) + len(new) <= _WHOLE
    head, tail = (0, 0) if small else equal_ends(old, new, (0, len(old), 0, len(new)))
    height, width = len(old) - head - tail, len(new) - head - tail
    if not 0 < height * width <= _MOST:
        return [*blocks]
    rows = _Rows(old[head : head + height], new[head : head + width])
    kept: list[MatchingBlock] = []
    for i, j, length in blocks:
        low = min(length, max(0, head - min(i, j)))  # from here to `high` between common ends
        high = max(low, min(length, len(old) - tail - i, len(new) - tail - j))
        sure = [k for k in range(low, high) if rows.always(i + k - head, j + k - head)]
        parts = (0, low), *((k, 1) for k in sure), (high, length - high)
        kept += [(i + at, j + at, size) for at, size in parts if size]
    return as_runs(kept)


class _Rows:
    """The lengths of the longest common rows of all beginnings and all ends of two texts."""

    def __init__(self, old: Sequence[Hashable], new: Sequence[Hashable]) -> None:
        self.old, self.new = old, new
        self.places = _places(old), _places(new)
        self.before = [*_columns(old, new)]
        self.behind = [*_columns(old[::-1], new[::-1])]
        self.longest = _length(self.before[-1], len(old))

    def always(self, i: int, j: int) -> bool:
        """Whether a longest row pairs the two lines, and none pairs either with another."""
        return (
            self._pairs(i, j)
            and not any(y != j and self._pairs(i, y) for y in self.places[1][self.old[i]])
            and not any(x != i and self._pairs(x, j) for x in self.places[0][self.new[j]])
        )

    def _pairs(self, i: int, j: int) -> bool:
        behind = _length(self.behind[len(self.new) - 1 - j], len(self.old) - 1 - i)
        return _length(self.before[j], i) + 1 + behind == self.longest


def _length(column: int, count: int) -> int:
    """The longest row that the first `count` old lines have in common with a beginning."""
    return count - (column & ((1 << count) - 1)).bit_count()


def _columns(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[int]:
    """For each beginning of `new`, the empty one first: which old lines make no row longer."""
    marks: dict[Hashable, int] = defaultdict(int)
    for n, line in enumerate(old):
        marks[line] |= 1 << n
    column = every = (1 << len(old)) - 1
    yield column
    for line in new:
        common = column & marks.get(line, 0)
        column = ((column + common) | (column - common)) & every
        yield column


def _places(lines: Sequence[Hashable]) -> Mapping[Hashable, Sequence[int]]:
    found: dict[Hashable, list[int]] = defaultdict(list)
    for n, line in enumerate(lines):
        found[line].append(n)
    return found
