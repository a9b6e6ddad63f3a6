"""What stands before or around lines that were copied: numbers, a fence, signs of a diff."""

import re
from collections.abc import Iterator, Sequence

Variant = tuple[str, tuple[bytes, ...] | None, re.Pattern[bytes]]
_NUMBERED = re.compile(rb"\s*(\d+)(\t| ?\||\xe2\x86\x92|:| |$)(.*)", re.S)
_READS = (b"\t", b"|", b" |", b"\xe2\x86\x92")  # what reads put behind numbers
_FENCE = re.compile(rb"\s*(?:```|~~~)[\w+-]*")
_ADDED = re.compile(rb"\+(?![\d+=])")
_PLUS = re.compile(rb"\s*\+")


def outer_marks(new: Sequence[bytes], old: Sequence[bytes], first: int) -> Iterator[Variant]:
    """Each kind with the lines without it, and what lines look like to which it belongs."""
    yield "the numbers of the lines", _unnumbered(new, old, first), _NUMBERED
    yield "a code fence", _unfenced(new), _FENCE
    yield "the signs of a diff", _undiffed(new, old), _PLUS


def _unnumbered(new: Sequence[bytes], old: Sequence[bytes], first: int) -> tuple[bytes, ...] | None:
    found = [_NUMBERED.fullmatch(line) for line in new]
    if any(line.strip() and not match for line, match in zip(new, found, strict=True)):
        return None
    signs = {match[2] for match in found if match and match[3].strip()}
    if len(signs) != 1 or (signs == {b" "} and len(new) == 1):
        return None
    if len(new) > 1 and found[0] and signs <= {*_READS}:
        first = int(found[0][1])
    if any(match and int(match[1]) != number for number, match in enumerate(found, first)):
        return None
    rests = tuple(match[3] if match else b"" for match in found)
    return rests if signs == {b"\t"} else _set_in(rests, old, signs == {b":"})


def _unfenced(new: Sequence[bytes]) -> tuple[bytes, ...] | None:
    ends = (new[0], new[-1]) if len(new) > 2 else ()
    return tuple(new[1:-1]) if ends and all(map(_FENCE.fullmatch, ends)) else None


def _undiffed(new: Sequence[bytes], old: Sequence[bytes]) -> tuple[bytes, ...] | None:
    """The lines that are added and those that stay: all are added, or some in place of old ones."""
    filled = [line for line in new if line.strip()]
    added = [line for line in filled if _ADDED.match(line)]
    gone = [line for line in filled if line.startswith(b"-")]
    stays = [line for line in filled if line.startswith(b" ")]
    known = {line.strip() for line in old}
    whole = len(added) + len(gone) + len(stays) == len(filled)
    if not added or not whole or bool(gone) < bool(stays):
        return None
    if any(line[1:].strip() not in known for line in gone):
        return None
    rests = tuple(line[1:] for line in new if not line.startswith(b"-"))
    return _set_in(rests, old, False)


def _set_in(rests: tuple[bytes, ...], old: Sequence[bytes], usual: bool) -> tuple[bytes, ...]:
    """The lines without the blank behind a mark, if it was put there: as `old` is indented."""
    filled = [line for line in rests if line.strip()]
    if not all(line.startswith(b" ") for line in filled):
        return rests
    cut = tuple(line[1:] for line in rests)
    depth = next((_indent(line) for line in old if line.strip()), None)
    if depth == _indent(filled[0]):
        return rests
    return cut if usual or depth == _indent(filled[0][1:]) else rests


def _indent(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip(b" \t"))]
