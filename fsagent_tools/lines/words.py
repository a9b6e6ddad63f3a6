"""IDs as words that are one token: the index keeps numbers, a model sees `amp` or `amp.bek`."""

from collections import deque
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from functools import cache
from pathlib import Path
from zlib import crc32

from fsagent_tools.lines.ids import SIZE, WIDTH, IdSet, ids_of, numbers_of, split_ids

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


_first: deque[tuple[str, list[bytes]]] = deque([("", [])], 1)


def _spelled_first(count: int) -> tuple[str, list[bytes]]:
    """At least the first so many IDs, in one string, and what stands before their lines.

    Single words come first. The longest that was asked for is kept.
    """
    ids, marks = _first[0]
    if len(marks) < count:
        more = _spelled(range(len(marks), count))
        ids, marks = ids + more[0], [*marks, *more[1]]
        if count <= _KEPT:
            _first.append((ids, marks))
    return ids, marks


def _spelled(numbers: Sequence[int]) -> tuple[str, list[bytes]]:
    return ids_of(numbers).hex(), [*map(_marks.__getitem__, numbers)]


_minted: deque[tuple[str, list[bytes]]] = deque([("", [])], 1)  # last, so they are shown next


def word_marks(ids: str) -> Sequence[bytes]:
    """What stands before each line: its word and a tab, nothing before a blank one."""
    minted, marks = _minted[0]
    if ids == minted:
        return marks
    return [*map(_marks.__getitem__, numbers_of(bytes.fromhex(ids)))]


def mint_words(first: int, bare: Sequence[bytes], used: IdSet) -> str:
    """Fresh IDs, in one string, for consecutive lines (no white space) from 1-based line `first`.

    Single words as long as there are any, from a place that differs from text to text; `used`
    receives every ID, so that none is ever given out twice.
    """
    start = crc32(b"%d:%b" % (first, bare[0])) % len(id_words())
    taken, blank = used.numbers, [*_blank(bare)]
    ids, marks = _visible(start, len(bare) - len(blank), taken)
    if blank:
        above = max(_BLANK, max(taken, default=0) + 1)
        ids, marks = _among(ids, marks, blank, above)
    _minted.append((ids, marks))
    used.receive(ids)
    return ids


def _visible(start: int, count: int, taken: Set[int]) -> tuple[str, list[bytes]]:
    """That many IDs that are not taken, from the single word `start` on, and their marks."""
    single = len(id_words())
    if taken:
        free = [n for n in (*range(start, single), *range(start)) if n not in taken][:count]
        missing = count - len(free)
        pairs = missing and max(single, *(n + 1 for n in taken if n < _BLANK))
        return _spelled([*free, *range(pairs, pairs + missing)])
    ids, marks = _spelled_first(max(single, count))
    at, end = start * WIDTH, single * WIDTH
    ids = ids[at:end] + ids[:at] + ids[end : count * WIDTH]
    return ids[: count * WIDTH], [*marks[start:single], *marks[:start], *marks[single:count]][
        :count
    ]


def _among(
    ids: str, marks: Sequence[bytes], blank: Sequence[int], number: int
) -> tuple[str, list[bytes]]:
    """The same with an ID, from `number` on, and no mark at each of the places `blank`."""
    parts: list[str] = []
    among: list[bytes] = []
    new = split_ids(ids_of(range(number, number + len(blank))).hex())
    at = 0
    for before, place in enumerate(blank):
        stop = place - before
        parts += ids[at * WIDTH : stop * WIDTH], new[before]
        among += marks[at:stop]
        among.append(b"")
        at = stop
    return "".join((*parts, ids[at * WIDTH :])), [*among, *marks[at:]]


def _blank(bare: Sequence[bytes]) -> Iterator[int]:
    place = -1
    with suppress(ValueError):
        while True:
            yield (place := bare.index(b"", place + 1))
