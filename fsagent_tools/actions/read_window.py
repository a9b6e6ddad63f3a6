"""The lines of a text that fit into one answer, and what stands before each of them."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

from fsagent_tools.lines.document import Document
from fsagent_tools.lines.ids import cut
from fsagent_tools.lines.source import clipped, text_of
from fsagent_tools.text import MAX_LINE_CHARS
from fsagent_tools.workspace.tracked import Tracked

PREFIX = 14  # bytes an ID and the line end add, at most
NUMBER = 6  # columns of a line number

Marks = Literal["ids", "numbers", "none"]


def window(tracked: Tracked, start: int, stop: int, most: int, widest: int) -> Sequence[bytes]:
    """The lines that fit into `most` bytes, each shown up to `widest` characters; at least one."""
    lines = tracked.fitting(start, stop, most)
    sizes = [*map(len, lines)]
    if sizes and max(sizes) <= max(widest, MAX_LINE_CHARS):
        ends = [*accumulate(sizes)]
        fit = bisect_right(range(len(ends)), most, key=lambda n: ends[n] + PREFIX * (n + 1))
        return lines[: max(1, fit)]
    room = most
    lines = []
    while start < stop and room > 0:
        line = tracked.line(start)
        room -= min(len(line), 4 * widest) + PREFIX
        if room >= 0 or not lines:
            lines.append(line)
        start += 1
    return lines


def marked(
    document: Document, start: int, lines: Sequence[bytes], widest: int, marks: Marks
) -> str:
    """The lines as a model sees them; without marks their endings stay as they are."""
    shown = clipped(lines, widest)
    if marks == "ids":
        ids = document.show(start, lines)
        if widest > MAX_LINE_CHARS and shown is lines:
            document.seen.whole.update(cut(ids))
        return document.style.lines(ids, shown)
    texts = text_of(shown)
    if marks == "numbers":
        return numbered(range(start + 1, start + 1 + len(texts)), texts)
    endings = document.lines.endings(start, start + len(lines))
    return "".join(text + end.decode() for text, end in zip(texts, endings, strict=True))


def numbered(numbers: Sequence[int], texts: Sequence[str]) -> str:
    """Lines behind their numbers, as `cat -n` shows them."""
    width = max(NUMBER, len(str(max(numbers, default=0))))
    pairs = zip(numbers, texts, strict=True)
    return "\n".join(f"{number:>{width}}\t{text}" for number, text in pairs)
