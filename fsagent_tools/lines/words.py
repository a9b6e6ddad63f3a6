"""IDs as words that are one token: the index keeps numbers, a model sees `amp` or `amp.bek`."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, count, islice
from pathlib import Path
from zlib import crc32

from fsagent_tools.lines.ids import SIZE, IdSet, ids_of, numbers_of

_BLANK = 1 << 23  # from here on blank lines are numbered; they show no mark


@cache
def id_words() -> tuple[str, ...]:
    """Three letters each, one token on all tokenizers tried, no words of code; near ones differ."""
    return tuple(Path(__file__).with_name("words.txt").read_text("ascii").split())


@cache
def _places() -> dict[str, int]:
    return {word: place for place, word in enumerate(id_words(), 1)}


@cache
def _marks() -> tuple[list[bytes], list[bytes]]:
    """Each word as it ends a mark, and as it begins one of two words."""
    return [f"{word}\t".encode() for word in id_words()], [f"{w}.".encode() for w in id_words()]


def word_of(line_id: str) -> str:
    """The ID as a model sees it; "" for that of a blank line."""
    number = int.from_bytes(bytes.fromhex(line_id), "little") + 1
    parts: list[str] = []
    while 0 < number <= _BLANK:
        number, place = divmod(number - 1, len(id_words()))
        parts.append(id_words()[place])
    return ".".join(reversed(parts))


def id_of(typed: str) -> str | None:
    """The ID that words joined by full stops stand for."""
    places, number = _places(), 0
    for word in typed.split("."):
        if word not in places or number > _BLANK:
            return None
        number = number * len(places) + places[word]
    return (number - 1).to_bytes(SIZE, "little").hex() if number <= _BLANK else None


def word_marks(ids: str) -> list[bytes]:
    """What stands before each line: its word and a tab, nothing before a blank one."""
    last, first = _marks()
    single, pairs = len(last), len(last) * (len(last) + 1)
    return [
        last[n]
        if n < single
        else first[n // single - 1] + last[n % single]
        if n < pairs
        else _mark(n)
        for n in numbers_of(bytes.fromhex(ids))
    ]


def _mark(number: int) -> bytes:
    if number >= _BLANK:
        return b""
    word = word_of(number.to_bytes(SIZE, "little").hex())
    return f"{word}\t".encode() if word else b""


def mint_words(first: int, lines: Sequence[bytes], used: IdSet) -> str:
    """Fresh IDs, in one string, for consecutive lines (no ending) from 1-based line `first`.

    Single words as long as there are any, from a place that differs from text to text; `used`
    receives every ID, so that none is ever given out twice.
    """
    taken, single = used.numbers, len(id_words())
    start = crc32(b"%d:%b" % (first, lines[0])) % single
    top = max(taken, default=0)
    pairs = max(top if top < _BLANK else max(n for n in (0, *taken) if n < _BLANK), single - 1)
    free: Iterable[int] = chain(range(start, single), range(start))
    if taken:
        free = (number for number in free if number not in taken)
    blank = [place for place, line in enumerate(lines) if not line or line.isspace()]
    visible = [*islice(chain(free, count(pairs + 1)), len(lines) - len(blank))]
    numbers: list[int] = []
    for before, place in enumerate(blank):
        numbers += visible[len(numbers) - before : place - before]
        numbers.append(max(top + 1, _BLANK) + before)
    minted = ids_of([*numbers, *visible[len(numbers) - len(blank) :]])
    used.claim(minted)
    return minted.hex()
