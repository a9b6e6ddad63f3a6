"""The lines of a text that fit into one answer, and what stands before each of them."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

from fsagent_tools.lines.document import Document
from fsagent_tools.lines.source import text_of
from fsagent_tools.text import MAX_LINE_CHARS, clip
from fsagent_tools.workspace.tracked import Tracked

BATCH = 64  # lines measured at once
PREFIX = 14  # bytes an ID and the line end add, at most
NUMBER = 6  # columns of a line number

Marks = Literal["ids", "numbers", "none"]


def window(tracked: Tracked, start: int, stop: int, most: int, widest: int) -> Sequence[bytes]:
    """The lines that fit into `most` bytes, each shown up to `widest` characters; at least one."""
    lines = tracked.fitting(start, stop, most)
    if lines and _longest(lines) <= max(widest, MAX_LINE_CHARS):
        return lines[: max(1, _fitting(lines, most))]
    room = most
    lines = []
    while start < stop and room > 0:
        line = tracked.line(start)
        room -= min(len(line), 4 * widest) + PREFIX
        if room >= 0 or not lines:
            lines.append(line)
        start += 1
    return lines


def _fitting(lines: Sequence[bytes], room: int) -> int:
    """How many lines fit into `room` bytes, prefixes included."""
    for start in range(0, len(lines), BATCH):
        batch = lines[start : start + BATCH]
        size = sum(map(len, batch)) + PREFIX * len(batch)
        if size > room:
            ends = accumulate(len(line) + PREFIX for line in batch)
            return start + bisect_right(list(ends), room)
        room -= size
    return len(lines)


def _longest(lines: Sequence[bytes]) -> int:
    return max(map(len, lines), default=0)


def marked(
    document: Document, start: int, lines: Sequence[bytes], widest: int, marks: Marks
) -> str:
    """The lines as a model sees them; without marks their endings stay as they are."""
    texts = text_of(lines)
    longest = _longest(lines)  # in bytes, of which a character has one at least
    if longest > widest:
        texts = [clip(text, widest) for text in texts]
    if marks == "numbers":
        return numbered(range(start + 1, start + 1 + len(texts)), texts)
    if marks == "none":
        endings = document.lines.endings(start, start + len(lines))
        return "".join(text + end.decode() for text, end in zip(texts, endings, strict=True))
    ids = document.show(start, lines)
    if MAX_LINE_CHARS < longest <= widest:
        document.seen.whole.update(ids)
    return document.style.lines(ids, texts)


def numbered(numbers: Sequence[int], texts: Sequence[str]) -> str:
    """Lines behind their numbers, as `cat -n` shows them."""
    width = max(NUMBER, len(str(max(numbers, default=0))))
    pairs = zip(numbers, texts, strict=True)
    return "\n".join(f"{number:>{width}}\t{text}" for number, text in pairs)
