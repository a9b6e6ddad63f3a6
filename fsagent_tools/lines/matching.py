"""Which lines of a new text are lines of an old one: patience matching, and what of it is certain.

Equal ends are matched first; what is left is parted by lines that are unique on both sides, else
by runs of 2, 4, 8, 16 such lines, and each part is treated alike.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress, groupby, islice
from operator import ne

_Texts = Sequence[Hashable]
_Pair = tuple[int, int]
MatchingBlock = tuple[int, int, int]  # old start, new start, length

_WIDEST = 16  # longest run of lines used as an anchor
_NEAR, _RUN = 160, 8  # lines behind an edit where both texts agree again, for so many lines
_TINY = 256  # old lines times new lines below which runs are not tried
_LEAST = 4  # letters and digits of a run that stands between others
_SIGNS = bytes(sign for sign in range(128) if not chr(sign).isalnum())


def align(old: _Texts, new: _Texts) -> list[int]:
    """For every new line the index of the old line that it is, else -1; no old line twice."""
    matched = [-1] * len(new)
    for i, j, length in matching_blocks(old, new):
        matched[j : j + length] = range(i, i + length)
    return matched


def matching_blocks(old: _Texts, new: _Texts) -> list[MatchingBlock]:
    """Runs of lines that are the same, in their order."""
    blocks: list[MatchingBlock] = []
    todo = [(0, len(old), 0, len(new), True)]
    while todo:
        i, i_end, j, j_end, is_last = todo.pop()
        most = min(i_end - i, j_end - j)
        head = _equal(old, new, (i, j), most)
        tail = _equal(old, new, (i_end, j_end), most - head, -1)
        blocks += [(i, j, head), (i_end - tail, j_end - tail, tail)]
        i, i_end, j, j_end = i + head, i_end - tail, j + head, j_end - tail
        is_long = is_last and most - head - tail > 4 * _NEAR
        anchors, width = _resync(old, new, i, j) if is_long else [], 0
        if not anchors:
            anchors, width = _anchors(old[i:i_end], new[j:j_end])
        start = i, j
        for x, y in anchors:
            x, y = start[0] + x, start[1] + y
            if x < i or y < j:
                continue  # inside the run before
            if x > i and y > j:
                todo.append((i, x, j, y, False))
            blocks.append((x, y, width))
            i, j = x + width, y + width
        if anchors and i < i_end and j < j_end:
            todo.append((i, i_end, j, j_end, width == 0))
    return as_runs(blocks)


def as_runs(blocks: Iterable[MatchingBlock]) -> list[MatchingBlock]:
    """Blocks in old order, those that continue each other made one."""
    found: list[MatchingBlock] = []
    for i, j, length in sorted(block for block in blocks if block[2]):
        x, y, before = found[-1] if found else (-1, -1, 0)
        if (x + before, y + before) == (i, j):
            found[-1] = (x, y, before + length)
        else:
            found.append((i, j, length))
    return found


def same_lines(
    old: _Texts, new: _Texts, *, moves: bool = True, texts: _Texts | None = None
) -> list[MatchingBlock]:
    """Runs of lines that certainly stayed, in no order: what may be another copy is left out.

    Lines in their order are certain where no other row of equal lines would do: a `}` beside an
    inserted `}` may be the one or the other, and one alone between others is none. moves: also
    lines out of order, which are unique in both whole versions and more than signs. texts: the
    lines that `new` stands for, where it holds only sums of them.
    """
    texts, ends = new if texts is None else texts, (len(old), len(new))
    found = matching_blocks(old, new)
    telling = [block for block in found if _is_telling(block, ends, texts)]
    blocks = [*_certain(old, new, telling)]
    return blocks + (_moved(old, new, blocks, texts) if moves else [])


def _equal(old: _Texts, new: _Texts, place: _Pair, most: int, step: int = 1) -> int:
    """How many lines, of `most`, are equal from there on, or before it with step -1."""
    done = size = 0
    while done < most:
        size = min(4 * size + 16, 4096, most - done)  # slices are compared in C
        low = done if step > 0 else -done - size
        a, b = (
            text[at + low : at + low + size] for text, at in zip((old, new), place, strict=True)
        )
        if a != b:
            return done + next(compress(range(size), map(ne, a[::step], b[::step])))
        done += size
    return most


def _resync(old: _Texts, new: _Texts, i: int, j: int) -> list[_Pair]:
    """The next place where both sides agree for `_RUN` lines, close behind an edit in a long text.

    It is no anchor of its own: its lines are the equal head of what is left.
    """
    pairs = _chain(_unique_pairs(old[i : i + _NEAR], new[j : j + _NEAR]))
    agree = ((x, y) for x, y in pairs if old[i + x : i + x + _RUN] == new[j + y : j + y + _RUN])
    return [*islice(agree, 1)]


def _anchors(old: _Texts, new: _Texts) -> tuple[list[_Pair], int]:
    """Common lines, else runs of lines, unique on both sides and in order; the run's width."""
    if min(len(old), len(new)) == 0 or {*old}.isdisjoint(new):
        return [], 1
    width = 1
    while not (anchors := _chain(_unique_pairs(old, new))) and len(old) * len(new) > _TINY:
        if width == _WIDEST or min(len(old), len(new)) <= width:
            break
        old, new = [*zip(old, old[width:], strict=False)], [*zip(new, new[width:], strict=False)]
        width *= 2
    return anchors, width


