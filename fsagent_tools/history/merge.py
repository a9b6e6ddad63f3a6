"""A change taken back in a text that others changed since: only where no line is in doubt."""

from collections.abc import Iterator, Sequence

from fsagent_tools.lines.splice import Hunk, refine
from fsagent_tools.text import looks_binary

LONGEST_MERGED = 4 << 20  # bytes of a text that is merged


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
    for hunk in sorted([*first, *second], key=lambda hunk: (hunk.start, hunk.stop)):
        if hunk == last:
            continue  # both did the same
        if hunk.start <= touched:
            return None
        found += [*lines[at : hunk.start], *hunk.new]
        at, touched, last = hunk.stop, hunk.stop, hunk
    return b"".join([*found, *lines[at:]])


def _hunks(old: Sequence[bytes], text: bytes) -> Iterator[Hunk]:
    new = tuple(text.splitlines(keepends=True))
    return refine(Hunk(0, len(old), new), old)
