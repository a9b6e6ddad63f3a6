"""Which new line is which old line: strict, so a line without a certain counterpart has none.

Common ends are trimmed; a big region is re-synchronised right behind each edit, so that k edits in
n lines cost one comparison of n lines and k small windows; what is left is anchored by lines (then
runs of 2, 4, 8, 16 lines) that are unique on both sides. Nothing is guessed for ambiguous lines
(blank, `}`) inside rewritten gaps. A line that moved is unique in both whole versions and tells
enough, by itself or with neighbours that moved along: any other could be another copy.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence, Set

Pair = tuple[int, int]
MatchingBlock = tuple[int, int, int]  # old start, new start, length
Gap = tuple[int, int, int, int]  # old start, old end, new start, new end

_CHUNK = 4096  # lines compared at once
WINDOW = 160  # lines searched for the next common place behind an edit
RUN = 8  # equal lines that confirm such a place
_WIDEST = 16  # longest run of lines used as an anchor
_TELLING = 20  # letters and digits by which a moved line, or its neighbours, can be told
_LEAST = 4  # the same of a line in its order
_SIGNS = bytes(sign for sign in range(128) if not chr(sign).isalnum())
_BESIDE = (-2, -1, 1, 2)
TINY = 256  # old x new lines below which runs are not tried


def align(old: Sequence[Hashable], new: Sequence[Hashable], *, moves: bool = True) -> list[int]:
    """For every new line the index of the old line that it is, else -1; no old line twice.

    `moves` also matches lines that left their order, where that is certain.
    """
    return _by_line(matching_blocks(old, new, moves=moves), len(new))


def matching_blocks(
    old: Sequence[Hashable],
    new: Sequence[Hashable],
    *,
    moves: bool = True,
    texts: Sequence[Hashable] | None = None,
) -> list[MatchingBlock]:
    """The same as runs (old start, new start, length), in no order; neighbours may touch.

    texts: the lines that `new` stands for, where it holds only sums of them.
    """
    texts = new if texts is None else texts
    blocks: list[MatchingBlock] = []
    loose: list[Gap] = []
    todo: list[tuple[Gap, bool]] = [((0, len(old), 0, len(new)), True)]
    while todo:
        region, local = todo.pop()
        region = _trim(old, new, region, blocks)
        i, i_end, j, j_end = region
        if i == i_end or j == j_end:
            if i < i_end or j < j_end:
                loose.append(region)
            continue
        if local and (place := _resync(old, new, region)):
            x, y = place
            todo += [((x, i_end, y, j_end), True), ((i, x, j, y), False)]
            continue
        anchors, width = _anchors(old[i:i_end], new[j:j_end], i, j)
        if width == 1:
            anchors = [pair for pair in anchors if _is_telling(old, new, texts, *pair)]
        if anchors:
            todo += [(gap, False) for gap in _fix(anchors, width, region, blocks)]
        else:
            loose.append(region)
    if moves and any(i < i_end for i, i_end, _, _ in loose):
        _match_moved(old, new, blocks, loose, texts)
    return blocks


def _by_line(blocks: Iterable[MatchingBlock], count: int) -> list[int]:
    matched = [-1] * count
    for i, j, length in blocks:
        matched[j : j + length] = range(i, i + length)
    return matched


def _trim(
    old: Sequence[Hashable], new: Sequence[Hashable], region: Gap, blocks: list[MatchingBlock]
) -> Gap:
    """Match the equal lines at both ends of a region and return what is between them."""
    i, i_end, j, j_end = region
    same = _equal_ahead(old, new, i, j, min(i_end - i, j_end - j))
    if same:
        blocks.append((i, j, same))
    i, j = i + same, j + same
    same = _equal_behind(old, new, i_end, j_end, min(i_end - i, j_end - j))
    if same:
        blocks.append((i_end - same, j_end - same, same))
    return i, i_end - same, j, j_end - same


def _equal_ahead(
    old: Sequence[Hashable], new: Sequence[Hashable], i: int, j: int, most: int
) -> int:
    """Equal lines from (i, j) on; slices are compared in C, growing, then halved at a mismatch."""
    done, step = 0, 8
    while done < most:
        size = min(step, most - done)
        if old[i + done : i + done + size] == new[j + done : j + done + size]:
            done, step = done + size, min(_CHUNK, step * 4)
        elif size == 1:
            break
        else:
            most, step = done + size, size // 2
    return done


def _equal_behind(
    old: Sequence[Hashable], new: Sequence[Hashable], i: int, j: int, most: int
) -> int:
    """Equal lines before (i, j), counted backwards."""
    done, step = 0, 8
    while done < most:
        size = min(step, most - done)
        low = done + size
        if old[i - low : i - done] == new[j - low : j - done]:
            done, step = low, min(_CHUNK, step * 4)
        elif size == 1:
            break
        else:
            most, step = done + size, size // 2
    return done


def _resync(old: Sequence[Hashable], new: Sequence[Hashable], region: Gap) -> Pair | None:
    """The next place where both sides agree for `RUN` lines, close behind an edit."""
    i, i_end, j, j_end = region
    if min(i_end - i, j_end - j) <= 4 * WINDOW:
        return None
    for window, width in ((24, 1), (WINDOW, 1), (WINDOW, _WIDEST)):
        a, b = old[i : i + window], new[j : j + window]
        for x, y in _unique_pairs(a, b, i, j, width):
            if old[x : x + RUN] == new[y : y + RUN]:
                return x, y
    return None


def _anchors(
    a: Sequence[Hashable], b: Sequence[Hashable], i: int, j: int
) -> tuple[list[Pair], int]:
    """Common lines, else runs of lines, unique on both sides and in order; and the run's width."""
    if min(len(a), len(b)) == 1 or set(a).isdisjoint(b):
        return [], 1  # one line against a gap is no evidence of order; moved lines are found later
    width = 1
    anchors = _unique_pairs(a, b, i, j, width)
    while not anchors and width < _WIDEST and min(len(a), len(b)) > 2 * width:
        if len(a) * len(b) <= TINY:
            break
        width *= 2
        anchors = _unique_pairs(a, b, i, j, width)
    return anchors, width


