"""Where a quoted text is: one strategy after the other, the first that finds anything decides."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import Literal, NamedTuple

from fsagent_tools.edits.checks import Context, Parses
from fsagent_tools.edits.messages import explanation, telling_lines
from fsagent_tools.edits.similarity import Check, go_on, similar_blocks
from fsagent_tools.errors import InvalidArguments, MultipleMatches, NoMatch
from fsagent_tools.lines.hunks import Hunk
from fsagent_tools.lines.source import Lines
from fsagent_tools.text import newline_of

EXACT, LINE_ENDINGS, FUZZY = "exact", "line_endings", "fuzzy"
VERBATIM = (EXACT, LINE_ENDINGS)
THRESHOLD = 0.85  # similarity of each line that is asked for by default
LOOKING = 2  # seconds for a text, or one like it
MOST = 1000  # places looked for; more are counted as "at least"
NAMED = 10  # line numbers that are told
AT_ONCE = 4096  # lines between two calls of a check
_LEAST = 4  # letters and digits of a text that is looked for by a weaker strategy
_LARGEST = 16 << 20  # bytes of a text in which it is looked for

_WORDS = re.compile(rb"[A-Za-z0-9_\x80-\xff]+")


class Match(NamedTuple):
    """Bytes `begin` to `end` of a text whose lines end at line feeds, and its lines (exclusive)."""

    begin: int
    end: int
    start: int
    stop: int


Occurrences = Literal["unique", "first", "all"] | int
Choice = Callable[["Haystack", list[Match]], list[Match]]  # of places, all where it is open


class Evidence(NamedTuple):
    """How much else than the exact text is taken.

    threshold: least similarity of each line, 0 to 1, None for the exact text, whatever its line
    endings. typos_only: similar lines differ in misspelt words at most. parses: whether a whole
    text is well formed, None if nobody can tell; it decides between two readings of the
    indentation. check: is called all the while, and may raise. lost: lines that were there when
    the text was read, and are not any more. name: of the file, by which its language is told.
    whole_lines: the quote begins and ends with a line. among: which of several places is meant.
    asks: what is doubtful is refused, else it is told.
    doubted: the changes that were refused before, and how much was quoted then.
    """

    threshold: float | None = THRESHOLD
    typos_only: bool = True
    parses: Parses | None = None
    check: Check = go_on
    lost: Collection[bytes] = ()
    name: str = ""
    whole_lines: bool = False
    among: Choice | None = None
    asks: bool = True
    doubted: dict[object, int] | None = None


SIMILAR, EXACTLY = Evidence(), Evidence(threshold=None, asks=False)


class Haystack(Context):
    """UTF-8 text as lines, and with line feeds between them, whatever ends its lines."""

    def __init__(self, data: bytes, evidence: Evidence = EXACTLY) -> None:
        lines = Lines.of(data, newline_of(data))
        super().__init__(lines, data, evidence.parses, evidence.name)
        self.check = evidence.check

    @cached_property
    def every(self) -> list[bytes]:
        return self.lines.between(0, self.lines.count)

    @cached_property
    def joined(self) -> bytes:
        if b"\r" not in self.data:
            return self.data
        return b"\n".join([*self.every, *[b""] * self.lines.ends_with_newline])

    @cached_property
    def _joined_lines(self) -> Lines:
        return self.lines if self.joined is self.data else Lines.of(self.joined, b"\n")

    def unified(self, sent: bytes) -> bytes:
        """What a model sent, with line feeds as its line endings."""
        sent = sent.replace(b"\r\n", b"\n")
        return sent.replace(b"\r", b"\n") if self.lines.newline == b"\r" else sent

    def exact(self, wanted: bytes) -> list[Match]:
        """Occurrences, also overlapping ones: "aa" is in "aaaa" three times."""
        return [
            Match(at, at + len(wanted), line, line + len(closed_lines(wanted)))
            for at, line in islice(_places(self.joined, wanted), MOST)
        ]

    def exact_lines(self, wanted: bytes) -> list[Match]:
        """The occurrences that begin and end with a line."""
        text, ended = self.joined, wanted.endswith(b"\n")
        begun = [place for place in self.exact(wanted) if not self.head(place.begin)]
        return [at for at in begun if ended or text[at.end : at.end + 1] in (b"", b"\n")]

    @cached_property
    def _offsets(self) -> list[int]:
        return [*accumulate((len(line) + 1 for line in self.every), initial=0)]

    def blocks(self, firsts: Iterable[int], wanted: bytes) -> list[Match]:
        """As many whole lines as are wanted, from each of the first ones on, closed as these."""
        count, opened, end = len(closed_lines(wanted)), not wanted.endswith(b"\n"), len(self.joined)
        at = self._offsets
        return [Match(at[n], min(at[n + count] - opened, end), n, n + count) for n in firsts]

    def matching(self, wanted: bytes, key: Callable[[bytes], bytes]) -> list[Match]:
        """Whole lines whose keys are those of the lines of `wanted`."""
        keys = [*map(key, closed_lines(wanted))]
        if not any(keys):
            return []
        there: list[bytes] = [b""]
        for start in range(0, len(self.every), AT_ONCE):
            self.check()
            there += map(key, self.every[start : start + AT_ONCE])
        text, needle = b"\n".join([*there, b""]), b"\n".join([b"", *keys, b""])
        return self.blocks((line for _, line in islice(_places(text, needle), MOST)), wanted)

    def hunk(self, begin: int, end: int, put: bytes) -> Hunk:
        """`put` in place of these bytes of `joined`."""
        text, head = self.joined, self.head(begin)
        first, new = begin - len(head), head + put
        start, stop = map(self._joined_lines.line_at, (first, end))
        if text[first:end].endswith(b"\n") and (not new or new.endswith(b"\n")):
            return Hunk(start, stop, tuple(new.split(b"\n")[:-1]))
        last = text.find(b"\n", end)
        new += text[end:last] if last >= 0 else text[end:]
        if last >= 0 or (new and not new.endswith(b"\n")):
            new += b"\n"
        return Hunk(start, min(stop + 1, self.lines.count), tuple(new.split(b"\n")[:-1]))

    def head(self, begin: int) -> bytes:
        """What stands before these bytes of `joined` on their line."""
        return self.joined[self.joined.rfind(b"\n", 0, begin) + 1 : begin]

    def ends(self, begin: int, end: int, put: bytes) -> bool | None:
        """Whether a line ending ends the text with `put` there; None: as it does now."""
        text = self.joined
        if text.find(b"\n", end) >= 0:
            return None
        new = self.head(begin) + put + text[end:]
        return not new or new.endswith(b"\n")


def _places(text: bytes, wanted: bytes, at: int = 0, step: int = 1) -> Iterator[tuple[int, int]]:
    """Where the wanted text begins, from `at` on, and on which line; the next is a step behind."""
    line = counted = 0
    while (at := text.find(wanted, at)) >= 0:
        line, counted = line + text.count(b"\n", counted, at), at
        yield at, line
        at += step


def locate_quote(
    source: Haystack, sent: tuple[bytes, bytes], occurrences: Occurrences, evidence: Evidence
) -> tuple[str, Match]:
    """The strategy that found the quote, and where first. Raises `NoMatch`, `MultipleMatches`."""
    wanted, put = sent
    if not source.data and not wanted:
        return EXACT, Match(0, 0, 0, 0)
    if not wanted:
        raise InvalidArguments(
            "`old_string` is empty, which fits everywhere.",
            hint="Quote the text to replace. To add lines use `insert`. "
            "To replace a whole file use `write`.",
        )
    strategy, found = _matches(source, wanted, evidence)
    if found and evidence.asks and _fell_in(source, wanted, found, evidence.lost):
        raise NoMatch(
            "`old_string` began a line when you last saw it. That line has changed since, and "
            f"now the text is only within a longer one, line {found[0].start + 1}.",
            hint="Quote the line as it is now.",
        )
    if not found:
        hint = explanation(source.data, wanted, put)
        raise NoMatch("`old_string` is not in the file.", hint=hint)
    if evidence.among:
        found = evidence.among(source, found)
    if len(found) > 1 and (occurrences == "unique" or strategy not in VERBATIM):
        raise _several(source, strategy, found)
    return strategy, found[0]


def _matches(text: Haystack, old: bytes, evidence: Evidence) -> tuple[str, list[Match]]:
    """The strategy that found the quote, and where; without an exact match lines are compared."""
    wanted = text.unified(old)
    exact = text.exact_lines if evidence.whole_lines else text.exact
    found = exact(wanted)
    if b"\r" in text.data or b"\r" in old:
        raw = [p for p in found if _begins(text, p, old)]
        found = found or exact(old.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
        if raw or found:
            return (EXACT, raw) if raw else (LINE_ENDINGS, found)
    few = sum(map(len, _WORDS.findall(wanted))) < _LEAST
    if found or evidence.threshold is None or few or len(text.data) > _LARGEST:
        return EXACT, found
    for strategy, key in _KEYS.items():
        if found := text.matching(wanted, key):
            return strategy, found
    threshold, quoted = evidence.threshold, closed_lines(wanted)
    if threshold >= 1:
        return FUZZY, []
    typos_only = evidence.typos_only
    alike = similar_blocks(text.every, quoted, threshold, text.check, typos_only=typos_only)
    return FUZZY, text.blocks(alike, wanted)


def _fell_in(text: Haystack, wanted: bytes, found: Sequence[Match], lost: Iterable[bytes]) -> bool:
    """Whether a quote that began a line when it was shown begins none now."""
    first = text.unified(wanted).split(b"\n", 1)[0].lstrip()
    began = bool(first) and any(line.lstrip().startswith(first) for line in lost)
    return began and all(text.head(place.begin).strip() for place in found)


def closed_lines(text: bytes) -> list[bytes]:
    """The lines, without the empty one after a final line ending."""
    return text.removesuffix(b"\n").split(b"\n")


def _collapsed(line: bytes) -> bytes:
    words = b" ".join(line.split())
    return b" " + words if words and line[:1] in b" \t" else words


_KEYS: dict[str, Callable[[bytes], bytes]] = {
    "trailing_space": lambda line: line.rstrip(b" \t\r"),
    "white_space": _collapsed,
    "indentation": lambda line: b" ".join(line.split()),
}


def _begins(text: Haystack, place: Match, old: bytes) -> bool:
    at = text.lines.offset(place.start) + len(text.head(place.begin))
    return text.data.startswith(old, at)


def wanted_occurrences(
    source: Haystack, first: Match, occurrences: Occurrences
) -> tuple[list[tuple[int, int]], int, str]:
    """Bytes of the occurrences that are wanted, those of one line together; how many, and which.

    All are all, whatever their line endings; else they begin with the one that fits best.
    """
    text = source.joined
    wanted = text[first.begin : first.end]
    total = text.count(wanted)
    start = 0 if occurrences == "all" else first.begin
    most = {"all": total, "first": 1}.get(str(occurrences)) or min(int(occurrences), total)
    parts, numbers = list[tuple[int, int]](), list[int]()
    stop = -1
    for at, line in islice(_places(text, wanted, start, len(wanted)), most):
        source.check()
        begin = parts.pop()[0] if line < stop else at
        parts.append((begin, at + len(wanted)))
        stop = line + wanted.count(b"\n") + 1
        numbers.append(line)
    count = len(numbers)
    lines = "line" if count == 1 else "lines"
    told = f"replaced {count} of {total} occurrences ({lines} {_listed(numbers)})"
    return parts, count, told * (count < total)


def _several(source: Haystack, strategy: str, found: Sequence[Match]) -> MultipleMatches:
    count = f"{MOST} or more" if len(found) >= MOST else str(len(found))
    how = "" if strategy == EXACT else f" when compared by {strategy}"
    numbers = [place.start for place in found[: NAMED + 1]]
    lines = [(place.start, max(place.stop, place.start + 1)) for place in found]
    return MultipleMatches(
        f"`old_string` fits {count} places{how}: lines {_listed(numbers)}.",
        hint="Quote more of the neighbouring lines so that it fits one. "
        "Or replace all of them (`occurrences`).",
        details={
            "count": len(found),
            "lines": [number + 1 for number in numbers[:NAMED]],
            "places": telling_lines(source.every, lines, source.check),
        },
    )


def _listed(numbers: Sequence[int]) -> str:
    named = ", ".join(dict.fromkeys(str(number + 1) for number in numbers[:NAMED]))
    return named + ", ..." * bool(numbers[NAMED:])
