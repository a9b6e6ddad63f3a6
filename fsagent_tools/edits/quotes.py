"""Where a quoted text is: one strategy after the other, the first that finds anything decides."""

import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from fsagent_tools.edits.evidence import Check, Evidence, go_on
from fsagent_tools.edits.likeness import Alike
from fsagent_tools.lines.source import Lines
from fsagent_tools.lines.splice import Hunk
from fsagent_tools.text import newline_of

EXACT, LINE_ENDINGS, FUZZY = "exact", "line_endings", "fuzzy"
MOST = 1000  # places looked for; more are counted as "at least"
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


class Haystack:
    """UTF-8 text as lines, and with line feeds between them, whatever ends its lines."""

    def __init__(self, data: bytes, check: Check = go_on) -> None:
        self.data = data
        self.check = check
        self.lines = Lines.of(data, newline_of(data))

    @cached_property
    def every(self) -> list[bytes]:
        return self.lines.between(0, self.lines.count)

    @cached_property
    def joined(self) -> bytes:
        if b"\r" not in self.data:
            return self.data
        return b"\n".join([*self.every, *[b""] * self.lines.ends_with_newline])

    def line_at(self, offset: int) -> int:
        """The line that holds a byte of `joined`; their count for its end."""
        return self._joined_lines.line_at(offset)

    @cached_property
    def _joined_lines(self) -> Lines:
        return self.lines if self.joined is self.data else Lines.of(self.joined, b"\n")

    def unified(self, sent: bytes) -> bytes:
        """What a model sent, with line feeds as its line endings."""
        sent = sent.replace(b"\r\n", b"\n")
        return sent.replace(b"\r", b"\n") if self.lines.newline == b"\r" else sent

    def exact(self, wanted: bytes, most: int = MOST) -> list[Match]:
        """Occurrences, also overlapping ones: "aa" is in "aaaa" three times."""
        text, found = self.joined, list[Match]()
        line = counted = 0
        at = text.find(wanted)
        while at >= 0 and len(found) < most:
            line, counted = line + text.count(b"\n", counted, at), at
            end = at + len(wanted)
            stop = line + wanted.count(b"\n") + (not wanted.endswith(b"\n"))
            found.append(Match(at, end, line, stop))
            at = text.find(wanted, at + 1)
        return found

    def exact_lines(self, wanted: bytes) -> list[Match]:
        """The occurrences that begin and end with a line."""
        text, ends = self.joined, (b"", b"\n")
        return [
            place
            for place in self.exact(wanted)
            if text[max(0, place.begin - 1) : place.begin] in ends
            and (wanted.endswith(b"\n") or text[place.end : place.end + 1] in ends)
        ]

    @cached_property
    def _offsets(self) -> list[int]:
        return [*accumulate((len(line) + 1 for line in self.every), initial=0)]

    def block(self, start: int, stop: int, *, closed: bool) -> Match:
        """Whole lines; closed: with the ending of the last one."""
        end = self._offsets[stop]
        return Match(self._offsets[start], min(end - (not closed), len(self.joined)), start, stop)

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
        found, line, counted, at = list[Match](), 0, 0, text.find(needle)
        while at >= 0 and len(found) < MOST:
            line, counted = line + text.count(b"\n", counted, at), at
            found.append(self.block(line, line + len(keys), closed=wanted.endswith(b"\n")))
            at = text.find(needle, at + 1)
        return found

    def hunk(self, begin: int, end: int, put: bytes) -> tuple[Hunk, bool | None]:
        """`put` in place of these bytes of `joined`, and whether a line ending ends the text then.

        None: as it did.
        """
        text = self.joined
        first = text.rfind(b"\n", 0, begin) + 1
        start, stop = self.line_at(first), self.line_at(end)
        new = text[first:begin] + put
        if text[first:end].endswith(b"\n") and (not new or new.endswith(b"\n")):
            return Hunk(start, stop, tuple(new.split(b"\n")[:-1])), None
        last = text.find(b"\n", end)
        if last >= 0:
            return Hunk(start, stop + 1, tuple((new + text[end:last]).split(b"\n"))), None
        parts = (new + text[end:]).split(b"\n")
        ends = not parts[-1]
        return Hunk(start, self.lines.count, tuple(parts[:-1] if ends else parts)), ends


def locate_quote(text: Haystack, old: bytes, evidence: Evidence) -> tuple[str, list[Match]]:
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
    return FUZZY, _similar(text, wanted, evidence, evidence.threshold)


def _similar(text: Haystack, wanted: bytes, evidence: Evidence, threshold: float) -> list[Match]:
    """Whole lines, each as similar as `evidence` asks."""
    quoted = closed_lines(wanted)
    if threshold >= 1:
        return []
    alike = Alike(text.every, quoted, threshold, evidence.check, typos_only=evidence.typos_only)
    closed = wanted.endswith(b"\n")
    return [text.block(n, n + len(quoted), closed=closed) for n in alike.blocks()]


def fell_in(text: Haystack, wanted: bytes, found: Sequence[Match], lost: Collection[bytes]) -> bool:
    """Whether a quote that began a line when it was shown begins none now."""
    first = text.unified(wanted).split(b"\n", 1)[0].lstrip()
    return (
        bool(first)
        and any(line.lstrip().startswith(first) for line in lost)
        and all(
            text.joined[text.joined.rfind(b"\n", 0, at.begin) + 1 : at.begin].strip()
            for at in found
        )
    )


def closed_lines(text: bytes) -> list[bytes]:
    """The lines, without the empty one after a final line ending."""
    return text.removesuffix(b"\n").split(b"\n")


def _trailing(line: bytes) -> bytes:
    return line.rstrip(b" \t\r")


def _collapsed(line: bytes) -> bytes:
    words = b" ".join(line.split())
    return b" " + words if words and line[:1] in b" \t" else words


def _bare(line: bytes) -> bytes:
    return b" ".join(line.split())


_KEYS = {"trailing_space": _trailing, "white_space": _collapsed, "indentation": _bare}


def _begins(text: Haystack, place: Match, old: bytes) -> bool:
    line = text.joined.rfind(b"\n", 0, place.begin) + 1
    return text.data.startswith(old, text.lines.offset(place.start) + place.begin - line)