def _fix(
    anchors: Iterable[Pair], width: int, region: Gap, blocks: list[MatchingBlock]
) -> Iterable[Gap]:
    """Match the anchors and yield the gaps between them."""
    i, i_end, j, j_end = region
    for x, y in anchors:
        if x < i or y < j:
            continue  # inside the run before
        blocks.append((x, y, width))
        if x > i or y > j:
            yield i, x, j, y
        i, j = x + width, y + width
    if i < i_end or j < j_end:
        yield i, i_end, j, j_end


def _unique_pairs(
    a: Sequence[Hashable], b: Sequence[Hashable], i: int, j: int, width: int
) -> list[Pair]:
    """(old, new) starts of runs of `width` lines unique on both sides, longest increasing chain."""
    if width > 1:
        a = list(zip(*(a[shift:] for shift in range(width)), strict=False))
        b = list(zip(*(b[shift:] for shift in range(width)), strict=False))
    in_a, in_b = _once(a, i), _once(b, j)
    return _chain(sorted((in_a[key], in_b[key]) for key in in_a.keys() & in_b.keys()))


def _once(lines: Sequence[Hashable], offset: int) -> dict[Hashable, int]:
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


def _match_moved(
    old: Sequence[Hashable],
    new: Sequence[Hashable],
    blocks: list[MatchingBlock],
    loose: list[Gap],
    texts: Sequence[Hashable],
) -> None:
    """Match leftovers unique in both whole versions where they, or what moved along, tell much."""
    left = [x for i, end, _, _ in loose for x in range(i, end)]
    right = [y for _, _, j, end in loose for y in range(j, end)]
    here, there = _once([old[x] for x in left], 0), _once([new[y] for y in right], 0)
    common = here.keys() & there.keys()
    common -= _repeated(old, common) | _repeated(new, common)
    moved = {left[here[value]]: right[there[value]] for value in common}
    words = {x: _word_characters(texts[y]) for x, y in moved.items()}
    for x, y in moved.items():
        beside = (x + step for step in _BESIDE if moved.get(x + step) == y + step)
        if words[x] >= _TELLING or sum(map(words.__getitem__, beside)) >= _TELLING:
            blocks.append((x, y, 1))


def _repeated(lines: Sequence[Hashable], values: Set[Hashable]) -> set[Hashable]:
    """Which of the values stand at several places."""
    if not values:
        return set()
    counts = Counter(line for line in lines if line in values)
    return {value for value, count in counts.items() if count > 1}


def _is_telling(
    old: Sequence[Hashable], new: Sequence[Hashable], texts: Sequence[Hashable], x: int, y: int
) -> bool:
    """Whether a common line, with equal lines beside it, is more than a brace or a blank."""
    known = _word_characters(texts[y])
    for step in _BESIDE:
        if known >= _LEAST:
            break
        u, v = x + step, y + step
        if 0 <= u < len(old) and 0 <= v < len(new) and old[u] == new[v]:
            known += _word_characters(texts[v])
    return known >= _LEAST


def _word_characters(text: Hashable) -> int:
    plain = text if isinstance(text, bytes) else str(text).encode(errors="replace")
    return len(plain.translate(None, _SIGNS))
