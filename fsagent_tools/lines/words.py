"""IDs as words that are one token: the index keeps numbers, a model sees `amp` or `amp.bek`."""

from collections.abc import Iterator, Sequence, Set
from functools import cache
from itertools import chain, count, filterfalse
from pathlib import Path
from zlib import crc32

from fsagent_tools.lines.ids import SIZE, IdSet, ids_of, numbers_of

_BLANK = 1 << 23  # from here on blank lines are numbered; they show no mark
_KEPT = 1 << 14  # marks that a process keeps


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
