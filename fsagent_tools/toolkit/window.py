"""What a read answers: the lines that fit into it, and what stands before each of them."""

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fsagent_tools.errors import InvalidArguments, TooLarge, ToolError
from fsagent_tools.lines.document import Document
from fsagent_tools.lines.ids import split_ids
from fsagent_tools.lines.source import Lines, Window, text_of
from fsagent_tools.results import Block
from fsagent_tools.text import MAX_LINE_CHARS, clip

_LINES = re.compile(r"(?:(.+?):)?(\d+)(?:[-:](\d+))?")
_NUMBER = 6  # columns of a line number
_LONGEST = 16 << 20  # bytes of a line that is still shown
_BLOCK = 1 << 20  # bytes of a longer one that are looked at at a time
_WHOLE = 64 << 20  # bytes of lines that a host gets at once

Marks = Literal["ids", "numbers", "none"]


@dataclass(frozen=True)
class Read:
    """A window of a file, lines `offset` to `end_line`, from 1; `mtime` seconds since 1970.

    truncated: less is shown than was asked for, or than there is if no window was. blocks: its
    pictures. note: how to go on.
    """

    content: str
    line_count: int
    total_lines: int
    truncated: bool
    offset: int
    end_line: int
    path: str
    absolute: str
    size: int
    mtime: float
    note: str
    blocks: tuple[Block, ...] = ()
    _text: str = ""  # for the model, where `content` is more than it gets

    def render(self) -> str:
        if not self.total_lines:
            return f"({self.path} is empty)"
        return self._text or self.content


@dataclass(frozen=True)
class ReadPicture(Read):
    """An image file; `image_data` is base64."""

    image_data: str = ""


@dataclass(frozen=True)
class Bounds:
    """Bytes of an answer, characters of a line, and the bytes of the mark before each line."""

    most: int
    widest: int
    mark: int


def window_start(offset: int, total: int, name: str) -> int:
    """The first line of a window, from 0. Raises `InvalidArguments` when it is past the end."""
    start = offset - 1
    if start >= total and (total or start):
        has = "1 line" if total == 1 else f"{total} lines"
        raise InvalidArguments(f"`offset`={offset} is past the end; {name} has {has}.")
    return start


def mark_bytes(document: Document, marks: Marks, stop: int) -> int:
    """What stands before one line, at most, in a window that ends at line `stop`."""
    numbers = max(_NUMBER, len(str(stop))) + 1
    return {"ids": document.style.widest, "numbers": numbers, "none": 0}[marks]


def window(document: Document, start: int, stop: int, bounds: Bounds) -> Window:
    """The lines that fit into an answer as they are shown; at least one.

    Raises `TooLarge` when the first one is longer than can be shown.
    """
    lines = document.lines
    whole, room = _fit(lines, start, stop, bounds.most, bounds)
    found = whole
    while (end := found.stop) < stop:
        size = lines.bytes_in(end, end + 1)
        least = min(size - 1, bounds.widest) + bounds.mark
        if end > start and (least > room or lines.bytes_in(start, end + 1) > _LONGEST):
            break
        if size > _LONGEST:
            raise TooLarge(
                f"Line {end + 1} of {document.name} has {size:,} bytes, more than {_LONGEST:,}.",
                hint=f"Read a part of it: `path`={document.name}:{end + 1}:1, from column 1 on. "
                "`grep` tells the columns of what you need.",
            )
        room -= _taken(lines.window(end, end + 1), bounds)
        if end > start and room < 0:
            break
        found, room = _fit(lines, end + 1, stop, room, bounds)
    return whole if end == whole.stop else lines.window(start, end)


