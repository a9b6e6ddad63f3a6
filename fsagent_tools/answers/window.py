"""The lines of a text that fit into one answer, and what stands before each of them."""

from collections.abc import Sequence
from typing import Literal

from fsagent_tools.errors import TooLarge
from fsagent_tools.lines.document import Document
from fsagent_tools.lines.ids import split_ids
from fsagent_tools.lines.source import Window
from fsagent_tools.text import MAX_LINE_CHARS, clip

_TAG = 13  # bytes an ID adds to a line, at most
_NUMBER = 6  # columns of a line number
_LONGEST = 16 << 20  # bytes of a line that is still shown

Marks = Literal["ids", "numbers", "none"]


def window(document: Document, start: int, stop: int, most: int, widest: int) -> Window:
    """The lines that fit into `most` bytes, each shown up to `widest` characters; at least one.

    A line that would not fit is cut off, so it may take less. Raises `TooLarge` when that is more
    than `LONGEST` and the first one.
    """
    lines = document.lines
    whole = found = lines.fitting(start, stop, most, _TAG)
    room = most - _taken(found, widest)
    while (end := found.stop) < stop:
        size = lines.bytes_in(end, end + 1)
        room -= min(size, 4 * widest) + _TAG
        if end > start and (room < 0 or lines.bytes_in(start, end + 1) > _LONGEST):
            break
        if size > _LONGEST:
            raise TooLarge(
                f"Line {end + 1} of {document.name} has {size:,} bytes, more than {_LONGEST:,}.",
                hint="Use `grep` to find the part you need.",
            )
        found = lines.fitting(end + 1, stop, max(0, room), _TAG)
        room -= _taken(found, widest)
    return whole if end == whole.stop else lines.window(start, end)


def _taken(found: Window, widest: int) -> int:
    if found.within(4 * widest):
        return len(found.raw) + _TAG * found.count
    return sum(min(len(line) + 1, 4 * widest) + _TAG for line in found.lines)


def marked(document: Document, shown: Window, widest: int, marks: Marks) -> str:
    """The lines as a model sees them; without marks their endings stay as they are."""
    if marks == "ids":
        ids = document.show(shown)
        text = shown.clipped(widest)
        if widest > MAX_LINE_CHARS and text == shown.text:
            document.seen.whole.update(split_ids(ids))
        return document.style.lines(ids, text)
    if marks == "none":
        return _plain(shown, widest)
    texts = shown.clipped(widest).decode(errors="replace").split("\n") if shown.count else []
    return numbered(range(shown.start + 1, shown.stop + 1), texts)


def _plain(shown: Window, widest: int) -> str:
    if shown.within(widest):
        return shown.raw.decode(errors="replace")
    newline = shown.newline.decode()
    parts = []
    for line in shown.raw.decode(errors="replace").split(newline):
        text = line.removesuffix("\r")
        parts.append(clip(text, widest) + line[len(text) :])
    return newline.join(parts)


def numbered(numbers: Sequence[int], texts: Sequence[str]) -> str:
    """Lines behind their numbers, as `cat -n` shows them."""
    width = max(_NUMBER, len(str(max(numbers, default=0))))
    pairs = zip(numbers, texts, strict=True)
    return "\n".join(f"{number:>{width}}\t{text}" for number, text in pairs)
