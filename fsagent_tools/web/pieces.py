"""Long pages in pieces that agree with each other."""

import re
from dataclasses import dataclass

_HEADING = re.compile(r"(#{1,4}) (.+)")
_SECTIONS, _TITLE_SHOWN = 30, 60  # of a list of sections; characters of a title in it
SLACK = 0.2  # share of a piece that may be given up to end it at a line's end


@dataclass(frozen=True)
class Piece:
    """`text` is the page's characters up to `end`; `total` is the length of the whole."""

    text: str
    end: int
    total: int


def cut_page(text: str, offset: int, limit: int) -> Piece:
    """At most `limit` characters from `offset`, ending after a line where one ends near."""
    end = min(offset + limit, len(text))
    if end < len(text):
        line = text.rfind("\n", offset + int(limit * (1 - SLACK)), end)
        end = line + 1 if line > offset else end
    return Piece(text[offset:end], end, len(text))


def sections(text: str, start: int) -> list[tuple[int, str]]:
    """(offset, title) of a Markdown page's headings from `start` on, the upper ones when many."""
    found, at, fenced = [], 0, False
    for line in text.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        heading = None if fenced else _HEADING.match(line)
        if heading and at >= start:
            found.append((len(heading[1]), at, heading[2].strip()[:_TITLE_SHOWN]))
        at += len(line)
    level = max((n for n in (4, 3, 2) if sum(row[0] <= n for row in found) <= _SECTIONS), default=2)
    return [(at, title) for depth, at, title in found if depth <= level][:_SECTIONS]
