"""Which new line is which old line, in order: strict, so that nothing is guessed within a gap.

Common ends are trimmed; a big region is re-synchronised right behind each edit, so that k edits in
n lines cost one comparison of n lines and k small windows; what is left is anchored by lines (then
runs of 2, 4, 8, 16 lines) that are unique on both sides. Where lines changed places, those of the
far longer row are anchors, and of these the ones that are unique in both whole versions.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from functools import cached_property

Pair = tuple[int, int]
MatchingBlock = tuple[int, int, int]  # old start, new start, length
Gap = tuple[int, int, int, int]  # old start, old end, new start, new end

_CHUNK = 4096  # lines compared at once
WINDOW = 160  # lines searched for the next common place behind an edit
RUN = 8  # equal lines that confirm such a place
_WIDEST = 16  # longest run of lines used as an anchor
_LEAST = 4  # letters and digits of a line that is an anchor, or of those beside it
_FAR_LONGER = 2  # times as many lines in the row that stays as there are in others
_SIGNS = bytes(sign for sign in range(128) if not chr(sign).isalnum())
ADJACENT = (-2, -1, 1, 2)
TINY = 256  # old x new lines below which runs are not tried


def align(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[int]:
    """For every new line the index of the old line that it is, else -1; no old line twice."""
    return by_line(matching_blocks(old, new), len(new))


def matching_blocks(
    old: Sequence[Hashable], new: Sequence[Hashable], texts: Sequence[Hashable] | None = None
) -> list[MatchingBlock]:
    """The same as runs (old start, new start, length), unsorted; neighbours may touch.

    texts: the lines that `new` stands for, where it holds only sums of them.
    """
    return _Alignment(old, new, new if texts is None else texts).blocks


def by_line(blocks: Iterable[MatchingBlock], count: int) -> list[int]:
    """For every one of `count` new lines its old line, else -1."""
    matched = [-1] * count
    for i, j, length in blocks:
        matched[j : j + length] = range(i, i + length)
    return matched


def as_runs(blocks: Iterable[MatchingBlock]) -> list[MatchingBlock]:
    """Blocks in old order, those that continue each other made one."""
    found: list[MatchingBlock] = []
    for i, j, length in sorted(blocks):
        x, y, before = found[-1] if found else (-1, -1, 0)
        if (x + before, y + before) == (i, j):
            found[-1] = (x, y, before + length)
        else:
            found.append((i, j, length))
    return found


class _Alignment:
    """Both whole versions, and the runs of lines that are the same."""

    def __init__(
        self, old: Sequence[Hashable], new: Sequence[Hashable], texts: Sequence[Hashable]
    ) -> None:
        self.old, self.new, self.texts = old, new, texts
        self.blocks: list[MatchingBlock] = []
        todo: list[tuple[Gap, bool]] = [((0, len(old), 0, len(new)), True)]
        while todo:
            region, local = todo.pop()
            region = self._trim(region)
            i, i_end, j, j_end = region
            if i == i_end or j == j_end:
                continue
            if local and (place := self._resync(region)):
                x, y = place
                todo += [((x, i_end, y, j_end), True), ((i, x, j, y), False)]
                continue
            anchors, width = self._anchors(region)
            if width == 1:
                anchors = [pair for pair in anchors if self._is_telling(*pair)]
            todo += [(gap, False) for gap in self._fix(anchors, width, region) if anchors]

    @cached_property
    def once(self) -> Set[Hashable]:
        """Lines that stand once in each."""
        counts, others = Counter(self.old), Counter(self.new)
        return {line for line, count in counts.items() if count == 1 == others.get(line)}

    def _trim(self, region: Gap) -> Gap:
        """Match the equal lines at both ends of a region and return what is between them."""
        i, i_end, j, j_end = region
        head, tail = equal_ends(self.old, self.new, region)
        ends = (i, j, head), (i_end - tail, j_end - tail, tail)
        self.blocks += [end for end in ends if end[2]]
        return i + head, i_end - tail, j + head, j_end - tail

    def _resync(self, region: Gap) -> Pair | None:
        """The next place where both sides agree for `RUN` lines, close behind an edit."""
        i, i_end, j, j_end = region
        if min(i_end - i, j_end - j) <= 4 * WINDOW:
            return None
        for window, width in ((24, 1), (WINDOW, 1), (WINDOW, _WIDEST)):
            for x, y in self._unique_pairs((i, i + window, j, j + window), width):
                if self.old[x : x + RUN] == self.new[y : y + RUN]:
                    return x, y
        return None

    def _anchors(self, region: Gap) -> tuple[list[Pair], int]:
        """Common lines, else runs of lines, unique on both sides and in order; the run's width."""
        i, i_end, j, j_end = region
        height, other = i_end - i, j_end - j
        if min(height, other) == 1 or set(self.old[i:i_end]).isdisjoint(self.new[j:j_end]):
            return [], 1  # one line against a gap tells no order; moved lines are found later
        width = 1
        anchors = self._unique_pairs(region, width)
        while not anchors and width < _WIDEST and min(height, other) > 2 * width:
            if height * other <= TINY:
                break
            width *= 2
            anchors = self._unique_pairs(region, width)
        return anchors, width

    def _fix(self, anchors: Iterable[Pair], width: int, region: Gap) -> Iterable[Gap]:
        """Match the anchors and yield the gaps between them."""
        i, i_end, j, j_end = region
        for x, y in anchors:
            if x < i or y < j:
                continue  # inside the run before
            self.blocks.append((x, y, width))
            if x > i or y > j:
                yield i, x, j, y
            i, j = x + width, y + width
        yield i, i_end, j, j_end

    def _unique_pairs(self, region: Gap, width: int) -> list[Pair]:
        """(old, new) starts of runs of `width` lines, unique on both sides and in order."""
        i, i_end, j, j_end = region
        a, b = self.old[i:i_end], self.new[j:j_end]
        if width > 1:
            a = list(zip(*(a[shift:] for shift in range(width)), strict=False))
            b = list(zip(*(b[shift:] for shift in range(width)), strict=False))
        in_a, in_b = once(a, i), once(b, j)
        pairs = sorted((in_a[key], in_b[key]) for key in in_a.keys() & in_b.keys())
        row = _chain(pairs)
        if len(row) == len(pairs):
            return row
        crossing = _crossing(pairs)
        if width > 1 or len(row) <= _FAR_LONGER * (len(pairs) - len(row)):
            return [pair for pair in row if pair not in crossing]
        return [pair for pair in row if pair not in crossing or self.old[pair[0]] in self.once]

    def _is_telling(self, x: int, y: int) -> bool:
        """Whether a common line, with equal lines beside it, is more than a brace or a blank."""
        known = letters_and_digits(self.texts[y])
        for step in ADJACENT:
            if known >= _LEAST:
                break
            u, v = x + step, y + step
            if 0 <= u < len(self.old) and 0 <= v < len(self.new) and self.old[u] == self.new[v]:
                known += letters_and_digits(self.texts[v])
        return known >= _LEAST


