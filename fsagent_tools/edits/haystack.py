"""A text as lines that remember where they came from."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from fsagent_tools.edits.spans import Span
from fsagent_tools.text import newline_of

BLANKS = b" \t"
INDENT = re.compile(rb"[ \t]*")
Check = Callable[[], None]  # is called again and again in long work; raises to end it
AT_ONCE = 4096  # lines between two calls


def go_on() -> None:
    """Lets work take as long as it takes."""


class Haystack:
    """UTF-8 text split at its newline; a line of a CRLF file keeps its carriage return."""

    def __init__(self, text: bytes, check: Check = go_on) -> None:
        self.text = text
        self.check = check
        self.newline = newline_of(text)

    @cached_property
    def lines(self) -> list[bytes]:
        return self.text.split(self.newline)

    @cached_property
    def offsets(self) -> list[int]:
        """Where each line begins."""
        return [0, *accumulate(len(line) + 1 for line in self.lines[:-1])]

    @cached_property
    def ending(self) -> bytes:
        """The dominant line ending."""
        if self.newline == b"\r":
            return b"\r"
        return b"\r\n" if self._crlf * 2 > self._newlines else b"\n"

    @cached_property
    def mixed(self) -> bool:
        """True where some line ends otherwise than the dominant ending says."""
        return self.newline == b"\n" and 0 < self._crlf < self._newlines

    @cached_property
    def _crlf(self) -> int:
        return self.text.count(b"\r\n") if b"\r" in self.text else 0

    @cached_property
    def _newlines(self) -> int:
        return self.text.count(b"\n") if self._crlf else 0  # nobody asks without a CRLF

    def parts(self) -> Iterator[Sequence[bytes]]:
        """The lines, some at a time; each time the work may end."""
        for start in range(0, len(self.lines), AT_ONCE):
            self.check()
            yield self.lines[start : start + AT_ONCE]

    def line_of(self, offset: int) -> int:
        """0-based line that holds the byte."""
        return bisect_right(self.offsets, offset) - 1

    def block(self, first: int, count: int, *, closed: bool) -> Span:
        """Whole lines; `closed` takes in the ending of the last one."""
        last = first + count - 1
        end = self.offsets[last] + len(self.lines[last])
        if closed:
            return Span(self.offsets[first], min(end + 1, len(self.text)))
        return Span(self.offsets[first], end - self.lines[last].endswith(b"\r"))


def split_lines(text: bytes) -> list[bytes]:
    r"""Lines of a text that a model sent, whichever endings it used."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")


def indent_of(line: bytes) -> bytes:
    found = INDENT.match(line)
    return found.group() if found else b""
