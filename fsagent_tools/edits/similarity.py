"""Places of a text that are like a quote: in typing slips only, or most of all."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import takewhile
from typing import NamedTuple

from fsagent_tools.lines.source import split
from fsagent_tools.text import newline_of

Check = Callable[[], None]  # is called again and again in long work; raises to end it

_LONGEST = 2000  # characters of a line that is compared; longer ones have to be equal
_TELLING = 8  # characters of a line that can be told from another by its likeness
COMPARISONS = 30_000  # line pairs looked at before the search gives up and finds nothing
_MOST = 400_000  # lines of a file that are compared
_PLACES = 1000  # that are looked for
_AT_ONCE = 4096  # lines between two calls of a check
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d")
_SHORT, _LONG = 2, 8  # letters of a word in which one slip, or two, can be told from another word
_MISSPELT = 2  # words of a line that may be misspelt

LEAST = 0.5  # similarity below which a place is no suggestion
_SEARCHED = 4 << 20  # bytes of a text that are looked at, and how many lines
_LINES = 100_000
_COMPARED = 500  # characters of a line that are compared
_WHOLE = 8_000  # characters of two places that are compared
_ANCHORS = 2  # wanted lines that lead to places
_PUSHED = 8  # lines beyond a place in which its text may begin or end


def go_on() -> None:
    """Lets work take as long as it takes."""


def similarity(one: str, other: str, least: float = 0.0) -> float:
    """Share of characters in common order, 0 to 1; 0 when it is below `least`."""
    from rapidfuzz import fuzz

    return fuzz.ratio(one, other, score_cutoff=least * 100) / 100


def most_similar(
    text: str, choices: Sequence[str], least: float, limit: int | None = None
) -> list[int]:
    """Positions of the choices most similar to the text, best first."""
    from rapidfuzz import fuzz, process

    found = process.extract(text, choices, scorer=fuzz.ratio, limit=limit, score_cutoff=least * 100)
    return [position for _, _, position in found]


def similar_blocks(
    lines: Sequence[bytes],
    wanted: Sequence[bytes],
    threshold: float,
    check: Check,
    *,
    typos_only: bool,
) -> list[int]:
    """First lines of the blocks that are like the wanted one; none where too many are to be told.

    threshold: least similarity of each line. typos_only: only misspelt words may differ, a letter
    or two in words that the text does not know: other digits, signs, very short words or words that
    it uses elsewhere are a change that somebody meant, however small a share of the line it is.
    """
    texts = [line.strip().decode() for line in wanted]
    anchor = max(range(len(texts)), key=lambda n: len(texts[n]))
    if not len(texts) <= len(lines) <= _MOST or len(texts[anchor]) < _TELLING:
        return []

    @cache
    def alike(text: str, there: bytes) -> bool:
        check()
        other = there.strip().decode()
        if text == other or not text or not other or max(len(text), len(other)) > _LONGEST:
            return text == other
        near = similarity(text, other, threshold) > 0
        return near and (not typos_only or _is_slip(text, other, lines))

    near = _near(lines, texts[anchor], threshold, check)
    firsts = [n for n in range(len(lines) - len(texts) + 1) if lines[n + anchor] in near]
    found: list[int] = []
    compared = 0
    for first in firsts:
        pairs = zip(texts, lines[first : first + len(texts)], strict=True)
        same = sum(1 for _ in takewhile(lambda pair: alike(*pair), pairs))
        compared += same + 1
        found += [first] * (same == len(texts))
        if compared > COMPARISONS:
            return []
    return found[:_PLACES]


def _near(lines: Sequence[bytes], text: str, threshold: float, check: Check) -> set[bytes]:
    """Distinct lines that are similar to the text, as they stand."""
    if len(text) > _LONGEST:
        return {line for line in lines if line.strip() == text.encode()}
    least = len(text) * threshold / (2 - threshold)
    near = [line for line in {*lines} if least <= len(line) <= 4 * _LONGEST]
    found: set[bytes] = set()
    for start in range(0, len(near), _AT_ONCE):
        check()
        part = near[start : start + _AT_ONCE]
        texts = [line.strip().decode() for line in part]
        found.update(part[n] for n in most_similar(text, texts, threshold))
    return found


def _is_slip(wanted: str, there: str, lines: Sequence[bytes]) -> bool:
    """Whether a few words differ, each misspelt and none that the text uses."""
    words, others = _WORD.findall(wanted), _WORD.findall(there)
    if len(words) != len(others) or _frame(wanted) != _frame(there):
        return False
    pairs = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    return len(pairs) <= _MISSPELT and all(
        _misspelt(*pair) and not _uses(lines, pair[0]) for pair in pairs
    )


def _uses(lines: Sequence[bytes], word: str) -> bool:
    whole = re.compile(rb"(?<![A-Za-z0-9])" + re.escape(word.encode()) + rb"(?![A-Za-z0-9])")
    return any(map(whole.search, lines))


def _misspelt(word: str, other: str) -> bool:
    from rapidfuzz.distance import OSA

    shorter = min(len(word), len(other))
    if shorter < _SHORT or word.casefold() == other.casefold():
        return False
    if word.startswith(other) or other.startswith(word):  # a plural, or a name made longer
        return False
    same = _DIGITS.findall(word) == _DIGITS.findall(other)
    return same and OSA.distance(word, other) <= (2 if shorter >= _LONG else 1)


def _frame(line: str) -> str:
    """The signs of a line between its words."""
    return "".join(_WORD.sub("w", line).split())


class Suggestion(NamedTuple):
    """1-based lines, both inclusive; similarity from 0 to 1."""

    line: int
    end_line: int
    similarity: float


def suggest(text: bytes, old: str, limit: int = 3, check: Check = go_on) -> list[Suggestion]:
    """Up to `limit` places more than half like `old`, best first and without overlap.

    Bounded work: a few of the longest lines of `old` lead to places, and only the first
    `SEARCHED` bytes, `LINES` lines and `COMPARED` characters of a line are looked at. check: is
    called between the steps, and may raise.
    """
    check()
    lines = split(text[:_SEARCHED], newline_of(text))[:_LINES]
    sent = old.encode(errors="replace").strip().replace(b"\r\n", b"\n")
    quoted = sent.replace(b"\r", b"\n").split(b"\n")
    wanted, compared = ([*map(_comparable, part)] for part in (quoted, lines))
    if limit < 1 or not any(wanted):
        return []
    ranked, whole = [], "\n".join(wanted)[:_WHOLE]
    for first in _candidates(wanted, compared, limit, check):
        there = "\n".join(compared[first : first + len(wanted)])[:_WHOLE]
        ranked.append((-similarity(whole, there), first))
    found: list[Suggestion] = []
    for loss, first in sorted(ranked):
        if -loss <= LEAST or len(found) == limit:
            break
        start, stop = _grown(lines, quoted, first, min(first + len(wanted), len(lines)))
        if all(stop < other.line or other.end_line <= start for other in found):
            found.append(Suggestion(start + 1, stop, round(-loss, 3)))
    return found


def _comparable(line: bytes) -> str:
    return line.strip()[: 4 * _COMPARED].decode(errors="replace")[:_COMPARED]


def _candidates(wanted: list[str], lines: list[str], limit: int, check: Check) -> set[int]:
    """First lines of blocks in which one of the longest wanted lines has a likeness."""
    last = max(0, len(lines) - len(wanted))
    firsts: set[int] = set()
    for anchor in sorted(range(len(wanted)), key=lambda n: -len(wanted[n]))[:_ANCHORS]:
        check()
        hits = most_similar(wanted[anchor], lines, LEAST, 4 * limit)
        firsts |= {min(max(0, hit - anchor), last) for hit in hits}
    return firsts


def _grown(lines: list[bytes], quoted: list[bytes], first: int, stop: int) -> tuple[int, int]:
    """With the line where the quoted text begins, or ends, that others' lines pushed away."""
    for beyond in range(max(0, first - _PUSHED), first):
        if lines[beyond].strip() == quoted[0].strip() != lines[first].strip():
            first = beyond
    for beyond in range(stop, min(stop + _PUSHED, len(lines))):
        if lines[beyond].strip() == quoted[-1].strip() != lines[stop - 1].strip():
            stop = beyond + 1
    return first, stop
