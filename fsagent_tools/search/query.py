"""What a text search looks for, and the lines that an engine prints of what it finds."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple
from unicodedata import normalize

from fsagent_tools.errors import InvalidRegex
from fsagent_tools.text import EXCERPT, MAX_LINE_CHARS, clip, excerpt

MAX_PATTERN = 10_000  # characters; the kernel takes no argument above 128 KB
STDIN = "<stdin>"  # what engines call a single file
UTF8_MAX = 4  # bytes of a character
_MAX_LINE = 64 << 20  # bytes of one line that are held
_RECORD = re.compile(
    rb"(?P<path>.*?)\0(?P<number>\d+)(?:\r?\Z|(?P<context>-)|:(?P<column>\d+):)"
    rb"|(?P<binary>.*): (?:WARNING: stopped searching binary file|binary file matches).*\Z",
    re.DOTALL,
)
_CONTINUATION = bytes(range(0x80, 0xC0))  # bytes of UTF-8 that begin no character
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
_LETTER = re.compile(  # what stays, or a letter with the marks that combine with it
    r"(\\.|\(\?P?<\w+>|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\])"
    r"|[\w][\u0300-\u036f\u3099\u309a\u1161-\u1175\u11a8-\u11c2]*",
    re.DOTALL,
)

OutputMode = Literal["content", "files_with_matches", "count"]


@dataclass(frozen=True)
class Query:
    """A pattern and which files it is looked for in.

    include: globs in ripgrep's dialect, to leave other files out early. noise, named: as in
    `Scope`. most: matching lines a file needs to give. dotall: `.` matches a newline in a
    multiline search. binary: read files with NULs, too, and name those that match.
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
    def most_of_file(self) -> int:
        """Matching lines after which a file needs no more reading; 0 for all."""
        return 1 if self.mode == "files_with_matches" else self.most


def regex_of(text: str) -> str:
    """The regex of a plain text, in ripgrep's dialect and in Python's."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def in_any_form(pattern: str) -> str:
    """`pattern` for letters that are composed otherwise, too, except those in its classes."""

    def forms(found: re.Match[str]) -> str:
        forms = dict.fromkeys((found[0], *(normalize(form, found[0]) for form in ("NFC", "NFD"))))
        return found[0] if found[1] or len(forms) == 1 else f"(?:{'|'.join(forms)})"

    return pattern if pattern.isascii() else _LETTER.sub(forms, pattern)


class OutputLine(NamedTuple):
    """A line of a file: `number` from 1 (in mode "count", how many matched).

    path: beneath the start, "" for a single file. more: characters of `text` that were cut off.
    around: of a long line, what is around the match, with its column. binary: the file turned out
    not to be text; lines of it that came before do not count.
    """

    path: str
    number: int
    text: bytes
    more: int = 0
    matches: bool = True
    around: str = ""
    binary: bool = False

    @property
    def shown(self) -> str:
        """What an answer has of it."""
        return self.around or clip(self.text.decode("utf-8", "replace"), MAX_LINE_CHARS, self.more)


def parse_output(chunks: Iterable[bytes], keep: int) -> Iterator[OutputLine]:
    r"""The output of an engine: `PATH NUL NUMBER : COLUMN : TEXT`, `PATH NUL NUMBER - TEXT` for a
    line of context, and `PATH NUL NUMBER` for a count. keep: bytes of each text that are wanted.
    """
    before = b""  # of a path that contains a newline
    for line, dropped in _lines(chunks):
        found = _RECORD.match(before + line)
        if not found:
            before += line + b"\n"
            continue
        path = (found["path"] or found["binary"] or b"").decode("utf-8", "surrogateescape")
        path = "" if path == STDIN else path.removeprefix("./")
        if found["binary"] is not None:
            yield OutputLine(path, 0, b"", matches=False, binary=True)
        else:
            text = (before + line)[found.end() :].removesuffix(b"\r")
            around = _around(text, int(found["column"]) - 1, dropped) if found["column"] else ""
            more = _characters(text[keep:]) + dropped
            matches = not found["context"]
            yield OutputLine(path, int(found["number"]), text[:keep], more, matches, around)
        before = b""


def _lines(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    r"""Split at `\n`; each with the characters of it beyond `_MAX_LINE`."""
    line, dropped = bytearray(), 0
    for chunk in chunks:
        for n, part in enumerate(chunk.split(b"\n")):
            if n:
                yield bytes(line), dropped
                line, dropped = bytearray(), 0
            room = _MAX_LINE - len(line)
            line += part[:room]
            dropped += _characters(part[room:])
    if line:
        yield bytes(line), dropped


def _around(text: bytes, byte: int, dropped: int) -> str:
    if len(text) <= MAX_LINE_CHARS or (total := _characters(text) + dropped) <= MAX_LINE_CHARS:
        return ""
    low = max(0, byte - UTF8_MAX * EXCERPT)
    part = text[low : byte + UTF8_MAX * EXCERPT].decode("utf-8", "ignore")
    return excerpt(part, _characters(text[:byte]), _characters(text[:low]), total)


def _characters(utf8: bytes) -> int:
    return len(utf8.translate(None, _CONTINUATION))
