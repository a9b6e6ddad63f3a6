"""A change taken back in a text that others changed since: only where no line is in doubt."""

from collections.abc import Sequence

from fsagent_tools.lines.align import align
from fsagent_tools.text import looks_binary

LONGEST_MERGED = 4 << 20  # bytes of a text that is merged
_Hunk = tuple[int, int, Sequence[bytes]]  # lines of the base from, to, and what became of them


def merged(base: bytes, mine: bytes, theirs: bytes) -> bytes | None:
    """`theirs`, made of `base`, with what leads from `base` to `mine` done in it, too.

    None where both changed the same lines or lines that touch, and for what is no text.
    """
    if max(map(len, (base, mine, theirs))) > LONGEST_MERGED or any(
        map(looks_binary, (base, mine, theirs))
    ):
        return None
    lines = base.splitlines(keepends=True)
    first, second = _hunks(lines, mine), _hunks(lines, theirs)
    found: list[bytes] = []
    at, touched, last = 0, -1, None
    for hunk in sorted([*first, *second], key=lambda hunk: hunk[:2]):
        start, stop, new = hunk
        if hunk == last:
            continue  # both did the same
        if start <= touched:
            return None
        found += [*lines[at:start], *new]
        at, touched, last = stop, stop, hunk
    return b"".join([*found, *lines[at:]])


def _hunks(old: Sequence[bytes], text: bytes) -> list[_Hunk]:
    new = text.splitlines(keepends=True)
    hunks: list[_Hunk] = []
    i = j = 0
    for y, x in [*enumerate(align(list(old), new)), (len(new), len(old))]:
        if x < 0:
            continue
        if x > i or y > j:
            hunks.append((i, x, new[j:y]))
        i, j = x + 1, y + 1
    return hunks