def part_of_line(lines: Lines, line: int, before: int, most: int) -> tuple[str, int]:
    """The text of a line behind its first `before` characters, at most `most` bytes of it, and how
    many characters the line has. A long line is not held as a whole.
    """
    parts, room, count = list[str](), most, 0
    for text in _pieces(lines, line):
        wanted = text[max(0, before - count) :]
        part = wanted.encode()[:room].decode(errors="ignore")
        room = room - len(part.encode()) if part == wanted else 0
        parts.append(part)
        count += len(text)
    return "".join(parts), count


def _pieces(lines: Lines, line: int) -> Iterator[str]:
    start, stop = lines.offset(line), lines.offset(line + 1)
    if stop - start <= _LONGEST:
        yield from text_of(lines.between(line, line + 1))
        return
    for ending in (lines.newline, b"\r"):
        stop -= lines.fetch(stop - 1, stop) == ending
    decoder = getincrementaldecoder("utf-8")("replace")
    for at in range(start, stop, _BLOCK):
        end = min(stop, at + _BLOCK)
        yield decoder.decode(lines.fetch(at, end), end == stop)


def _fit(lines: Lines, start: int, stop: int, room: int, b: Bounds) -> tuple[Window, int]:
    """The lines that fit into `room`, which is what they are long, and the room that is left."""
    found = lines.fitting(start, stop, max(0, room), b.mark)
    while found.count and (left := room - _taken(found, b)) < 0:  # what is clipped says so
        found = lines.window(start, found.stop - 1)
    return found, left if found.count else room


def _taken(found: Window, b: Bounds) -> int:
    """Bytes of the lines as they are shown."""
    if found.within(b.widest):
        return len(found.raw) + b.mark * found.count
    clipped = (clip(text, b.widest) for text in text_of(found.lines))
    return sum(len(text.encode()) + 1 + b.mark for text in clipped)


def whole(document: Document, start: int, stop: int) -> str:
    """All those lines as they are, for a host. Raises `TooLarge`."""
    size = document.lines.bytes_in(start, stop)
    if size > _WHOLE:
        raise TooLarge(
            f"{size:,} bytes of {document.name} are more than {_WHOLE:,}.",
            hint="Set `offset` and `limit`.",
        )
    return document.lines.raw(start, stop).decode(errors="replace")


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


def beside_numbers(shown: Window, text: str) -> str:
    """Lines that stand behind their IDs, with their numbers before these."""
    rows = enumerate(text.split("\n"), shown.start + 1) if shown.count else ()
    return "\n".join(f"{number} {row}" for number, row in rows)


def numbered(numbers: Sequence[int], texts: Sequence[str]) -> str:
    """Lines behind their numbers, as `cat -n` shows them."""
    width = max(_NUMBER, len(str(max(numbers, default=0))))
    pairs = zip(numbers, texts, strict=True)
    return "\n".join(f"{number:>{width}}\t{text}" for number, text in pairs)


def together(
    first: Read, parts: Sequence[str], room: int, read: Callable[[str, int, int | None, int], Read]
) -> tuple[str, list[Read]]:
    """Each part under its name, in what room those before it left, and what could be read.

    parts: files, or lines of one such as `a.py:10-20`, without a name those of the first. read: is
    given a path, the first and the last line, and the bytes that are left. What a part lacks stands
    in its place.
    """
    texts, every = [_titled(first)], [first]
    for part in parts:
        left = room - sum(len(text.encode()) + 1 for text in texts)
        named = _LINES.fullmatch(part)
        path, start, end = named.groups() if named else (part, "1", None)
        low, high = sorted(map(int, (start, end or start)))
        try:
            if left <= 0:
                raise ToolError("Not read: the answer is full.", hint="Read it in another call.")
            every.append(read(path or "", low, high if named else None, left))
            texts.append(_titled(every[-1]))
        except ToolError as refusal:
            texts.append(f"== {part}\nError: {refusal}")
    return "\n".join(texts), every


def _titled(found: Read) -> str:
    lines = f"lines {found.offset}-{found.end_line} of {found.total_lines}"
    return f"== {found.path}, {lines}\n{found.render()}"
