"""From changes that name lines by ID to hunks, refusing what would not do what was meant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fsagent_tools.errors import InvalidChange
from fsagent_tools.lines.depth import (
    WellFormed,
    has_no_depth,
    is_nested_by_braces,
    is_taste,
    readings,
)
from fsagent_tools.lines.document import AROUND, NOTHING, Document
from fsagent_tools.lines.doubts import Placed, refuse_doubtful, without_marks
from fsagent_tools.lines.naming import corrected, located
from fsagent_tools.lines.source import indentation
from fsagent_tools.lines.splice import Hunk, refine
from fsagent_tools.placeholders import SIGN, elided
from fsagent_tools.text import MAX_LINE_CHARS

_LIST = 100  # lines above one in which the list that it is in begins
Placement = Literal["replace", "after", "before"]


@dataclass(frozen=True)
class Change:
    """One change as asked for: lines `first` to `last` replaced, or text put beside `first`.

    empty_end: the text was a list that ends with an empty element.
    """

    place: Placement
    first: str
    last: str
    new: tuple[str, ...]
    empty_end: bool = False


def split_new(content: str | Sequence[str]) -> tuple[str, ...]:
    r"""New text as lines: one final newline is ignored, "" is none, "\n" is one empty line."""
    if not isinstance(content, str):
        if all(part.endswith("\n") for part in content[:-1] or content):
            return split_new("".join(content))  # each brought its ending
        return tuple(line for part in content for line in split_new(part + "\n"))
    lines = content.replace("\r\n", "\n").split("\n")
    return tuple(lines[:-1] if not lines[-1] else lines)


@dataclass(frozen=True)
class Resolved:
    """Hunks, ascending and disjoint, and what was made of the changes that is worth telling."""

    hunks: Sequence[Hunk]
    notes: Sequence[str] = ()


def resolve_changes(changes: Sequence[Change], document: Document, parses: WellFormed) -> Resolved:
    """The hunks of a call; all IDs refer to the state before it.

    parses: whether the text does with one hunk applied; without it depth is judged by sight.
    Raises `InvalidChange`, `UnknownLineId`, `StaleLineIds` or `NotReadYet`; nothing is changed.
    """
    if not changes:
        raise InvalidChange("`changes` is empty.", hint="Give at least one change.")
    placed: list[Placed] = []
    notes: list[str] = []
    lines = document.found(_typed(changes))
    if lines is None:
        changes, notes = _spelt(document, changes)
        lines = located(document, _typed(changes))
    for number, change in enumerate(changes, 1):
        first, last = lines[2 * number - 2 : 2 * number]
        check = _Check(document, f"Change {number}")
        hunk = check.hunk(change, first, last)
        one = Placed(hunk, _quoted(document, change, first, last))
        one, marks = without_marks(document, one, parses)
        one, depth = _at_its_depth(document, one, parses, lines)
        told = filter(None, (marks, depth, change.empty_end and _ends_empty(document, hunk)))
        placed.append(one)
        notes += [f"Change {number}: {note}" for note in told]
    _refuse_overlaps([one.hunk for one in placed])
    refuse_doubtful(document, placed)
    hunks = sorted((one.hunk for one in placed), key=lambda hunk: (hunk.start, hunk.stop))
    return Resolved([part for hunk in hunks for part in _refined(document, hunk)], notes)


def _typed(changes: Sequence[Change]) -> list[str]:
    return [line_id for change in changes for line_id in (change.first, change.last)]


def _spelt(document: Document, changes: Sequence[Change]) -> tuple[list[Change], list[str]]:
    """The changes with mistyped IDs put right where that is sure, and what was put right."""
    instead: dict[str, tuple[str, ...]] = {}
    strip_echo = document.style.strip_echo
    for c in changes:
        tagged = any(strip_echo(line, document.index.used) is not None for line in c.new)
        tells = c.place == "replace" and not tagged  # a tag is that of another line, maybe
        ends = (c.new[:1], c.new[-1:]) if tells else ((), ())
        for text, new in zip((c.first, c.last), ends, strict=True):
            instead[text] = instead.get(text, ()) + new
    right = corrected(document, instead)
    name = {text: document.style.halves(text)[0] for pair in right.items() for text in pair}
    notes = [f"No line {name[text]}: taken as {name[put]}." for text, put in right.items()]
    spelt = [
        replace(c, first=right.get(c.first, c.first), last=right.get(c.last, c.last))
        for c in changes
    ]
    return spelt, notes


def _quoted(
    document: Document, change: Change, first: int, last: int
) -> tuple[tuple[int, str], ...]:
    ends = {change.first: first, change.last: last}
    read = {line: document.style.parse(text) for text, line in ends.items()}
    return tuple((line, one.quote) for line, one in read.items() if one)


def _at_its_depth(
    document: Document, one: Placed, parses: WellFormed, named: Sequence[int]
) -> tuple[Placed, str]:
    """The change with its block at the depth that is meant, and what was done.

    named: the two lines that each change of the call names.
    """
    if one.doubt:
        return one, ""
    hunk = one.hunk
    beside = hunk.start == hunk.stop
    line = one.quoted[0][0]
    there = document.lines.between(line, line + 1 if beside else hunk.stop)
    old, new = (next(filter(bytes.strip, block), b"") for block in (there, hunk.new))
    depths = indentation(old), indentation(new)
    above = document.lines.between(max(0, hunk.start - _LIST), hunk.start)
    if depths[0] == depths[1] or is_taste(document.name, *depths, above):
        return one, ""
    if any(has_no_depth(document.name, line) for line in (old, new)):
        return one, ""
    near = range(hunk.start - AROUND, hunk.stop + AROUND)
    alone = sum(line in near for line in named) == 2
    both = readings(hunk, there, above, document.below(hunk.stop), alone=alone)
    signs = {*b"".join(map(indentation, hunk.new))}
    braces = not beside and is_nested_by_braces(document.name, new) and signs <= {*depths[0]}
    verdict = both.verdict(parses, braces=braces) if both else "as sent"
    if both and verdict == "shifted":
        why = "like the lines there" if parses(both.sent) else "else it would not parse"
        note = f"re-indented {both.how()}, {why}."
        return replace(one, hunk=both.shifted, sent=one.sent or hunk), note
    return (replace(one, doubt=both.told()) if both and verdict == "doubtful" else one), ""


def _ends_empty(document: Document, hunk: Hunk) -> str:
    """What to tell of an empty line at the end of a list where no blank line was replaced."""
    old = document.lines.between(hunk.start, hunk.stop)
    known = [*hunk.new[:-1]] == old or (old and not old[-1].strip())
    if known or not hunk.new or hunk.new[-1]:
        return ""
    return "the empty element at the end of the list is a blank line; a list needs none to end."


def _refined(document: Document, hunk: Hunk) -> Iterable[Hunk]:
    old = document.lines.between(hunk.start, hunk.stop)
    return refine(hunk, old) if old and hunk.new else (hunk,)


@dataclass(frozen=True)
class _Check:
    document: Document
    label: str

    def hunk(self, change: Change, first: int, last: int) -> Hunk:
        asked = self._lines(change.new)
        if change.place != "replace":
            start = first + (change.place == "after")
            self.document.check_range(first, last + 1)
            new = self._without_echo(asked, ())
            self._refuse_elision(new, ())
            if not new:
                raise self._refusal("inserts nothing: new_content is empty.")
            return Hunk(start, start, _encoded(new))
        if last < first:
            raise self._refusal(
                f"has its range reversed: {change.first} stands below {change.last}.",
                "Swap start_line_id and end_line_id.",
            )
        stop = last + 1
        self.document.check_range(first, stop)
        old = self.document.lines.between(first, stop)
        self._refuse_clipped(old, self.document.index.ids(first, stop))
        new = self._without_echo(asked, old)
        self._refuse_elision(new, old)
        encoded = _encoded(new)
        if list(encoded) == old:
            raise self._refusal("changes nothing: the lines already read like that.")
        return Hunk(first, stop, encoded)

    def _lines(self, new: Sequence[str]) -> Sequence[str]:
        """The new lines as this text cuts them: a carriage return may be its line ending."""
        if not any("\r" in line for line in new):
            return new
        if self.document.lines.newline == b"\n":
            return [line.removesuffix("\r") for line in new]
        text = "\n".join(new)
        return split_new(text.replace("\r", "\n") + ("" if text.endswith("\r") else "\n"))

    def _without_echo(self, new: Sequence[str], old: Sequence[bytes]) -> Sequence[str]:
        """`new` without read prefixes where every line that is not blank has one."""
        filled = [
            line for line in new if line.strip() and line.encode(errors="surrogatepass") not in old
        ]
        known, strip_echo = self.document.index.used, self.document.style.strip_echo
        stripped = [strip_echo(line, known) for line in filled]
        if all(text is None for text in stripped):
            return new
        if None in stripped:
            raise self._refusal(
                "has line IDs inside new_content, before some lines.",
                "Send the bare text, without the ID prefixes of read.",
            )
        return [text if (text := strip_echo(line, known)) is not None else line for line in new]

    def _refuse_clipped(self, old: Sequence[bytes], ids: Sequence[str | None]) -> None:
        for line, line_id in zip(old, ids, strict=True):
            if len(line) <= MAX_LINE_CHARS or line_id in self.document.seen.whole:
                continue
            if len(line.decode(errors="replace")) > MAX_LINE_CHARS:
                raise self._refusal(
                    f"would replace line {self._name(line_id)}, of which you saw only the first "
                    f"{MAX_LINE_CHARS:,} characters.",
                    "Read that line alone (limit=1) to see it whole, then edit.",
                )

    def _refuse_elision(self, new: Sequence[str], old: Sequence[bytes]) -> None:
        text = "\n".join(new)
        if not SIGN.search(text):
            return
        if placeholder := elided(text, b"\n".join(old).decode(errors="replace")):
            raise self._refusal(
                f"has a placeholder ({placeholder.strip()[:60]!r}): text would be lost.",
                "Write every line of new_content in full.",
            )

    def _name(self, line_id: str | None) -> str:
        return self.document.style.spelled(line_id) if line_id else ""

    def _refusal(self, what: str, hint: str = "") -> InvalidChange:
        return InvalidChange(f"{self.label} {what} {NOTHING}", hint=hint)


def _encoded(lines: Sequence[str]) -> tuple[bytes, ...]:
    try:
        encoded = tuple(line.encode() for line in lines)
    except UnicodeEncodeError:
        raise InvalidChange(
            f"new_content has a lone surrogate, which cannot be encoded. {NOTHING}"
        ) from None
    if any(b"\0" in line for line in encoded):
        raise InvalidChange(f"new_content has a NUL character. {NOTHING}")
    return encoded


def _refuse_overlaps(hunks: Sequence[Hunk]) -> None:
    """Refuse two changes of one line and two insertions into one gap."""
    owner: dict[int, int] = {}
    for number, hunk in enumerate(hunks, 1):
        for line in range(hunk.start, hunk.stop):
            if line in owner:
                raise InvalidChange(
                    f"Changes {owner[line]} and {number} both address line {line + 1}. {NOTHING}",
                    hint="Merge them into one change.",
                )
            owner[line] = number
    gaps: dict[int, int] = {}
    for number, hunk in enumerate(hunks, 1):
        if hunk.start < hunk.stop:
            continue
        above, below = owner.get(hunk.start - 1), owner.get(hunk.start)
        other = below if below and below == above else gaps.get(hunk.start)
        if other:
            raise InvalidChange(
                f"Changes {other} and {number} both address the place above line "
                f"{hunk.start + 1}. {NOTHING}",
                hint="Merge them into one change.",
            )
        gaps[hunk.start] = number
