"""From changes that name lines by ID to hunks, refusing what would not do what was meant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from fsagent_tools.errors import InvalidChange
from fsagent_tools.lines.diff import Hunk
from fsagent_tools.lines.document import AROUND, NOTHING, Document
from fsagent_tools.lines.ids import echoes, strip_echo
from fsagent_tools.lines.splice import refine
from fsagent_tools.placeholders import elided
from fsagent_tools.text import MAX_LINE_CHARS

DOUBTS = 3  # shown in one refusal
Placement = Literal["replace", "after", "before"]


@dataclass(frozen=True)
class Change:
    """One change as asked for: lines `first` to `last` replaced, or text put beside `first`."""

    place: Placement
    first: str
    last: str
    new: tuple[str, ...]


def split_new(content: str | Sequence[str]) -> tuple[str, ...]:
    r"""New text as lines: one final newline is ignored, "" is none, "\n" is one empty line."""
    if not isinstance(content, str):
        return tuple(line for part in content for line in split_new(part + "\n"))
    lines = content.replace("\r\n", "\n").split("\n")
    return tuple(lines[:-1] if not lines[-1] else lines)


def resolve_changes(changes: Sequence[Change], document: Document) -> list[Hunk]:
    """The hunks of a call, ascending and disjoint; all IDs refer to the state before it.

    Raises `InvalidChange`, `UnknownLineId`, `StaleLineIds` or `NotReadYet`; nothing is changed.
    """
    if not changes:
        raise InvalidChange("`changes` is empty.", hint="Give at least one change.")
    typed = [line_id for change in changes for line_id in (change.first, change.last)]
    lines = document.find(typed)
    placed = list(zip(changes, lines[::2], lines[1::2], strict=True))
    hunks = []
    for number, (change, first, last) in enumerate(placed, 1):
        hunks.append(_Check(document, f"Change {number}").hunk(change, first, last))
    _refuse_overlaps(placed, hunks)
    _refuse_doubtful(document, hunks)
    hunks.sort(key=lambda hunk: (hunk.start, hunk.stop))
    return [part for hunk in hunks for part in _refined(document, hunk)]


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
            new = self._without_echo(asked, ())
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
        known = self.document.index.used
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
                    f"would replace line {line_id}, of which you saw only the first "
                    f"{MAX_LINE_CHARS:,} characters.",
                    "Read that line alone (limit=1) to see it whole, then edit.",
                )

    def _refuse_elision(self, new: Sequence[str], old: Sequence[bytes]) -> None:
        text = b"\n".join(old).decode(errors="replace")
        if placeholder := elided("\n".join(new), text):
            raise self._refusal(
                f"leaves text out ({placeholder.strip()[:60]!r}), and leaving out would delete it.",
                "Write every line of new_content in full.",
            )

    def _refusal(self, what: str, hint: str = "") -> InvalidChange:
        return InvalidChange(f"{self.label} {what} {NOTHING}", hint=hint)


def _encoded(lines: Sequence[str]) -> tuple[bytes, ...]:
    try:
        encoded = tuple(line.encode() for line in lines)
    except UnicodeEncodeError:
        raise InvalidChange(
            f"new_content holds a lone surrogate, which no file can hold. {NOTHING}"
        ) from None
    if any(b"\0" in line for line in encoded):
        raise InvalidChange(f"new_content holds a NUL character. {NOTHING}")
    return encoded


def _refuse_overlaps(placed: Sequence[tuple[Change, int, int]], hunks: Sequence[Hunk]) -> None:
    owner: dict[int, int] = {}
    for number, (_, first, last) in enumerate(placed, 1):
        for line in range(first, last + 1):
            if line in owner:
                raise InvalidChange(
                    f"Changes {owner[line]} and {number} both address line {line + 1}. {NOTHING}",
                    hint="Merge them into one change.",
                )
            owner[line] = number
    gaps = [hunk.start for hunk in hunks if hunk.start == hunk.stop]
    if len(gaps) != len(set(gaps)):
        raise InvalidChange(
            f"Two changes insert at the same place. {NOTHING}", hint="Merge them into one change."
        )


def _refuse_doubtful(document: Document, hunks: Sequence[Hunk]) -> None:
    """Refuse, once, new text that repeats a line beside it or holds another file's prefixes."""
    found = (text for hunk in hunks for text in (_echo(document, hunk), _foreign(hunk)) if text)
    doubts = list(islice(found, DOUBTS))
    call = hash((document.name, *hunks))
    if not doubts or document.seen.confirmable == call:
        document.seen.confirmable = 0
        return
    document.seen.confirmable = call
    raise InvalidChange(
        f"new_content looks like a slip. {NOTHING}\n" + "\n".join(doubts),
        hint="If that is what you mean, send the same call again; if not, leave it out.",
    )


def _foreign(hunk: Hunk) -> str:
    line = next((line for line in hunk.new if line.startswith(b"[LID:") and echoes(line)), b"")
    shown = line.decode()[:80]
    return f"A line begins with a line ID that is not of this file: {shown!r}" if line else ""


def _echo(document: Document, hunk: Hunk) -> str:
    if not hunk.new:
        return ""
    if hunk.start == hunk.stop and len(hunk.new) > 1 and _stands_beside(document, hunk):
        return f"The {len(hunk.new)} lines stand there already: was this call sent before?"
    old = document.lines.between(hunk.start, hunk.stop)
    above = document.lines.between(hunk.start - 1, hunk.start) if hunk.start else []
    below = document.lines.between(hunk.stop, hunk.stop + 1)
    top = _repeats(above, hunk.new[0], old[:1])
    bottom = _repeats(below, hunk.new[-1], old[-1:])
    if not top and not bottom:
        return ""
    where = "above" if top else "below"
    line = (above if top else below)[0].decode(errors="replace").strip()[:80]
    region = document.tagged(hunk.start - AROUND, hunk.stop + AROUND)
    return f"The line {where} stays and reads {line!r}; it would then stand twice:\n{region}"


def _stands_beside(document: Document, hunk: Hunk) -> bool:
    start, size, between = hunk.start, len(hunk.new), document.lines.between
    return list(hunk.new) in (between(max(0, start - size), start), between(start, start + size))


def _repeats(neighbour: Sequence[bytes], new: bytes, old: Sequence[bytes]) -> bool:
    return bool(neighbour) and bool(new.strip()) and neighbour[0] == new != b"".join(old)
