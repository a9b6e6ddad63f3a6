"""A text search, and the lines it finds, whichever engine looks for them."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Literal, NamedTuple

from fsagent_tools.errors import InvalidRegex
from fsagent_tools.records import dataclass

MAX_PATTERN = 10_000  # characters; the kernel takes no argument above 128 KB
BINARY = re.compile(
    rb"(.*): (?:WARNING: stopped searching binary file|binary file matches).*", re.DOTALL
)
_NUMBER = re.compile(rb"(\d+)(?:([:-])|\r?\Z)")
CONTINUATION = bytes(range(0x80, 0xC0))  # bytes of UTF-8 that begin no character
STDIN = "<stdin>"  # what engines call a single file
_HEAD = 8192  # bytes kept of a long line besides what is shown: a path and a number go before it

OutputMode = Literal["content", "files_with_matches", "count"]


@dataclass(frozen=True)
class Query:
    """What to look for and where, beneath one directory or in one file.

    include: globs in ripgrep's dialect, to leave other files out early. noise, named: as in
    `Scope`. most: matching lines a file needs to give.
    dotall: `.` matches a newline in a multiline search. invert: lines outside all matches.
    """

    pattern: str
    mode: OutputMode = "content"
    case_sensitive: bool = True
    multiline: bool = False
    dotall: bool = False
    context: int = 0
    invert: bool = False
    include: tuple[str, ...] = ()
    type: str = ""
    recursive: bool = True
    hidden: bool = False
    noise: bool = False
    gitignore: bool = False
    named: tuple[str, ...] = ()
    most: int = 0
    max_file_size: int | None = None

    def __post_init__(self) -> None:
        if "\0" in self.pattern:
            raise InvalidRegex("`pattern`: a regex cannot contain a NUL character.")
        if len(self.pattern) > MAX_PATTERN:
            raise InvalidRegex(f"`pattern`: longer than {MAX_PATTERN:,} characters.")
        try:
            self.pattern.encode()
        except UnicodeEncodeError:
            raise InvalidRegex("`pattern`: a lone surrogate is not a character.") from None

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Query":
        return cls(**json.loads(text))


class OutputLine(NamedTuple):
    """A line of a file: `number` from 1 (in the other modes of a search, how many matched).

    path: beneath the start, "" for a single file. more: characters of `text` that were cut off.
    """

    path: str
    number: int
    text: bytes
    more: int = 0
    matches: bool = True


class Binary(NamedTuple):
    """A file that turned out not to be text; lines of it that came before do not count."""

    path: str


def lines(chunks: Iterable[bytes], keep: int) -> Iterator[tuple[bytes, int]]:
    r"""Split at `\n`; of each line the first `keep` bytes, and how many characters more it has."""
    kept: list[bytes] = []
    size = more = 0
    for chunk in chunks:
        for i, part in enumerate(chunk.split(b"\n")):
            if i:
                yield b"".join(kept), more
                kept, size, more = [], 0, 0
            room = max(0, keep - size)
            kept.append(part[:room])
            size += len(part)
            if len(part) > room:
                more += len(part[room:].translate(None, CONTINUATION))
    if size:
        yield b"".join(kept), more


def parse_output(chunks: Iterable[bytes], keep: int) -> Iterator[OutputLine | Binary]:
    r"""The output of an engine: `PATH NUL NUMBER : TEXT \n`, with `-` for a line of context."""
    before = b""  # of a path that contains a newline
    for raw, more in lines(chunks, keep + _HEAD):
        path, found, rest = (before + raw).partition(b"\0")
        before = b""
        if found and (number := _NUMBER.match(rest)):
            yield OutputLine(
                _sub(path), int(number[1]), rest[number.end() :], more, number[2] != b"-"
            )
        elif binary := BINARY.fullmatch(path):
            yield Binary(_sub(binary[1]))
        else:
            before = path + b"\n"


def _sub(path: bytes) -> str:
    text = path.decode("utf-8", "surrogateescape")
    return "" if text == STDIN else text.removeprefix("./")
