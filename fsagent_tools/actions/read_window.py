"""The lines of a text that fit into one answer, and what stands before each of them."""

from collections.abc import Sequence
from typing import Literal

from fsagent_tools.lines.document import Document
from fsagent_tools.lines.ids import cut
from fsagent_tools.lines.source import Window
from fsagent_tools.text import MAX_LINE_CHARS
from fsagent_tools.workspace.tracked import Tracked

TAG = 13  # bytes an ID adds to a line, at most
NUMBER = 6  # columns of a line number

Marks = Literal["ids", "numbers", "none"]


def window(tracked: Tracked, start: int, stop: int, most: int, widest: int) -> Window:
    """The lines that fit into `most` bytes, each shown up to `widest` characters; at least one."""
    found = tracked.fitting(start, stop, most, TAG)
    if found.count and found.within(max(widest, MAX_LINE_CHARS)):
        return found
    end, room = start, most
    while end < stop:
        room -= min(tracked.length(end), 4 * widest) + TAG
        if room < 0 and end > start:
            break
        end += 1
    return tracked.window(start, end)


def marked(document: Document, window: Window, widest: int, marks: Marks) -> str:
    """The lines as a model sees them; without marks their endings stay as they are."""
    if marks == "ids":
        ids = document.show(window)
        if widest > MAX_LINE_CHARS and window.within(widest):
            document.seen.whole.update(cut(ids))
        return document.style.lines(ids, window.clipped(widest))
    if marks == "none" and window.within(widest):
        return window.raw.decode()
    texts = window.clipped(widest).decode().split("\n") if window.count else []
    if marks == "numbers":
        return numbered(range(window.start + 1, window.stop + 1), texts)
    endings = document.lines.endings(window.start, window.stop)
    return "".join(text + end.decode() for text, end in zip(texts, endings, strict=True))


def numbered(numbers: Sequence[int], texts: Sequence[str]) -> str:
    """Lines behind their numbers, as `cat -n` shows them."""
    width = max(NUMBER, len(str(max(numbers, default=0))))
    pairs = zip(numbers, texts, strict=True)
    return "\n".join(f"{number:>{width}}\t{text}" for number, text in pairs)
