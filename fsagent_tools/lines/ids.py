"""Line IDs: how one is minted, shown, and read back from what a model typed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from struct import unpack
from typing import Literal

from fsagent_tools.lines.digest import heads

WIDTH = 6  # hex digits
SIZE = WIDTH // 2  # bytes
StyleName = Literal["tag", "short", "none"]

_TYPED = re.compile(r"\s*\[?\s*(?:LID:)?\s*([0-9a-fA-F]{6})(?![0-9a-fA-F])\s*(?:\]|\||$)")


class IdSet:
    """A set of IDs that keeps them as numbers, in a fifth of the time that strings take."""

    __slots__ = ("_numbers",)

    def __init__(self, ids: str = "") -> None:
        self._numbers = set(_numbers(bytes.fromhex(ids)))

    def __contains__(self, line_id: str) -> bool:
        return not self._numbers.isdisjoint(_numbers(bytes.fromhex(line_id)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdSet) and self._numbers == other._numbers

    def add(self, ids: str) -> None:
        """Add the IDs in one string."""
        self._numbers.update(_numbers(bytes.fromhex(ids)))

    def without(self, ids: str) -> str:
        """Those of the IDs in one string that are not there."""
        numbers = _numbers(bytes.fromhex(ids))
        pairs = zip(split_ids(ids), numbers, strict=True)
        return "".join(line_id for line_id, number in pairs if number not in self._numbers)

    def claim(self, ids: bytes | bytearray) -> list[int]:
        """Add the IDs, `SIZE` bytes each; returns the places of those that were there before."""
        numbers = _numbers(ids)
        fresh = set(numbers)
        if len(fresh) == len(numbers) and fresh.isdisjoint(self._numbers):
            if self._numbers:
                self._numbers |= fresh
            else:
                self._numbers = fresh
            return []
        taken = []
        for place, number in enumerate(numbers):
            if number in self._numbers:
                taken.append(place)
            else:
                self._numbers.add(number)
        return taken


def _numbers(ids: bytes | bytearray) -> list[int]:
    wide = bytearray(len(ids) // 3 * 4)
    wide[::4], wide[1::4], wide[2::4] = ids[::3], ids[1::3], ids[2::3]
    return memoryview(wide).cast("I").tolist()


def mint(first: int, lines: Sequence[bytes], used: IdSet) -> str:
    """Fresh IDs, in one string, for consecutive lines (UTF-8, no ending) from 1-based line `first`.

    The seed is sha256(f"{line_num}:{content}"), truncated to 6 hex digits; an ID in `used` is
    salted until free. `used` receives every ID, so that none is ever given out twice.
    """
    seeds = [*map(b"%d:%b".__mod__, enumerate(lines, first))]
    ids = heads(seeds, SIZE)
    for place in used.claim(ids):
        salt = 1
        while used.claim(other := heads([b"%b:%d" % (seeds[place], salt)], SIZE)):
            salt += 1
        ids[place * SIZE : (place + 1) * SIZE] = other
    return ids.hex()


def split_ids(ids: str) -> list[str]:
    """The IDs in one string."""
    return [ids[k : k + WIDTH] for k in range(0, len(ids), WIDTH)]


def parse_id(typed: object) -> str | None:
    """The ID in `a3f2c1`, `LID:a3f2c1`, `[LID:a3f2c1]`, also with pasted line text behind it."""
    match = _TYPED.match(typed) if isinstance(typed, str) else None
    return match[1].lower() if match else None


@dataclass(frozen=True)
class Style:
    """How an ID stands before its line; the index does not know the style."""

    name: StyleName
    before: str
    after: str
    label_end: str

    def lines(self, ids: str, text: bytes) -> str:
        r"""UTF-8 text with `\n` between its lines as a model sees it, and one ID for each line."""
        if not ids:
            return ""
        tag = f"{self.before}%b{self.after}".encode()
        form = tag + text.replace(b"%", b"%%").replace(b"\n", b"\n" + tag)
        tagged = form % unpack(f"{WIDTH}s" * (len(ids) // WIDTH), ids.encode())
        return tagged.decode(errors="replace")  # only a window of a huge file may be no UTF-8

    def label(self, line_id: str) -> str:
        """The ID alone, as it stands inside another format (`file:42:[LID:a3f2c1]:text`)."""
        return f"{self.before}{line_id}{self.label_end}"


STYLES: dict[StyleName, Style] = {
    "tag": Style("tag", "[LID:", "] ", "]"),
    "short": Style("short", "", "|", ""),
}
_ECHO = re.compile(r"(?:\[LID:([0-9a-f]{6})\] ?|([0-9a-f]{6})\|)")


def strip_echo(line: str, known: IdSet) -> str | None:
    """`line` without a read prefix whose ID this file knows; None where there is no such prefix."""
    match = _ECHO.match(line)
    if match and (match[1] or match[2]) in known:
        return line[match.end() :]
    return None


def echoes(line: bytes) -> bool:
    """Whether `line` begins with a read prefix, of whatever file."""
    return bool(_ECHO.match(line[:24].decode(errors="replace")))
