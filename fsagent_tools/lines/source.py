"""The lines of a text by byte offset, without splitting what nobody looks at."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, pairwise, starmap
from operator import itemgetter

from fsagent_tools.text import clip

Fetch = Callable[[int, int], bytes]
ToUtf8 = Callable[["Lines", bytes], bytes]
NewlineTable = list[tuple[int, int]]  # where each block begins, last the end; newlines before

_BLOCK = 64 * 1024  # bytes between two remembered line counts
_KEPT = 64  # offsets of lines that are remembered
_STARTS, _BEFORE = itemgetter(0), itemgetter(1)  # of a block in the table
_BLANKS = b" \t\r\v\f"
SWAPPED = bytes.maketrans(b"\r\n", b"\n\r")


@dataclass(frozen=True)
class Window:
    """Consecutive lines, from 0-based `start`: their UTF-8 as it stands, split when asked for."""

    start: int
    count: int
    raw: bytes
    newline: bytes

    @property
    def stop(self) -> int:
        return self.start + self.count

    @cached_property
    def lines(self) -> list[bytes]:
        """Each line without its ending."""
        return split(self.raw, self.newline)

    @cached_property
    def bare(self) -> list[bytes]:
        """Each line without its white space."""
        return bare_lines(self.lines)

    def part(self, start: int, stop: int) -> "Window":
        """Lines `start` to `stop` of the file, which must be here."""
        if (start, stop) == (self.start, self.stop):
            return self
        lines = self.lines[start - self.start : stop - self.start]
        return Window(start, stop - start, self.newline.join([*lines, b""]), self.newline)

    @property
    def text(self) -> bytes:
        r"""The lines with `\n` between them; a line feed within a line becomes `\r`."""
        if self.newline == b"\r":
            return self.raw.removesuffix(b"\r").translate(SWAPPED)
        text = self.raw.removesuffix(b"\n").removesuffix(b"\r")
        return text.replace(b"\r\n", b"\n") if b"\r" in text else text

    def within(self, limit: int) -> bool:
        """Whether no line is longer than `limit` bytes; a carriage return may count as one."""
        at, rfind = 0, self.raw.rfind
        while len(self.raw) - at > limit:
            at = rfind(self.newline, at, at + limit + 1) + 1
            if not at:
                return False
        return True

    def clips(self, limit: int) -> bool:
        """Whether a line has more than `limit` characters."""
        return not self.within(limit) and max(map(len, text_of(self.lines))) > limit

    def clipped(self, limit: int) -> bytes:
        """`text`, of each line at most `limit` characters, saying how many are hidden."""
        if self.within(limit):
            return self.text
        lines = self.text.decode(errors="replace").split("\n")
        return "\n".join(clip(line, limit) for line in lines).encode()


class Lines:
    r"""Lines of UTF-8 bytes, or of bytes that become UTF-8; line numbers here are 0-based.

    A line ends at `\n` (`\r\n` is one ending), or at `\r` in a text without `\n`; nothing else
    ends a line. `fetch(start, stop)` gives bytes, so a huge file is read a block at a time. One
    scan counts the newlines of each block; a line is then found within its block.
    """

    def __init__(
        self, fetch: Fetch, size: int, newline: bytes, table: NewlineTable | None = None
    ) -> None:
        self.fetch = fetch
        self.to_utf8: ToUtf8 | None = None  # of fetched lines; None where they are UTF-8
        self.size = size
        self.newline = newline
        self._table = table or _scan(lambda at, to: fetch(at, to).count(newline), 0, size, 0)
        self.ends_with_newline = size > 0 and fetch(size - 1, size) == newline
        self.count = self._table[-1][1] + (size > 0 and not self.ends_with_newline)
        self._offsets: dict[int, int] = {}  # of lines asked for: an edit asks for few, many times

    def through(self, fetch: Fetch, to_utf8: ToUtf8 | None) -> "Lines":
        """The same lines, fetched and made UTF-8 in another way; nothing is counted again."""
        lines = copy(self)
        lines.fetch, lines.to_utf8 = fetch, to_utf8
        return lines

    @classmethod
    def of(cls, data: bytes, newline: bytes) -> "Lines":
        """The lines of bytes in memory."""
        table = _scan(partial(data.count, newline), 0, len(data), 0)
        return cls(_fetch(data), len(data), newline, table)

    def spliced(self, data: bytes, first: int, last: int) -> "Lines":
        """The lines of `data`, which is this text with bytes `first` to `last` replaced.

        Only the blocks around the change are scanned again.
        """
        table, grown = self._table, len(data) - self.size
        head = max(0, bisect_right(table, first, hi=len(table) - 1, key=_STARTS) - 1)
        tail = bisect_left(table, last, key=_STARTS)
        (low, base), (high, before) = table[head], table[tail]
        found = _scan(partial(data.count, self.newline), low, high + grown, base)
        more = found[-1][1] - before
        below = [(start + grown, newlines + more) for start, newlines in table[tail + 1 :]]
        return Lines(_fetch(data), len(data), self.newline, table[:head] + found + below)

    def offset(self, line: int) -> int:
        """Where 0-based `line` begins; the size of the text for `line` >= count."""
        if line <= 0:
            return 0
        if line >= self.count:
            return self.size
        if (known := self._offsets.get(line)) is None:
            if len(self._offsets) >= _KEPT:
                self._offsets.clear()
            known = self._offsets[line] = self._found(line)
        return known

    def _found(self, line: int) -> int:
        block = bisect_right(self._table, line - 1, key=_BEFORE) - 1
        (start, before), (stop, after) = self._table[block : block + 2]
        return start + self._nth(self.fetch(start, stop), line - before, after - before)

    def _nth(self, text: bytes, number: int, newlines: int) -> int:
        """The offset behind newline `number` (from 1) of `newlines` in `text`: guess, then step."""
        at = len(text) * number // newlines
        found = text.count(self.newline, 0, at)
        if found < number:
            for _ in range(number - found):
                at = text.index(self.newline, at) + 1
            return at
        for _ in range(found - number + 1):
            at = text.rindex(self.newline, 0, at)
        return at + 1

    def line_at(self, offset: int) -> int:
        """The line that holds the byte at `offset`; count for the end of the text."""
        if offset >= self.size:
            return self.count
        start, before = self._table[bisect_right(self._table, offset, key=_STARTS) - 1]
        return before + self.fetch(start, offset).count(self.newline)

    def bytes_in(self, start: int, stop: int) -> int:
        """Bytes of lines `start` to `stop` as they are stored, with their endings."""
        return self.offset(stop) - self.offset(start)

    def raw(self, start: int, stop: int) -> bytes:
        """The bytes of lines `start` to `stop` (exclusive), endings included."""
        return self._utf8(self.fetch(self.offset(start), self.offset(stop)))

    def between(self, start: int, stop: int) -> list[bytes]:
        """Lines `start` to `stop` (exclusive) without their endings."""
        return split(self.raw(start, stop), self.newline)

    def window(self, start: int, stop: int) -> Window:
        """Lines `start` to `stop` (exclusive), as far as there are such lines."""
        start, stop = max(0, start), min(stop, self.count)
        return Window(start, max(0, stop - start), self.raw(start, stop), self.newline)

    def fitting(self, start: int, stop: int, most: int, each: int) -> Window:
        """The first lines that take at most `most` bytes, a line its own and `each` more.

        No more than `most` bytes are fetched.
        """
        start, stop = min(start, self.count), min(stop, self.count)
        begin, end = self.offset(start), self.offset(stop)
        raw = self.fetch(begin, min(end, begin + most))
        if end - begin > most:
            raw = raw[: raw.rfind(self.newline) + 1]
        raw = self._utf8(raw)
        if end - begin > most or len(raw) + each * (stop - start) > most:
            sizes = (len(line) + 1 + each for line in raw.split(self.newline)[:-1])
            ends = [*accumulate(sizes, initial=0)]
            fit = bisect_right(ends, most) - 1
            stop, raw = start + fit, raw[: ends[fit] - each * fit]
        return Window(start, stop - start, raw, self.newline)

    def _utf8(self, raw: bytes) -> bytes:
        return self.to_utf8(self, raw) if self.to_utf8 else raw

    def endings(self, start: int, stop: int) -> list[bytes]:
        """What ends each line: the newline, with its carriage return, or nothing at the end."""
        *lines, rest = self.raw(max(0, start), stop).split(self.newline)
        crlf = self.newline == b"\n"
        endings = [b"\r\n" if crlf and line.endswith(b"\r") else self.newline for line in lines]
        half = b"\r" if crlf and rest.endswith(b"\r") else b""  # of an ending that was cut in two
        return [*endings, half] if rest else endings


def _scan(newlines: Callable[[int, int], int], start: int, stop: int, before: int) -> NewlineTable:
    """newlines: how many are between two bytes. before: how many are before the first."""
    starts = [*range(start, stop, _BLOCK), stop]
    return [
        *zip(starts, accumulate(starmap(newlines, pairwise(starts)), initial=before), strict=True)
    ]


def _fetch(data: bytes) -> Fetch:
    return lambda start, stop: data[start:stop]


def split(raw: bytes, newline: bytes) -> list[bytes]:
    """Lines without endings; a final newline ends the last line, it does not begin another."""
    lines = raw.split(newline)
    if not lines[-1]:
        lines.pop()
    if newline == b"\n" and b"\r" in raw:
        return [line.removesuffix(b"\r") for line in lines]
    return lines


def bare_lines(lines: Sequence[bytes]) -> list[bytes]:
    """Each line without its white space."""
    bare = b"\n".join(lines).translate(None, _BLANKS).split(b"\n")
    if len(bare) == len(lines):  # else there is none, or a line feed in a file of carriage returns
        return bare
    return [b"".join(line.split()) for line in lines]


def text_of(lines: Sequence[bytes]) -> list[str]:
    """Lines for display."""
    texts = b"\n".join(lines).decode(errors="replace").split("\n")
    if len(texts) == len(lines):  # else a line feed came late in a file of carriage returns
        return texts
    return [line.decode(errors="replace") for line in lines]


def indentation(line: bytes) -> bytes:
    """The blanks and tabs that a line begins with."""
    return line[: len(line) - len(line.lstrip(b" \t"))]
