"""Which lines beside one of several places tell it from the others."""

from collections.abc import Callable, Sequence

_LINES = 30  # that are named in all
_BESIDE = 6  # on either side of a place

LineRange = tuple[int, int]  # first and last line, from 1


def telling_lines(
    lines: Sequence[bytes], places: Sequence[tuple[int, int]], check: Callable[[], None]
) -> list[LineRange]:
    """The lines of each place, with as many beside them as stand beside no other one.

    places: lines from 0, exclusive; as many of them are told as fit into `_LINES` lines.
    """
    told: list[LineRange] = []
    left = _LINES
    places = [*dict.fromkeys(places)]  # one of each line
    for place in places:
        check()
        start, stop = _grown(lines, place, [other for other in places if other != place])
        left -= stop - start
        if left < 0 and told:
            break
        told.append((start + 1, stop))
    return told


def _grown(
    lines: Sequence[bytes], mine: tuple[int, int], others: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    """The lines that tell a place from the others, up and down by turns.

    They end with lines that are not blank, which is easier to quote.
    """
    up = down = 0
    for step in range(2 * _BESIDE):
        start, stop = mine[0] - up, mine[1] + down
        there = b"\n".join(lines[start:stop])
        others = [
            (first, last)
            for first, last in others
            if there in b"\n".join(lines[max(0, first - up) : last + down])
        ]
        if not others and lines[start].strip() and lines[stop - 1].strip():
            break
        above = step % 2 == 0 if others else bool(lines[stop - 1].strip())
        up += above and start > 0
        down += not above and stop < len(lines)
    return mine[0] - up, mine[1] + down
