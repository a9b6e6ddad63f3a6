"""The places of a text most like one that was not found, for the message on a miss."""

from dataclasses import dataclass
from itertools import zip_longest

from fsagent_tools.edits.evidence import Check, go_on
from fsagent_tools.edits.scoring import most_similar, similarity
from fsagent_tools.lines.source import split
from fsagent_tools.text import clip, newline_of

LEAST = 0.5  # similarity below which a place is no suggestion
_SEARCHED = 4 << 20  # bytes of a text that are looked at, and how many lines
_LINES = 100_000
_COMPARED = 500  # characters of a line that are compared
_ALIKE = 8_000  # characters of two places that are compared
_ANCHORS = 2  # wanted lines that lead to places
_PUSHED = 8  # lines beyond a place in which its text may begin or end
_UNSEEN = ("Zs", "Zl", "Zp", "Cc", "Cf", "Mn")  # categories of characters that nobody sees
SHOWN_WIDTH = 200  # characters of a line that differs


@dataclass(frozen=True)
class Suggestion:
    """1-based lines, both inclusive; similarity from 0 to 1; differs: the first line that does, in
    the file and as quoted, with `→` for tabs, `·` for blanks at line ends and `<U+00A0>` for what
    else looks like a blank or like nothing."""

    line: int
    end_line: int
    similarity: float
    differs: tuple[int, str, str] | None = None


def suggest(text: bytes, old: str, limit: int = 3, check: Check = go_on) -> list[Suggestion]:
    """Up to `limit` places more than half like `old`, best first and without overlap.

    Bounded work: a few of the longest lines of `old` lead to places, and only the first
    `SEARCHED` bytes, `LINES` lines and `COMPARED` characters of a line are looked at. check: is
    called between the steps, and may raise.
    """
    check()
    lines = split(text[:_SEARCHED], newline_of(text))[:_LINES]
    wanted = [_comparable(line) for line in _split(old)]
    if limit < 1 or not any(wanted):
        return []
    compared = [_comparable(line) for line in lines]
    ranked, quote = [], "\n".join(wanted)[:_ALIKE]
    for first in _candidates(wanted, compared, limit, check):
        there = "\n".join(compared[first : first + len(wanted)])[:_ALIKE]
        ranked.append((-similarity(quote, there), first))
    quoted = _split(old)
    found: list[Suggestion] = []
    for loss, first in sorted(ranked):
        if -loss <= LEAST or len(found) == limit:
            break
        start, stop = _whole(lines, quoted, first, min(first + len(wanted), len(lines)))
        if all(stop < other.line or other.end_line <= start for other in found):
            differs = _difference(lines[start:stop], quoted, start + 1)
            found.append(Suggestion(start + 1, stop, round(-loss, 3), differs))
    return found


def _split(old: str) -> list[bytes]:
    lines = old.encode(errors="replace").strip()
    return lines.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")


def _comparable(line: bytes) -> str:
    return line.strip()[: 4 * _COMPARED].decode(errors="replace")[:_COMPARED]


def _candidates(wanted: list[str], lines: list[str], limit: int, check: Check) -> set[int]:
    """First lines of blocks in which one of the longest wanted lines has a likeness."""
    anchors = sorted(range(len(wanted)), key=lambda i: -len(wanted[i]))[:_ANCHORS]
    last = max(0, len(lines) - len(wanted))
    firsts: set[int] = set()
    for anchor in anchors:
        check()
        hits = most_similar(wanted[anchor], lines, 4 * limit, LEAST)
        firsts.update(min(max(0, hit - anchor), last) for hit in hits)
    return firsts


def _whole(lines: list[bytes], quoted: list[bytes], first: int, stop: int) -> tuple[int, int]:
    """With the line where the quoted text begins, or ends, that others' lines pushed away."""
    for beyond in range(max(0, first - _PUSHED), first):
        if lines[beyond].strip() == quoted[0].strip() != lines[first].strip():
            first = beyond
    for beyond in range(stop, min(stop + _PUSHED, len(lines))):
        if lines[beyond].strip() == quoted[-1].strip() != lines[stop - 1].strip():
            stop = beyond + 1
    return first, stop


def _difference(
    block: list[bytes], quoted: list[bytes], number: int
) -> tuple[int, str, str] | None:
    """The first line that differs in more than the white space around it, else in that."""
    for key in (bytes.strip, bytes.rstrip):
        for at, (there, wanted) in enumerate(zip_longest(block, quoted, fillvalue=b"")):
            if key(there) != key(wanted):
                lines = there.decode(errors="replace"), wanted.decode(errors="replace")
                return number + at, _visible(*lines), _visible(*reversed(lines))
    return None


def _visible(line: str, other: str) -> str:
    """The line with signs; a character that nobody sees has its number unless both have it."""
    from unicodedata import category

    body = line.rstrip(" \t")
    unseen = {c for c in body if not c.isascii() and category(c) in _UNSEEN}
    shown = body + line[len(body) :].replace(" ", "·")
    for character in unseen:
        if body.count(character) != other.count(character):
            shown = shown.replace(character, f"<U+{ord(character):04X}>")
    return clip(shown.replace("\t", "→"), SHOWN_WIDTH)