def equal_ends(old: Sequence[Hashable], new: Sequence[Hashable], region: Gap) -> tuple[int, int]:
    """How many lines are equal at each end of a region, none in both; slices are compared in C."""
    i, i_end, j, j_end = region
    most = min(i_end - i, j_end - j)
    head = agreeing(most, _CHUNK, lambda at, to: old[i + at : i + to] == new[j + at : j + to])
    most -= head
    return head, agreeing(
        most, _CHUNK, lambda at, to: old[i_end - to : i_end - at] == new[j_end - to : j_end - at]
    )


def agreeing(most: int, largest: int, same: Callable[[int, int], bool]) -> int:
    """How many of `most` items are the same, in strides that grow and are halved at a difference.

    same: whether all are, from one to another.
    """
    done, stride = 0, 8
    while done < most:
        size = min(stride, most - done)
        if same(done, done + size):
            done, stride = done + size, min(largest, stride * 4)
        elif size == 1:
            break
        else:
            most, stride = done + size, size // 2
    return done


def _crossing(pairs: Sequence[Pair]) -> set[Pair]:
    """Those of the pairs, in old order, that changed places with another."""
    found: set[Pair] = set()
    highest, lowest = -1, pairs[-1][1]
    for pair, later in zip(pairs, reversed(pairs), strict=True):
        if pair[1] < highest:
            found.add(pair)
        if later[1] > lowest:
            found.add(later)
        highest, lowest = max(highest, pair[1]), min(lowest, later[1])
    return found


def once(lines: Sequence[Hashable], offset: int) -> dict[Hashable, int]:
    """Where each value that occurs exactly once is."""
    places = range(offset, offset + len(lines))
    last = dict(zip(lines, places, strict=True))
    if len(last) == len(lines):
        return last
    first = dict(zip(reversed(lines), reversed(places), strict=True))
    return {value: place for value, place in last.items() if first[value] == place}


def _chain(pairs: list[Pair]) -> list[Pair]:
    """Of pairs in old order, the longest run that is in new order too."""
    tails: list[int] = []
    top: list[int] = []
    back: list[int] = []
    for n, (_, y) in enumerate(pairs):
        place = len(tails) if not tails or y > tails[-1] else bisect_left(tails, y)
        if place == len(tails):
            tails.append(y)
            top.append(n)
        else:
            tails[place], top[place] = y, n
        back.append(top[place - 1] if place else -1)
    chain = []
    n = top[-1] if top else -1
    while n >= 0:
        chain.append(pairs[n])
        n = back[n]
    return chain[::-1]


def letters_and_digits(text: Hashable) -> int:
    """Letters and digits of a line."""
    plain = text if isinstance(text, bytes) else str(text).encode(errors="replace")
    return len(plain.translate(None, _SIGNS))