def _unique_pairs(old: _Texts, new: _Texts) -> list[_Pair]:
    """Where the lines are that stand once in each, in old order."""
    here, there = _once(old), _once(new)
    return [(place, there[line]) for line, place in here.items() if line in there]


def _once(lines: _Texts) -> dict[Hashable, int]:
    """Where each value that occurs exactly once is, in their order."""
    last = {line: n for n, line in enumerate(lines)}
    if len(last) == len(lines):
        return last
    counts = Counter(lines)
    return {line: n for line, n in last.items() if counts[line] == 1}


def _chain(pairs: Sequence[_Pair]) -> list[_Pair]:
    """Of pairs in old order, the longest row that is in new order too."""
    ends: list[int] = []  # least new place at the end of a row of each length, and which pair it is
    tops: list[int] = []
    back: list[int] = []
    for n, (_, y) in enumerate(pairs):
        place = bisect_left(ends, y)
        ends[place : place + 1], tops[place : place + 1] = [y], [n]
        back.append(tops[place - 1] if place else -1)
    row: list[_Pair] = []
    n = tops[-1] if tops else -1
    while n >= 0:
        row.append(pairs[n])
        n = back[n]
    return row[::-1]


def _certain(old: _Texts, new: _Texts, blocks: Sequence[MatchingBlock]) -> Iterator[MatchingBlock]:
    """What is left of the blocks, in order, without the lines that may be other copies."""
    turned = [(j, i, length) for i, j, length in blocks]
    unsure = _sliding(old, new, blocks, 1) | _sliding(old, new, blocks, -1)
    there = _sliding(new, old, turned, 1) | _sliding(new, old, turned, -1)
    if not unsure and not there:
        yield from blocks
        return
    for i, j, length in blocks:
        sure = groupby(range(length), lambda k: i + k not in unsure and j + k not in there)  # noqa: B023
        for is_sure, group in sure:
            if is_sure:
                first, *more = group
                yield i + first, j + first, 1 + len(more)


def _sliding(a: _Texts, b: _Texts, blocks: Sequence[MatchingBlock], step: int) -> set[int]:
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
    old: _Texts, new: _Texts, blocks: Sequence[MatchingBlock], texts: _Texts
) -> list[MatchingBlock]:
    """Lines left over that are unique in both versions."""
    left = _left([(i, length) for i, _, length in blocks], len(old))
    right = _left([(j, length) for _, j, length in blocks], len(new))
    pairs = _unique_pairs([old[x] for x in left], [new[y] for y in right])
    moved = [(left[x], right[y]) for x, y in pairs]
    common = {old[x] for x, _ in moved}
    counts = Counter(line for line in chain(old, new) if line in common) if common else {}
    return [(x, y, 1) for x, y in moved if counts[old[x]] == 2 and _letters(texts[y])]


def _left(taken: Iterable[tuple[int, int]], count: int) -> list[int]:
    """The places that no run (start, length), in order, takes."""
    free: list[int] = []
    at = 0
    for start, length in (*taken, (count, 0)):
        free += range(at, start)
        at = start + length
    return free


def _is_telling(block: MatchingBlock, ends: _Pair, texts: _Texts) -> bool:
    """Whether a run is more than a brace or a blank, or begins or ends both texts."""
    i, j, length = block
    letters = accumulate(map(_letters, texts[j : j + min(length, _WIDEST)]))
    outer = i == j == 0 or (i + length, j + length) == ends
    return outer or any(known >= _LEAST for known in letters)


def _letters(text: Hashable) -> int:
    """Letters and digits of a line."""
    plain = text if isinstance(text, bytes) else str(text).encode(errors="replace")
    return len(plain.translate(None, _SIGNS))
