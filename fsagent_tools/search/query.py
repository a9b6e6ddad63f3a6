"""A text search, and the lines it finds, whichever engine looks for them."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple
from unicodedata import normalize

from fsagent_tools.errors import InvalidRegex
from fsagent_tools.text import EXCERPT

MAX_PATTERN = 10_000  # characters; the kernel takes no argument above 128 KB
BINARY = re.compile(
    rb"(.*): (?:WARNING: stopped searching binary file|binary file matches).*", re.DOTALL
)
_NUMBER = re.compile(rb"(\d+)(?:([:-])|\r?\Z)")
CONTINUATION = bytes(range(0x80, 0xC0))  # bytes of UTF-8 that begin no character
STDIN = "<stdin>"  # what engines call a single file
_HIT = re.compile(rb"[^\0]*\0\d+:(\d+):", re.DOTALL)
UTF8_MAX = 4  # bytes of a character
_CLUSTER = re.compile(  # what stays, or a letter with the marks that combine with it
    r"(\\.|\(\?P?<\w+>|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\])"
    r"|[\w][\u0300-\u036f\u3099\u309a\u1161-\u1175\u11a8-\u11c2]*",
    re.DOTALL,
)
_HEAD = 8192  # bytes kept of a long line besides what is shown: a path and a number go before it

OutputMode = Literal["content", "files_with_matches", "count"]


@dataclass(frozen=True)
class Query:
    """What to look for and where, beneath one directory or in one file.

    include: globs in ripgrep's dialect, to leave other files out early. noise, named: as in
    `Scope`. most: matching lines a file needs to give.
    dotall: `.` matches a newline in a multiline search. binary:
    also tell which files match that are no text.
    """

    pattern: str
    mode: OutputMode = "content"
    case_sensitive: bool = True
    multiline: bool = False
    dotall: bool = False
    context: int = 0
    include: tuple[str, ...] = ()
    type: str = ""
    recursive: bool = True
    hidden: bool = False
    noise: bool = False
    gitignore: bool = False
    named: tuple[str, ...] = ()
    most: int = 0
    max_file_size: int | None = None
    binary: bool = False

    def __post_init__(self) -> None:
        if "\0" in self.pattern:
            raise InvalidRegex("`pattern`: a regex cannot contain a NUL character.")
        if len(self.pattern) > MAX_PATTERN:
            raise InvalidRegex(f"`pattern`: longer than {MAX_PATTERN:,} characters.")
        try:
            self.pattern.encode()
        except UnicodeEncodeError:
            raise InvalidRegex("`pattern`: a lone surrogate is not a character.") from None

    @property
    def columns(self) -> bool:
        """Whether engines say where in its line a match begins."""
        return self.mode == "content"

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Query":
        return cls(**json.loads(text))


class OutputLine(NamedTuple):
    """A line of a file: `number` from 1 (in the other modes of a search, how many matched).

    path: beneath the start, "" for a single file. more: characters of `text` that were cut off.
    column: of the first match, in characters from 0, -1 where that is not known. part: what is
    around it, where that was cut off; `before` characters are before that.
    """

    path: str
    number: int
    text: bytes
    more: int = 0
    matches: bool = True
    column: int = -1
    part: bytes = b""
    before: int = 0


class Binary(NamedTuple):
    """A file that turned out not to be text; lines of it that came before do not count."""

    path: str


class _Line:
    """A line as it comes: its first bytes, those around its match, and how many characters more."""

    def __init__(self, keep: int, columns: bool) -> None:
        self.kept, self.more = bytearray(), 0
        self._keep, self._columns = keep, columns
        self._at = 0  # bytes so far
        self.low = self.hit = self._high = 0
        self.part, self.before = bytearray(), 0

    def add(self, piece: bytes) -> None:
        room = max(0, self._keep - self._at)
        self.kept += piece[:room]
        if rest := piece[room:]:
            at = max(self._at, self._keep)
            if at == self._keep and self._columns:
                self._begin_part()
            self.more += characters(rest)
            self.before += characters(rest[: max(0, self.low - at)])
            self.part += rest[max(0, self.low - at) : max(0, self._high - at)]
        self._at += len(piece)

    def _begin_part(self) -> None:
        found = _HIT.match(self.kept)
        if found and not self._high:
            start = found.end()
            self.hit = start + int(found[1]) - 1
            self.low = max(start, self.hit - UTF8_MAX * EXCERPT)
            self._high = self.hit + UTF8_MAX * EXCERPT
            self.before = characters(self.kept[start : self.low])
            self.part += self.kept[self.low : self._high]


def characters(utf8: bytes | bytearray) -> int:
    return len(utf8.translate(None, CONTINUATION))


def lines(chunks: Iterable[bytes], keep: int, *, columns: bool = False) -> Iterator[_Line]:
    r"""Split at `\n`; of each line the first `keep` bytes, and what is around its match.

    columns: where in the line the match begins stands before its text.
    """
    line, begun = _Line(keep, columns), False
    for chunk in chunks:
        for i, part in enumerate(chunk.split(b"\n")):
            if i:
                yield line
                line, begun = _Line(keep, columns), False
            line.add(part)
            begun = begun or bool(part)
    if begun:
        yield line


def parse_output(
    chunks: Iterable[bytes], keep: int, *, columns: bool = False
) -> Iterator[OutputLine | Binary]:
    r"""The output of an engine: `PATH NUL NUMBER : TEXT \n`, with `-` for a line of context.

    columns: in which byte, from 1, the match begins stands before the text: `NUMBER : BYTE :`.
    """
    before = b""  # of a path that contains a newline
    for line in lines(chunks, keep + _HEAD, columns=columns):
        path, found, rest = (before + line.kept).partition(b"\0")
        before = b""
        if found and (number := _NUMBER.match(rest)):
            matches, text, column = number[2] != b"-", rest[number.end() :], -1
            if columns and matches:
                byte, _, text = text.partition(b":")
                column = _column(text, int(byte) - 1, line)
            yield OutputLine(
                _sub(path),
                int(number[1]),
                text,
                line.more,
                matches,
                column,
                bytes(line.part),
                line.before,
            )
        elif binary := BINARY.fullmatch(path):
            yield Binary(_sub(binary[1]))
        else:
            before = path + b"\n"


def _column(text: bytes, byte: int, line: _Line) -> int:
    if byte <= len(text):
        return characters(text[:byte])
    return line.before + characters(line.part[: line.hit - line.low])


def _sub(path: bytes) -> str:
    text = path.decode("utf-8", "surrogateescape")
    return "" if text == STDIN else text.removeprefix("./")


def in_any_form(pattern: str) -> str:
    """`pattern` for letters that are composed otherwise, too, except those in its classes."""
    return pattern if pattern.isascii() else _CLUSTER.sub(_forms, pattern)


def _forms(found: re.Match[str]) -> str:
    forms = dict.fromkeys((found[0], *(normalize(form, found[0]) for form in ("NFC", "NFD"))))
    return found[0] if found[1] or len(forms) == 1 else f"(?:{'|'.join(forms)})"
