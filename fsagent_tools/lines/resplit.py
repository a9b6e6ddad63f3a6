"""The lines of a text that is mostly an older one: what stands in both is not made again."""

from collections.abc import Sequence

from fsagent_tools.lines.align import agreeing
from fsagent_tools.lines.source import split

_BLOCK = 1 << 16  # bytes compared, or searched, at once
_PROBE = 64  # bytes, at least, that tell where both texts agree again
_STEPS = (0, 1, 1, 2, 4, 8, 16, 32)  # lines of the old text that are left out for the next try


def resplit(new: bytes, old: bytes, known: Sequence[bytes], newline: bytes) -> list[bytes]:
    """`split(new, newline)`, with the objects of `known`, the lines of `old`, where they agree.

    Who compares lines is then done with a look at each, and they are made and freed but once.
    """
    if newline != b"\n" or b"\r" in old or b"\r" in new:  # a line is not just what is between
        return split(new, newline)
    lines: list[bytes] = []
    i = j = number = 0  # offsets of equal lines to be, and the line of `old`
    while True:
        end = new.rfind(newline, j, j + _equal(old, i, new, j)) + 1 or j
        same = new.count(newline, j, end)
        lines += known[number : number + same]
        i, j, number = i + end - j, end, number + same
        if not (place := _next(old, i, new, j)):
            return lines + split(new[j:], newline)
        x, y = place
        lines += split(new[j:y], newline)
        i, j, number = x, y, number + old.count(newline, i, x)


def _equal(old: bytes, i: int, new: bytes, j: int) -> int:
    """How many bytes are equal from there on."""
    view, most = memoryview(old), min(len(old) - i, len(new) - j)
    return agreeing(most, _BLOCK, lambda at, to: new.startswith(view[i + at : i + to], j + at))


def _next(old: bytes, i: int, new: bytes, j: int) -> tuple[int, int] | None:
    """Beginnings of lines, from there on, where both texts agree for a while."""
    for step in _STEPS:
        for _ in range(step):
            i = old.find(b"\n", i) + 1 or len(old)
        end = old.find(b"\n", i + _PROBE) + 1
        if not end:
            return None
        probe = old[i:end]
        if new.startswith(probe, j):
            return i, j
        if (found := new.find(b"\n" + probe, j, j + _BLOCK)) >= 0:
            return i, found + 1
    return None
