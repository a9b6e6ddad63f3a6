"""Whether a change does what was meant: what repeats its surroundings, or stands for other text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import takewhile
from typing import NamedTuple

from fsagent_tools.edits.elision import SIGN, elided
from fsagent_tools.edits.evidence import WellFormed
from fsagent_tools.edits.pasted import MARK, pasted
from fsagent_tools.edits.scoring import similarity
from fsagent_tools.errors import InvalidChange
from fsagent_tools.lines.document import NEARBY, NOTHING, Document
from fsagent_tools.lines.source import Lines
from fsagent_tools.lines.splice import Hunk, rewrite
from fsagent_tools.problems import Parsing
from fsagent_tools.text import in_quotes

_ABOVE = 100  # lines in which a block that ends may begin
_SHOWN = 80  # characters of a line
_FEW = 3  # doubts in one refusal
_KEPT = 200  # refused changes that are remembered
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
_TELLING, _ALIKE = 4, 0.6  # letters of a line that may be another one, and how alike it is then
_BETTER = 0.3  # how much more alike the ends of two texts are, of 2
_TAG = re.compile(rb"\s*\[?LID:[0-9a-f]{6}\] ?")  # as `read` puts it before lines of any file


class Around(NamedTuple):
    """The lines that a change replaces, and those above and below that stay, nearest to it."""

    old: Sequence[bytes]
    above: Sequence[bytes]
    below: Sequence[bytes]


class Beside(NamedTuple):
    """The lines around a place: those replaced, or the one it is beside; some above; one below."""

    there: Sequence[bytes]
    above: Sequence[bytes]
    below: bytes

    @classmethod
    def of(cls, lines: Lines, hunk: Hunk, line: int) -> "Beside":
        """line: the one that the text of an insertion is put beside."""
        there = (line, line + 1) if hunk.start == hunk.stop else (line, hunk.stop)
        ahead = lines.between(hunk.stop, hunk.stop + NEARBY)
        return cls(
            lines.between(*there),
            lines.between(max(0, hunk.start - _ABOVE), hunk.start),
            next(filter(bytes.strip, ahead), b""),
        )


class Doubt(NamedTuple):
    """What looks like a slip, and what to do about it.

    around: the lines beside it tell more. readings: what else it may be.
    """

    sentence: str
    way: str
    around: bool = False
    readings: str = ""


def judge_of(lines: Lines, data: bytes, parses: Callable[[bytes], Parsing] | None) -> WellFormed:
    """Whether a text parses with a hunk applied; nobody can tell where it did not before."""
    if parses is None:
        return lambda _: None
    parsed = cache(parses)

    def judge(hunk: Hunk) -> Parsing:
        before = parsed(data)
        return parsed(rewrite(lines, data, [hunk]).data) if before is True else before or None

    return judge


def doubt(new: Sequence[bytes], around: Around, parses: Callable[[], object]) -> Doubt | None:
    """What is doubtful about new lines in their place, if anything.

    parses: whether the text does with them, asked only of what was pasted: what parses with its
    marks has them for a reason.
    """
    again = repeated(new, around)
    if not again and (again := repeated(_bare(new), Around(*map(_bare, around)))):
        again = again if any(map(_tells, again[1])) and parses() is not True else None
    if again:
        where, lines = again
        what, way = f"The new text repeats the line {where}, which stays.", "Leave it out."
        if more := len(lines) - 1:
            line = in_quotes(_told(next(filter(bytes.strip, lines))))
            what = f"The new text repeats the {more + 1} lines {where}, from {line}, which stay."
            way = "Leave them out."
        return Doubt(what, way, around=True)
    text = b"\n".join(new)
    if SIGN.search(text) and (left_out := elided(new, around.old)):
        return Doubt(
            f"A placeholder stands for omitted text: {in_quotes(left_out)}.",
            "Write every line in full.",
        )
    if tag := next((line for line in new if _TAG.match(line) and line not in around.old), b""):
        return Doubt(f"A line begins with a line ID: {in_quotes(_told(tag))}.", "Send bare lines.")
    beside = [*around.above, *around.below]
    if MARK.search(text) and (what := pasted(new, around.old, beside)) and parses() is not True:
        return Doubt(f"The new text seems to have {what} in it.", "Send the bare lines.")
    return None


def one_off(new: Sequence[bytes], around: Around) -> Doubt | None:
    """Whether lines that were named without a word of them are rather those one line up or down."""
    old, above, below = around
    for where, beside, instead, end in (
        ("above", above[-1:], [*above[-1:], *old[:-1]], new[:1]),
        ("below", below[:1], [*old[1:], *below[:1]], new[-1:]),
    ):
        if not (beside and old and new):
            continue
        again = _tells(beside[0]) and beside[0] in new and beside[0] not in old
        if not again and (not _tells(end[0]) or _alike(end[0], beside[0]) < _ALIKE):
            continue
        if _ends(new, instead) > _ends(new, old) + _BETTER:
            what = f"The line {where}, which stays, is more like it. One line off?"
            return Doubt(what, "", around=True)
    return None


def _ends(new: Sequence[bytes], old: Sequence[bytes]) -> float:
    """How alike the ends of two texts are, 0 to 2."""
    return _alike(new[0], old[0]) + _alike(new[-1], old[-1])


def _alike(one: bytes, other: bytes) -> float:
    return similarity(_told(one), _told(other))


def _bare(lines: Sequence[bytes]) -> Sequence[bytes]:
    return [line.strip() for line in lines]


def _tells(line: bytes) -> bool:
    return len(_LETTER.findall(line)) >= _TELLING


def repeated(new: Sequence[bytes], around: Around) -> tuple[str, Sequence[bytes]] | None:
    """Where new text has again what stands beside its place, and these lines, if it has.

    One line that is not blank, or several of which two are not; the old text did not begin or end
    so. What only takes lines away repeats none.
    """
    old, above, below = around
    if [*new] in ([*old[: len(new)]], [*old[-len(new) :]]):
        return None
    for where, beside in (("above", above), ("below", below)):
        for count in range(min(len(new), len(beside)), 0, -1):
            first = where == "above"
            part = slice(count) if first else slice(-count, None)
            lines = beside[-count:] if first else beside[:count]
            if new[part][0] != lines[0] or [*new[part]] != [*lines] or [*old[part]] == [*lines]:
                continue
            if sum(bool(line.strip()) for line in lines) >= min(count, 2):
                return where, lines
    return None


def _told(line: bytes) -> str:
    return line.decode(errors="replace").strip()[:_SHOWN]


@dataclass(frozen=True)
class Placed:
    """A change that was found: its hunk, the lines its IDs name and what was quoted of them.

    number: of the change in its call. sent: the hunk as it came, None where no text was typed.
    depth: what is doubtful about its depth, and its readings.
    """

    hunk: Hunk
    quoted: tuple[tuple[int, str], ...]
    number: int
    sent: Hunk | None = None
    depth: tuple[str, str] | None = None

    @property
    def beside(self) -> int:
        """The first line that is named."""
        return self.quoted[0][0]


def refuse_doubtful(document: Document, placed: Sequence[Placed], judge: WellFormed) -> None:
    """Raise `InvalidChange` for changes that are doubtful, but those that are confirmed.

    A change is, when it comes again with more of the addressed text quoted behind its IDs, which a
    mere repetition of the call does not have.
    """
    replaced = {n for one in placed for n in range(one.hunk.start, one.hunk.stop)}
    found = [(one, _doubt_of(document, one, replaced, judge)) for one in placed]
    doubted = [(one, what) for one, what in found if what and not _confirmed(document, one)]
    if not doubted:
        return
    told: list[str] = []
    for one, what in doubted[:_FEW]:  # what was not read cannot be confirmed
        _remember(document, one)
        told += [f"{what.sentence} {_way(document, one, what.way)}", *filter(None, [what.readings])]
        if what.around:
            below = min(one.hunk.stop + 1, document.lines.count)
            told.append(document.region(max(0, one.hunk.start - 1), below))
    if (more := len(doubted) - _FEW) > 0:
        told.append(f"(and {more} more)")
    raise InvalidChange(f"new_content looks like a slip. {NOTHING}", hint="\n".join(told))


def _doubt_of(
    document: Document, one: Placed, replaced: set[int], judge: WellFormed
) -> Doubt | None:
    if one.sent is None:
        return None
    for hunk in (one.hunk, one.sent) if one.sent is not one.hunk else (one.hunk,):
        between, most = document.lines.between, len(hunk.new)
        above = _staying(document, range(hunk.start - 1, hunk.start - 1 - most, -1), replaced)
        below = _staying(document, range(hunk.stop, hunk.stop + most), replaced)
        around = Around(between(hunk.start, hunk.stop), above[::-1], below)
        if found := doubt(hunk.new, around, partial(judge, hunk)):
            return found
        if not any(quote for _, quote in one.quoted) and (found := one_off(hunk.new, around)):
            return found
        filled = [_told(line) for line in hunk.new if line.strip()]
        marked = partial(document.style.is_marked, known=document.index.used)
        if filled and all(map(marked, filled)):
            return Doubt(f"Lines begin with line IDs: {in_quotes(filled[0])}.", "Send bare lines.")
    return Doubt(one.depth[0], "", around=True, readings=one.depth[1]) if one.depth else None


def _staying(document: Document, numbers: range, replaced: set[int]) -> list[bytes]:
    """Those of the lines that are there and stay, up to the first that does not."""
    numbers = range(numbers.start, max(numbers.stop, -1), numbers.step)
    kept = [*takewhile(lambda number: number not in replaced, numbers)]
    if not kept:
        return []
    found = document.lines.between(min(kept), max(kept) + 1)
    return found[:: numbers.step]


def _confirmed(document: Document, one: Placed) -> bool:
    """Whether the change was refused before and comes with more quoted."""
    before = document.seen.doubted.get(_key(document, one))
    line, quote = one.quoted[0]  # the words that a refusal asks for
    words = document.lines.between(line, line + 1)[0].split()
    return before is not None and _size(one) > before and min(2, len(words)) <= len(quote.split())


def _remember(document: Document, one: Placed) -> None:
    doubted, key = document.seen.doubted, _key(document, one)
    if len(doubted) >= _KEPT:
        doubted.clear()
    doubted[key] = max(_size(one), doubted.get(key, 0))


def _key(document: Document, one: Placed) -> object:
    return document.lines.count, one.hunk


def _size(one: Placed) -> int:
    """How many characters were quoted."""
    return sum(len("".join(quote.split())) for _, quote in one.quoted)


def _way(document: Document, one: Placed, way: str) -> str:
    """What to do, and how to confirm the change.

    What is to be sent stands on a line of its own, as it is: nothing is escaped or renamed there.
    """
    line, quote = one.quoted[0]
    have = len(quote.split())
    wanted = document.quotation(line, have + 2)
    if have and wanted == document.quotation(line, have):
        return f"{way} If it is meant, make the lines beside it part of the change.".lstrip()
    name = document.style.spelled(document.index.ids(line, line + 1)[0] or "")
    more = "more " * bool(have)
    return f"{way} If it is meant, quote {more}behind the ID:\n{name} {wanted}".lstrip()
