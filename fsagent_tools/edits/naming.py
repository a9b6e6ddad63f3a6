"""The lines that a model names by ID; a refusal shows those that were probably meant."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fsagent_tools.edits.doubts import ALIKE, alike, tells
from fsagent_tools.edits.likely import LOOKED_AT, likely, only, sure
from fsagent_tools.errors import InvalidChange, StaleLineIds, UnknownLineId
from fsagent_tools.lines.document import NOTHING, Document, Shown
from fsagent_tools.lines.ids import WIDTH
from fsagent_tools.lines.styles import Typed
from fsagent_tools.text import in_quotes, unclipped

_NAMED = 10  # IDs that one refusal names
_COMPARED = 1_000  # lines with IDs, at most, where a new line may tell which is meant
_SHOWN = 4  # lines that it shows with those around them
Placement = Literal["replace", "after", "before"]


@dataclass(frozen=True)
class Change:
    """Lines `first` to `last` replaced, or something put beside `first`.

    empty_end: the text was a list that ends with an empty element. until: `last` is not one of
    the lines. old: the part of the line that is replaced, "" for all of it. lines: what is put
    there, to the byte, in place of `new`: lines of another file, or those of this one that a change
    names. moves: these keep their IDs, and are gone where they were.
    """

    place: Placement
    first: str
    last: str
    new: tuple[str, ...] = ()
    empty_end: bool = False
    until: bool = False
    old: str = ""
    lines: "Change | tuple[bytes, ...] | None" = None
    moves: bool = False


def spelt(document: Document, changes: Sequence[Change]) -> tuple[list[Change], list[str]]:
    """The changes with mistyped IDs put right where that is sure, and what was put right."""
    instead: dict[str, tuple[str, ...]] = {}
    strip_echo = document.style.strip_echo
    for c in changes:
        tagged = any(strip_echo(line, document.index.used) is not None for line in c.new)
        tells = c.place == "replace" and not tagged  # a tag is that of another line, maybe
        ends = (c.new[:1], c.new[-1:]) if tells else ((), ())
        for text, new in zip((c.first, c.last), ends, strict=True):
            instead[text] = instead.get(text, ()) + new
    right = _corrected(document, instead)
    name = {text: document.style.halves(text)[0] for pair in right.items() for text in pair}
    notes = [f"No line {name[text]}: taken as {name[put]}." for text, put in right.items()]
    spelt = [
        replace(c, first=right.get(c.first, c.first), last=right.get(c.last, c.last))
        for c in changes
    ]
    return spelt, notes


def _corrected(document: Document, typed: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """What was typed with a slip in its ID, as it is without, where nothing else can be meant.

    typed: with the new lines that are to stand there, if they replace it. The words behind the ID
    tell the line; where there are none, a new line that is like it and like no other as much. An
    ID that a line has, or had, is no slip.
    """
    style, index = document.style, document.index
    read = {text: style.parse(text) for text in typed}
    wrong = [text for text, one in read.items() if one is None or one.line_id not in index.used]
    if not wrong or sum(map(len, index.runs)) > LOOKED_AT:
        return {}
    shown, gone = [*document.identified()], style.spelled_all(index.retired)
    found = {}
    for text in wrong:
        name, quote = style.halves(text)
        if quote or style.quoted:
            line = sure(name, unclipped(quote), shown, gone)
        else:
            line = only(name, shown, gone)
            line = line if line and _rewritten(document, line, typed[text], shown) else None
        if line:
            found[text] = f"{line.line_id} {quote}".rstrip()
    return found


def _rewritten(document: Document, one: Shown, new: Sequence[str], shown: Sequence[Shown]) -> bool:
    """Whether a new line is like the line, less like those beside it and all others shown."""
    if len(shown) > _COMPARED:
        return False
    between = document.lines.between
    others = between(max(0, one.line - 1), one.line) + between(one.line + 1, one.line + 2)
    others += [other.text for other in shown if other.line != one.line]
    for text in new:
        line = text.encode(errors="replace")
        same = alike(line, one.text) if tells(line) else 0
        if same > ALIKE and all(alike(line, other) < same for other in others):
            return True
    return False


def located(document: Document, typed: Sequence[str]) -> list[int]:
    """The lines that carry the IDs as the model typed them, with what it quoted of the lines.

    Raises `NotReadYet`, `UnknownLineId`, `StaleLineIds` or `InvalidChange`; the text shows
    live lines.
    """
    document.require_ids()
    read = {text: document.style.parse(text) for text in typed}
    found = {text: document.index.position(one.line_id) for text, one in read.items() if one}
    lines = {text: line for text, line in found.items() if line is not None}
    if missing := [text for text in read if text not in lines]:
        raise _missing(document, {text: read[text] for text in missing}, [*lines.values()])
    wrong: dict[str, str] = {}
    for text, line in lines.items():
        if (one := read[text]) and (what := document.misquoted(one, line)):
            wrong[text] = what
    if wrong:
        raise _misquoting(document, wrong, lines)
    return [lines[text] for text in typed]


def _misquoting(
    document: Document, wrong: Mapping[str, str], lines: Mapping[str, int]
) -> InvalidChange:
    """The refusal of IDs whose lines do not begin with the words behind them."""
    told: list[str] = []
    places: list[int] = []
    meant: list[int] = []
    for text, what in wrong.items():
        line = lines[text]
        name, quote = document.style.halves(text)
        told.append(f"{name} {what}; it would be {in_quotes(document.named(line))}.")
        near = likely(name, unclipped(quote), document.identified(), line) if quote else []
        meant += near
        places += near or [line]
    sentences = [*told[:_SHOWN], *_asked(document, meant), NOTHING]
    return InvalidChange(" ".join(sentences), hint=document.near(places[:_SHOWN]))


def _missing(
    document: Document, typed: Mapping[str, Typed | None], found: Sequence[int]
) -> UnknownLineId | StaleLineIds:
    """The refusal that names all the IDs which no line carries, and shows lines near them."""
    spelled, index = document.style.spelled, document.index
    ids = [one.line_id for one in typed.values() if one]
    gone = [line_id for line_id in ids if line_id in index.used]
    told = []
    if wrong := [text.strip()[:40] for text, one in typed.items() if one is None]:
        are = "is not a line ID" if len(wrong) == 1 else "are not line IDs"
        told.append(f"{_listed(map(repr, wrong))} {are}. IDs are {document.style.shape}.")
    if unknown := [line_id for line_id in ids if line_id not in gone]:
        told.append(f"{document.name} has no line {_listed(map(spelled, unknown))}.")
    if gone:
        line, how = index.gone.get(gone[0], (_last_seen(document, found), "since it was read"))
        lines = "Line {} of {} was" if len(gone) == 1 else "Lines {} of {} were"
        told.append(
            lines.format(_listed(map(spelled, gone)), document.name)
            + f" rewritten or removed {how}: the file has changed since last read."
        )
        hint = f"Re-read, or use the current IDs. {document.near([line])}"
        return StaleLineIds(" ".join([*told, NOTHING]), hint=hint)
    meant: list[int] = []
    for text in typed:
        name, quote = document.style.halves(text)
        beside = found[0] if found else None
        meant += likely(name, unclipped(quote), document.identified(), beside)
    told += _asked(document, meant)
    hint = document.near(meant[:_SHOWN] or [_last_seen(document, found)])
    return UnknownLineId(" ".join([*told, NOTHING]), hint=hint)


def _asked(document: Document, meant: Sequence[int]) -> list[str]:
    """How the lines that may be meant are named, if there are any."""
    names = [in_quotes(document.named(line)) for line in dict.fromkeys(meant[:_SHOWN])]
    return [f"Did you mean {', '.join(names)}?"] if names else []


def _last_seen(document: Document, found: Sequence[int]) -> int:
    """A line near what is meant: another of the call, else the one that was shown last."""
    shown = document.seen.shows[-1:]
    last = [document.index.position(ids[:WIDTH]) or 0 for ids in shown]
    return next(iter((*found, *last)), 0)


def _listed(names: Iterable[str]) -> str:
    every = [*names]
    more = len(every) - _NAMED
    return ", ".join(every[:_NAMED]) + f" and {more} more" * (more > 0)
