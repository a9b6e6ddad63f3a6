"""The lines of a text that fit into one answer, and what stands before each of them."""

from collections.abc import Sequence
from typing import Literal

from fsagent_tools.errors import TooLarge
from fsagent_tools.lines.document import Document
from fsagent_tools.lines.ids import cut
from fsagent_tools.lines.source import Window
from fsagent_tools.text import MAX_LINE_CHARS, clip
from fsagent_tools.workspace.tracked import Tracked

TAG = 13  # bytes an ID adds to a line, at most
NUMBER = 6  # columns of a line number
LONGEST = 16 << 20  # bytes of a line that is still shown

Marks = Literal["ids", "numbers", "none"]


def window(tracked: Tracked, start: int, stop: int, most: int, widest: int) -> Window:
    """The lines that fit into `most` bytes, each shown up to `widest` characters; at least one.

    Raises `TooLarge` when the first one is longer than `LONGEST`.
    """
    found = tracked.fitting(start, stop, most, TAG)
    whole = max(widest, MAX_LINE_CHARS)
    shortened = found.stop < stop and tracked.length(found.stop) > whole  # it takes less, cut off
    if found.count and found.within(whole) and not shortened:
        return found
    end, room = start, most
    while end < stop:
        size = tracked.length(end)
        room -= min(size, 4 * widest) + TAG
        if end > start and (room < 0 or size > LONGEST):
            break
        if size > LONGEST:
            raise TooLarge(
                f"Line {end + 1} of {tracked.relative} has {size:,} bytes, more than {LONGEST:,}.",
                hint="Use grep to find the part you need.",
            )
        end += 1
    return tracked.window(start, end)


def marked(document: Document, shown: Window, widest: int, marks: Marks) -> str:
    """The lines as a model sees them; without marks their endings stay as they are."""
    if marks == "ids":
        ids = document.show(shown)
        if widest > MAX_LINE_CHARS and shown.within(widest):
            document.seen.whole.update(cut(ids))
        return document.style.lines(ids, shown.clipped(widest))
    if marks == "none":
        return _plain(shown, widest)
    texts = shown.clipped(widest).decode(errors="replace").split("\n") if shown.count else []
    return numbered(range(shown.start + 1, shown.stop + 1), texts)


def _plain(shown: Window, widest: int) -> str:
    if shown.within(widest):
        return shown.raw.decode(errors="replace")
    newline = shown.newline.decode()
    lines = shown.raw.decode(errors="replace").split(newline)
    return newline.join(
        clip(line.removesuffix("\r"), widest) + line[len(line.removesuffix("\r")) :]
        for line in lines
    )


def numbered(numbers: Sequence[int], texts: Sequence[str]) -> str:
    """Lines behind their numbers, as `cat -n` shows them."""
    width = max(NUMBER, len(str(max(numbers, default=0))))
    pairs = zip(numbers, texts, strict=True)
    return "\n".join(f"{number:>{width}}\t{text}" for number, text in pairs)
