"""Changes that look like a slip: refused until more of the addressed text is quoted."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

from fsagent_tools.edits.depth import WellFormed
from fsagent_tools.edits.likely import LOOKED_AT
from fsagent_tools.edits.pasted import TRACES, pasted_marks
from fsagent_tools.errors import InvalidChange
from fsagent_tools.lines.document import AROUND, NOTHING, Document
from fsagent_tools.lines.splice import Hunk
from fsagent_tools.text import in_quotes

_SHOWN = 3  # in one refusal
ALIKE = 0.6  # from here on one line may be the other, rewritten
_BETTER = 0.3  # how much better two texts fit
_COMPARED = 500  # bytes of a line that are compared
_LETTERS = 4  # that a line needs to be like another
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
_KEPT = 200  # refused changes that are remembered


@dataclass(frozen=True)
class Placed:
    """A change that was found: its hunk, the lines its IDs name and what was quoted of them.

    number: of the change in its call. doubt: what is doubtful about its marks or its depth, and its
    readings. sent: as it came, where it was changed.
    """

    hunk: Hunk
    quoted: tuple[tuple[int, str], ...]
    number: int
    doubt: tuple[str, str] | None = None
    sent: Hunk | None = None


def without_marks(document: Document, one: Placed, parses: WellFormed) -> tuple[Placed, str]:
    """Without numbers, a fence or signs of a diff, if only so it parses; else they are doubted."""
    hunk, between = one.hunk, document.lines.between
    if not TRACES.search(b"\n".join(hunk.new)):
        return one, ""
    beside = between(max(0, hunk.start - AROUND), hunk.start)
    beside += between(hunk.stop, hunk.stop + AROUND)
    found = pasted_marks(hunk.new, between(hunk.start, hunk.stop), beside, hunk.start + 1)
    if found is None:
        return one, ""
    bare = replace(hunk, new=found.bare)
    verdict = parses(hunk), parses(bare)
    if verdict == (False, True):
        return replace(one, hunk=bare, sent=hunk), f"without {found.what}, with which it fails."
    if verdict == (True, False):
        return one, ""
    doubt = f"The new text seems to have {found.what} in it. Send the bare lines."
    return replace(one, doubt=(doubt, "")), ""


def refuse_doubtful(document: Document, placed: Sequence[Placed]) -> None:
    """Refuse new text that repeats a line beside it, holds another file's IDs, lost its depth.

    A change refused so is taken when it comes again with more of the addressed text quoted
    behind its IDs, which a mere repetition of the call does not have.
    """
    replaced = {n for one in placed for n in range(one.hunk.start, one.hunk.stop)}
    doubted: list[tuple[Placed, Doubt]] = []
    for one in placed:
        doubt = _doubt(document, one, replaced)
        if doubt and not _confirmed(document, one):
            doubted.append((one, doubt))
    if not doubted:
        return
    told: list[str] = []
    for one, doubt in doubted[:_SHOWN]:  # what was not read cannot be confirmed
        _remember(document, one)
        told.append(f"{doubt.sentence} {_way(document, one, doubt.instead)}")
        told += filter(None, [doubt.lines()])
    if (more := len(doubted) - _SHOWN) > 0:
        told.append(f"(and {more} more)")
    raise InvalidChange(f"new_content looks like a slip. {NOTHING}", hint="\n".join(told))


class Doubt(NamedTuple):
    """What looks like a slip, the lines that show it, and the line that was probably meant.

    lines: made only to be printed, since from then on they count as seen.
    """

    sentence: str
    lines: Callable[[], str] = str
    instead: int | None = None


def _doubt(document: Document, one: Placed, replaced: set[int]) -> Doubt | None:
    for hunk in filter(None, (one.hunk, one.sent)):
        if doubt := _echo(document, hunk, replaced) or _near(document, one, hunk, replaced):
            return doubt
    if line := next(filter(document.style.echoes, one.hunk.new), b""):
        shown = line.decode(errors="replace")[:80]
        return Doubt(f"A line begins with a line ID that is not of this file: {shown!r}.")
    if not one.doubt:
        return None
    sentence, readings = one.doubt
    if not readings:
        return Doubt(sentence)

    def lines() -> str:  # the depth is that of another line, perhaps
        around = document.region(max(0, one.hunk.start - AROUND), one.hunk.stop + AROUND)
        return f"{readings}\nThe lines there:\n{around}"

    return Doubt(sentence, lines)


def _confirmed(document: Document, one: Placed) -> bool:
    """Whether the change was refused before and comes with more quoted."""
    before = document.seen.doubted.get(_key(document, one))
    line, quote = one.quoted[0]  # the words that a refusal asks for
    enough = _words(document, line) <= len(quote.split())
    return before is not None and _size(one) > before and enough


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


def _words(document: Document, line: int) -> int:
    """How many words of the line a quotation needs."""
    return min(2, len(document.lines.between(line, line + 1)[0].split()))


def _way(document: Document, one: Placed, instead: int | None) -> str:
    """How to name the line that was probably meant, and how to confirm the one that was named.

    What is to be sent stands on lines of its own, as it is: nothing is escaped or renamed there.
    """
    line, quote = one.quoted[0]
    have = len(quote.split())
    wanted = document.quotation(line, have + 2)
    if have and wanted == document.quotation(line, have):
        return "If it is meant, make the lines beside it part of the change."
    name = document.style.spelled(document.index.ids(line, line + 1)[0] or "")
    if instead is None:
        return f"If it is meant, quote {'more ' * bool(have)}behind the ID:\n{name} {wanted}"
    other = document.named(instead)
    return (
        f"Send the first of these, or, if your ID is right, the second:\n{other}\n{name} {wanted}"
    )


def _echo(document: Document, hunk: Hunk, replaced: set[int]) -> Doubt | None:
    if not hunk.new:
        return None
    if hunk.start == hunk.stop and len(hunk.new) > 1 and _stands_beside(document, hunk):
        return Doubt(f"The {len(hunk.new)} lines are already there: was this call sent before?")
    old, most = document.lines.between(hunk.start, hunk.stop), len(hunk.new)
    above = _staying(document, range(hunk.start - 1, hunk.start - 1 - most, -1), replaced)
    below = _staying(document, range(hunk.stop, hunk.stop + most), replaced)
    found = repeated(hunk.new, old, above[::-1], below)
    if not found:
        return None
    where, lines = found
    line = in_quotes(lines[0].decode(errors="replace").strip()[:80])
    what = f"The line {where} stays and reads {line}: it would then stand twice."
    if more := len(lines) - 1:
        what = f"The {more + 1} lines {where} stay, from {line}: they would then stand twice."
    return Doubt(f"{what} Leave out what stays.", lambda: _shown(document, hunk))


def _staying(document: Document, numbers: range, replaced: set[int]) -> list[bytes]:
    """Those of the lines that are there and stay, up to the first that does not."""
    numbers = range(numbers.start, max(numbers.stop, -1), numbers.step)
    kept = [*takewhile(lambda number: number not in replaced, numbers)]
    if not kept:
        return []
    found = document.lines.between(min(kept), max(kept) + 1)
    return found[:: numbers.step]


def repeated(
    new: Sequence[bytes], old: Sequence[bytes], above: Sequence[bytes], below: Sequence[bytes]
) -> tuple[str, Sequence[bytes]] | None:
    """Where new text has again what stands beside its place, and these lines, if it has.

    One line that is not blank, or several of which two are not; `old` did not begin or end so.
    """
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


def _shown(document: Document, hunk: Hunk) -> str:
    return document.tagged(hunk.start - AROUND, hunk.stop + AROUND)


def _near(document: Document, one: Placed, hunk: Hunk, replaced: set[int]) -> Doubt | None:
    """Whether an end of the new text is like the line beside it, or has it, and fits better there.

    Then the IDs are probably those of neighbours, unless words were quoted that tell them apart.
    """
    if not hunk.new or hunk.start == hunk.stop:
        return None
    old = document.lines.between(hunk.start, hunk.stop)
    for where, step, at in (("above", -1, hunk.start - 1), ("below", 1, hunk.stop)):
        end = min(0, -step)
        new, own, far = hunk.new[end], old[end], old[-1 - end]
        beside = _neighbour(document, at, replaced)
        if not beside or _begins_as(new, own, beside[0]):
            continue
        if all(_tell_apart(quote, beside[0]) for _, quote in one.quoted):
            continue
        again = tells(beside[0]) and beside[0] in hunk.new and beside[0] not in old
        like = again or (tells(new) and alike(new, beside[0]) > ALIKE)
        instead = [*old[1:], *beside] if end else [*beside, *old[:-1]]
        if not like or _fit(hunk.new, instead) <= _fit(hunk.new, old) + _BETTER:
            continue
        if len(old) == 1 or not _keeps(document, hunk.new, far, beside[0]):
            line = beside[0].decode(errors="replace").strip()[:80]
            doubt = f"The line {where} stays and is more like it: {in_quotes(line)}. One line off?"
            meant = one.quoted[0][0] + step
            return Doubt(doubt, lambda: _shown(document, hunk), meant)
    return None


def _begins_as(new: bytes, own: bytes, beside: bytes) -> bool:
    """Whether the new line has the first two words of its own line, and not of the one beside."""
    words = [line.split()[:2] for line in (new, own, beside)]
    return len(words[0]) == 2 and words[0] == words[1] != words[2]


def _keeps(document: Document, new: Sequence[bytes], far: bytes, beside: bytes) -> bool:
    """Whether the line that a range one off would not have is kept, and the one beside is not.

    A line whose text stands elsewhere, too, says nothing of where the new text belongs.
    """
    kept, count = {line.strip() for line in new}, document.lines.count
    if not tells(far) or far.strip() not in kept or beside.strip() in kept or count > LOOKED_AT:
        return False
    return [line.strip() for line in document.lines.between(0, count)].count(far.strip()) == 1


def _tell_apart(quote: str, line: bytes) -> bool:
    """Whether the line does not begin with these words."""
    words = quote.encode(errors="replace").split()
    return bool(words) and line.split()[: len(words)] != words


def tells(line: bytes) -> bool:
    """Whether there is enough in the line to be like another."""
    return len(_LETTER.findall(line)) >= _LETTERS


def _fit(new: Sequence[bytes], old: Sequence[bytes]) -> float:
    """How alike the ends of two texts are, 0 to 2."""
    return alike(new[0], old[0]) + alike(new[-1], old[-1])


def alike(one: bytes, other: bytes) -> float:
    """Share of characters in common order, of the first `_COMPARED`; 0 for blank lines."""
    from rapidfuzz import fuzz

    one, other = one.strip()[:_COMPARED], other.strip()[:_COMPARED]
    return fuzz.ratio(one, other) / 100 if one and other else 0.0


def _neighbour(document: Document, line: int, replaced: set[int]) -> Sequence[bytes]:
    """The line, if it is there and stays."""
    return document.lines.between(line, line + 1) if line >= 0 and line not in replaced else []


def _stands_beside(document: Document, hunk: Hunk) -> bool:
    start, size, between = hunk.start, len(hunk.new), document.lines.between
    return list(hunk.new) in (between(max(0, start - size), start), between(start, start + size))
