"""What a small change put in place of what, so that the new content can be had from the old."""

from base64 import b64decode, b64encode
from collections.abc import Sequence

IN_LINE = 8192  # bytes of new text that a line of the journal holds
Delta = Sequence[object]  # bytes in common at the start and at the end, and what is between, base64


def delta_of(old: bytes, new: bytes) -> list[object] | None:
    """None for a change of more than `IN_LINE` bytes."""
    most = min(len(old), len(new))
    start = _common(old, new, most)
    end = _common(old[::-1], new[::-1], most - start)
    middle = new[start : len(new) - end]
    if len(middle) > IN_LINE:
        return None
    return [start, end, b64encode(middle).decode()]


def patched(old: bytes, delta: Delta) -> bytes:
    """The new content. Raises `ValueError` for a delta that is of another one."""
    start, end, middle = delta
    if not (isinstance(start, int) and isinstance(end, int) and start + end <= len(old)):
        raise ValueError("not of this content")
    return old[:start] + b64decode(str(middle)) + old[len(old) - end :]


def _common(one: bytes, other: bytes, most: int) -> int:
    """How many bytes both begin with; slices are compared in C."""
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            most = middle - 1
    return low
