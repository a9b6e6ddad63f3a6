"""Line IDs: how one is minted, spelled before its line, and read from what a model typed."""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import chain, count, filterfalse
from pathlib import Path
from struct import unpack
from typing import Literal
from zlib import crc32

from fsagent_tools.lines.source import Window

WIDTH = 6  # hex digits
SIZE = WIDTH // 2  # bytes
_digest = type(sha256()).digest
_DIGEST = sha256().digest_size
_BLANK = 1 << 23  # from here on blank lines are numbered; they show no mark
_KEPT = 1 << 14  # marks that a process keeps
StyleName = Literal["tag", "words"]
_HEX = r"[0-9a-fA-F]{6}(?![0-9a-fA-F])"
_WORD = r"[a-zA-Z]{3}(?:\.[a-zA-Z]{3})*(?![\w.])"
_BEFORE = r"\s*(?:\d+\s+)?[+`'\"]?\s*\[?\s*(?:LID:)?\s*"
_BEHIND = r"(?:\]:?|\||:(?=\s|$)|[`'\"](?=\s|$)|(?=\s)|$)(.*)"
_NAMED = re.compile(rf"{_BEFORE}([\w.]+){_BEHIND}", re.S)


class IdSet:
    """A set of IDs that keeps them as numbers, in a fifth of the time that strings take."""

    def __init__(self, ids: str = "") -> None:
        self.numbers = {*numbers_of(bytes.fromhex(ids))}

    def __contains__(self, line_id: str) -> bool:
        return not self.numbers.isdisjoint(numbers_of(bytes.fromhex(line_id)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdSet) and self.numbers == other.numbers

    def add(self, ids: str) -> None:
        """Add the IDs in one string."""
        self.numbers.update(numbers_of(bytes.fromhex(ids)))

    def without(self, ids: str) -> str:
        """Those of the IDs in one string that are not there."""
        numbers = numbers_of(bytes.fromhex(ids))
        pairs = zip(split_ids(ids), numbers, strict=True)
        return "".join(line_id for line_id, number in pairs if number not in self.numbers)

    def claim(self, ids: bytes | bytearray) -> list[int]:
        """Add the IDs, `SIZE` bytes each; returns the places of those that were there before."""
        numbers, known = numbers_of(ids), self.numbers
        if len(fresh := {*numbers}) == len(numbers) and fresh.isdisjoint(known):
            known |= fresh
            return []
        first = {number: n for n, number in reversed([*enumerate(numbers)])}
        taken = [n for n, number in enumerate(numbers) if number in known or first[number] < n]
        known.update(numbers)
        return taken


def numbers_of(ids: bytes | bytearray) -> list[int]:
    """The IDs, `SIZE` bytes each, as `IdSet` keeps them."""
    wide = bytearray(len(ids) // 3 * 4)
    wide[::4], wide[1::4], wide[2::4] = ids[::3], ids[1::3], ids[2::3]
    return memoryview(wide).cast("I").tolist()


def ids_of(numbers: Sequence[int]) -> bytearray:
    """The other way round."""
    wide = array("I", numbers).tobytes()
    ids = bytearray(len(numbers) * SIZE)
    ids[::3], ids[1::3], ids[2::3] = wide[::4], wide[1::4], wide[2::4]
    return ids


def mint(first: int, lines: Sequence[bytes], used: IdSet) -> str:
    """Fresh IDs, in one string, for consecutive lines (UTF-8, no ending) from 1-based line `first`.

    Of sha256(f"{line_num}:{content}") the first 6 digits, salted until none of `used` is the same;
    that receives every ID, so that none is ever given out twice.
    """
    seeds = [*map(b"%d:%b".__mod__, enumerate(lines, first))]
    ids = _heads(seeds)
    for place in used.claim(ids):
        salt = 1
        while used.claim(other := _heads([b"%b:%d" % (seeds[place], salt)])):
            salt += 1
        ids[place * SIZE : (place + 1) * SIZE] = other
    return ids.hex()


def _heads(seeds: Iterable[bytes]) -> bytearray:
    """The first `SIZE` bytes of the SHA-256 of each seed, one behind the other."""
    digests = b"".join(map(_digest, map(sha256, seeds)))
    cut = bytearray(len(digests) // _DIGEST * SIZE)
    for byte in range(SIZE):
        cut[byte::SIZE] = digests[byte::_DIGEST]
    return cut


def split_ids(ids: str) -> list[str]:
    """The IDs in one string."""
    return [ids[k : k + WIDTH] for k in range(0, len(ids), WIDTH)]


@cache
def id_words() -> tuple[str, ...]:
    """Three letters each, one token on all tokenizers tried, no words of code; near ones differ."""
    return tuple(Path(__file__).with_name("words.txt").read_text("ascii").split())


@cache
def _places() -> dict[str, int]:
    return {word: place for place, word in enumerate(id_words(), 1)}


def word_of(line_id: str) -> str:
    """The ID as a model sees it; "" for that of a blank line."""
    return _word(int.from_bytes(bytes.fromhex(line_id), "little"))


def _word(number: int) -> str:
    words = id_words()
    if number < len(words):
        return words[number]
    if number >= _BLANK:
        return ""
    number, place = divmod(number, len(words))
    return f"{_word(number - 1)}.{words[place]}"


def id_of(typed: str) -> str | None:
    """The ID that words joined by full stops stand for."""
    places, number = _places(), 0
    for word in typed.split("."):
        if word not in places or number > _BLANK:
            return None
        number = number * len(places) + places[word]
    return (number - 1).to_bytes(SIZE, "little").hex() if number <= _BLANK else None


class _Marks(dict[int, bytes]):
    """What stands before a line, by the number of its ID."""

    def __missing__(self, number: int) -> bytes:
        mark = f"{word}\t".encode() if (word := _word(number)) else b""
        if len(self) < _KEPT:
            self[number] = mark
        return mark


_marks = _Marks()


def word_marks(ids: str) -> Sequence[bytes]:
    """What stands before each line: its word and a tab, nothing before a blank one."""
    return [*map(_marks.__getitem__, numbers_of(bytes.fromhex(ids)))]


def mint_words(first: int, bare: Sequence[bytes], used: IdSet, name: str = "") -> str:
    """Fresh IDs, in one string, for consecutive lines (no white space) from 1-based line `first`.

    Single words as long as there are any, from a place that differs from text to text, and between
    equal texts by the file's `name`: an ID that is sent with the path of another file should not
    fit there. `used` receives every ID, so that none is ever given out twice.
    """
    taken = used.numbers
    visible = _visible(
        crc32(b"%d:%b" % (first, bare[0]), crc32(name.encode(errors="replace"))) % len(id_words()),
        taken,
    )
    blank = count(max(_BLANK, max(taken, default=0) + 1))
    numbers = [next(visible if line else blank) for line in bare]
    taken.update(numbers)
    return ids_of(numbers).hex()


def _visible(start: int, taken: Set[int]) -> Iterator[int]:
    """Numbers that are not taken, those of single words first."""
    single = len(id_words())
    yield from filterfalse(taken.__contains__, chain(range(start, single), range(start)))
    yield from count(max([single, *(n + 1 for n in taken if n < _BLANK)]))


@dataclass(frozen=True)
class Typed:
    """What a model typed for an ID, and what it quoted of the text that begins there.

    line_id: the one that it stands for, None where it has not the shape of one.
    """

    name: str
    quote: str
    line_id: str | None


@dataclass(frozen=True)
class Style:
    """How an ID stands before its line: `before` and `after` it, in a label and `ends` it."""

    name: StyleName
    before: str = ""
    after: str = "|"
    ends: str = ""

    shape = "6 hex digits such as a3f2c1"
    quoted = False  # whether the first words of its line must follow an ID
    _typed = re.compile(rf"{_BEFORE}({_HEX}){_BEHIND}", re.S)
    _echo = re.compile(r"[ +]?\[?(?:LID:)?([0-9a-f]{6})(?:\] ?|[| \t])")  # half a prefix, too

    @property
    def widest(self) -> int:
        """Bytes of a mark, at most."""
        return len(self.before) + WIDTH + len(self.after)

    def mint(self, window: Window, used: IdSet, name: str = "") -> str:
        """Fresh IDs, in one string, for the lines of `window`; `used` receives them.

        name: of the file; words take it in, digits are those of their document.
        """
        return mint(window.start + 1, window.lines, used)

    def lines(self, ids: str, text: bytes) -> str:
        r"""UTF-8 text with `\n` between its lines as a model sees it, and one ID for each line."""
        if not ids:
            return ""
        mark, values = self._marks(ids)
        form = mark + text.replace(b"%", b"%%").replace(b"\n", b"\n" + mark)
        shown = form % tuple(values)
        return shown.decode(errors="replace")  # only a window of a huge file may be no UTF-8

    def label(self, line_id: str) -> str:
        """The ID, as `spelled`, inside another format (`file:42:[LID:a3f2c1]:text`)."""
        return f"{self.before}{line_id}{self.ends}"

    def line(self, line_id: str, text: str) -> str:
        """One line behind its ID, as `spelled`."""
        return f"{self.before}{line_id}{self.after}{text}"

    def spelled(self, line_id: str) -> str:
        """The ID as a model names it; "" where the style gives that line no mark."""
        return line_id

    def parse(self, typed: str) -> Typed:
        """`a3f2c1`, `LID:a3f2c1`, `[LID:a3f2c1]`, also with text of the line behind it."""
        match, line_id = self._typed.match(typed), None
        if match:
            line_id = self._read(match[1])
        elif not (match := _NAMED.match(typed)):
            return Typed("", "", None)
        return Typed(match[1].lower(), match[2].strip(), line_id)

    def strip_echo(self, line: str, known: IdSet) -> str | None:
        """`line` without a read prefix whose ID this file knows; None without such a prefix."""
        match = self._echo.match(line)
        line_id = match and self._read(match[1])
        return line[match.end() :] if match and line_id and line_id in known else None

    def is_marked(self, line: str, known: IdSet) -> bool:
        """Whether `line` may begin with an ID of this file that `strip_echo` leaves there."""
        return False

    def _read(self, typed: str) -> str | None:
        return typed.lower()

    def _marks(self, ids: str) -> tuple[bytes, Sequence[bytes]]:
        """The mark before a line, with a place for what differs, and that of each line."""
        values = unpack(f"{WIDTH}s" * (len(ids) // WIDTH), ids.encode())
        return f"{self.before}%b{self.after}".encode(), values


class _Words(Style):
    shape = "words such as those before the lines"
    quoted = True
    _typed = re.compile(rf"{_BEFORE}({_WORD}){_BEHIND}", re.S)
    _echo = re.compile(rf"[ +]?({_WORD})\t")

    @property
    def widest(self) -> int:
        return 8  # two words

    def mint(self, window: Window, used: IdSet, name: str = "") -> str:
        return mint_words(window.start + 1, window.bare, used, name)

    def spelled(self, line_id: str) -> str:
        return word_of(line_id)

    def is_marked(self, line: str, known: IdSet) -> bool:
        """With a blank behind it an ID may be a word of the text."""
        line_id = id_of(line.lstrip("+ ").partition(" ")[0])
        return line_id is not None and line_id in known

    def _read(self, typed: str) -> str | None:
        return id_of(typed.lower())

    def _marks(self, ids: str) -> tuple[bytes, Sequence[bytes]]:
        return b"%b", word_marks(ids)


STYLES: dict[StyleName, Style] = {
    "tag": Style("tag", "[LID:", "] ", "]"),
    "words": _Words("words", after="\t"),
}
