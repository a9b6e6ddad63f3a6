"""Line IDs: how one is minted, shown, and read back from what a model typed."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from struct import unpack
from typing import Literal

from fsagent_tools.lines.digest import sha256

WIDTH = 6  # hex digits
StyleName = Literal["tag", "short", "none"]

_TYPED = re.compile(r"\s*\[?\s*(?:LID:)?\s*([0-9a-fA-F]{6})(?![0-9a-fA-F])\s*(?:\]|\||$)")


def mint(first: int, lines: Sequence[bytes], used: set[str]) -> list[str]:
    """Fresh IDs for consecutive lines (UTF-8, no line ending) starting at 1-based line `first`.

    The seed is sha256(f"{line_num}:{content}"), truncated to 6 hex digits; an ID in `used` is
    salted until free. `used` receives every ID, so that none is ever given out twice.
    """
    seeds = [b"%d:%b" % numbered for numbered in enumerate(lines, first)]
    joined = b"".join([sha256(seed).digest()[: WIDTH // 2] for seed in seeds]).hex()
    ids = cut(joined)
    fresh = set(ids)
    if len(fresh) == len(ids) and fresh.isdisjoint(used):
        used |= fresh
        return ids
    for place, (seed, line_id) in enumerate(zip(seeds, ids, strict=True)):
        salt = 0
        while line_id in used:
            salt += 1
            line_id = sha256(b"%b:%d" % (seed, salt)).hexdigest()[:WIDTH]
        used.add(line_id)
        ids[place] = line_id
    return ids


def cut(ids: str) -> list[str]:
    """The IDs in one string."""
    return [ids[k : k + WIDTH] for k in range(0, len(ids), WIDTH)]


def packed(ids: str) -> tuple[bytes, ...]:
    """The same as ASCII bytes, in a quarter of the time."""
    return unpack(f"{WIDTH}s" * (len(ids) // WIDTH), ids.encode())


def parse(typed: object) -> str | None:
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

    def lines(self, ids: str, lines: Sequence[bytes]) -> str:
        """Lines as a model sees them; `ids` is their IDs in one string."""
        before, after = f"\n{self.before}".encode(), self.after.encode()
        parts = zip(repeat(before), packed(ids), repeat(after), lines, strict=False)
        text = b"".join(chain.from_iterable(parts))[1:]
        return text.decode(errors="replace")  # only a window of a huge file may be no UTF-8

    def label(self, line_id: str) -> str:
        """The ID alone, as it stands inside another format (`file:42:[LID:a3f2c1]:text`)."""
        return f"{self.before}{line_id}{self.label_end}"


STYLES: dict[StyleName, Style] = {
    "tag": Style("tag", "[LID:", "] ", "]"),
    "short": Style("short", "", "|", ""),
}
_ECHO = re.compile(r"(?:\[LID:([0-9a-f]{6})\] ?|([0-9a-f]{6})\|)")


def strip_echo(line: str, known: Container[str]) -> str | None:
    """`line` without a read prefix whose ID this file knows; None where there is no such prefix."""
    match = _ECHO.match(line)
    if match and (match[1] or match[2]) in known:
        return line[match.end() :]
    return None


def echoes(line: bytes) -> bool:
    """Whether `line` begins with a read prefix, of whatever file."""
    return bool(_ECHO.match(line[:24].decode(errors="replace")))
