"""The lines that a model names by ID; a refusal shows those that were probably meant."""

from collections.abc import Mapping, Sequence
from itertools import islice

from fsagent_tools.errors import InvalidChange, StaleLineIds, UnknownLineId
from fsagent_tools.lines.carry import OUTSIDE
from fsagent_tools.lines.document import NOTHING, Document
from fsagent_tools.lines.ids import WIDTH
from fsagent_tools.lines.styles import Typed
from fsagent_tools.text import in_quotes, some, unclipped

_NAMED = 10  # IDs that one refusal names
_LOOKED_AT = 50_000  # lines looked through for one refusal
_FEW = 3  # lines that a refusal names for one ID
_SHOWN = 4  # lines that it shows with those around them


def locate(document: Document, typed: Sequence[str]) -> dict[str, int]:
    """The lines that carry the IDs as the model typed them, with what it quoted of the lines.

    Raises `NotReadYet`, `UnknownLineId`, `StaleLineIds` or `InvalidChange`; the text shows
    live lines.
    """
    document.require_ids()
    read = {text: document.style.parse(text) for text in typed}
    at = {text: document.index.position(one.line_id) for text, one in read.items()}
    lines = {text: line for text, line in at.items() if line is not None}
    if missing := {text: one for text, one in read.items() if text not in lines}:
        raise _missing(document, missing, [*lines.values()])
    named = [(read[text], line) for text, line in lines.items()]
    if wrong := [(one, line) for one, line in named if document.misquoted(one.quote, line)]:
        raise _misquoting(document, wrong)
    return lines


def _misquoting(document: Document, wrong: Sequence[tuple[Typed, int]]) -> InvalidChange:
    """The refusal of IDs whose lines do not begin with the words behind them."""
    told: list[str] = []
    places: list[int] = []
    meant: list[int] = []
    for one, line in wrong:
        what = document.misquoted(one.quote, line)
        told.append(f"{one.name} {what}; it would be {in_quotes(document.named(line))}.")
        near = _likely(document, one.name, one.quote, line) if one.quote else []
        if line in near[:1]:  # too few words, but its own: no other line is meant
            near = []
        meant += near
        places += near or [line]
    sentences = [*told[:_SHOWN], *_asked(document, meant), NOTHING]
    return InvalidChange(" ".join(sentences), hint=document.near(places[:_SHOWN]))


def _missing(
    document: Document, typed: Mapping[str, Typed], found: Sequence[int]
) -> UnknownLineId | StaleLineIds:
    """The refusal that names all the IDs which no line carries, and shows lines near them."""
    spelled, index = document.style.spelled, document.index
    ids = [one.line_id for one in typed.values() if one.line_id]
    gone = [line_id for line_id in ids if line_id in index.used]
    told = []
    if wrong := [text.strip()[:40] for text, one in typed.items() if not one.line_id]:
        are = "is not a line ID" if len(wrong) == 1 else "are not line IDs"
        told.append(f"{some([*map(repr, wrong)], _NAMED)} {are}. IDs are {document.style.shape}.")
    if unknown := [line_id for line_id in ids if line_id not in gone]:
        told.append(f"{document.name} has no line {some([*map(spelled, unknown)], _NAMED)}.")
    if gone:
        line, how = index.gone.get(gone[0], (_last_seen(document, found), "since it was read"))
        lines = "Line {} of {} was" if len(gone) == 1 else "Lines {} of {} were"
        what = "rewritten, moved or removed" if how == OUTSIDE else "rewritten or removed"
        told.append(
            lines.format(some([*map(spelled, gone)], _NAMED), document.name)
            + f" {what} {how}: the file has changed since last read."
        )
        hint = f"Re-read, or use the current IDs. {document.near([line])}"
        return StaleLineIds(" ".join([*told, NOTHING]), hint=hint)
    meant: list[int] = []
    for text, one in typed.items():
        beside = found[0] if found else None
        unnamed = _likely(document, "", text, beside)  # the words of a line without its ID
        meant += _likely(document, one.name, one.quote, beside) or unnamed
    told += _asked(document, meant)
    hint = document.near(meant[:_SHOWN] or [_last_seen(document, found)])
    return UnknownLineId(" ".join([*told, NOTHING]), hint=hint)


def _likely(document: Document, name: str, quote: str, beside: int | None) -> list[int]:
    """The lines that a wrong ID was probably meant for, the likeliest first, `_FEW` at most.

    Those whose text begins with the quote go before those whose ID is a slip away, the nearest to
    the line `beside` first.
    """
    words = unclipped(quote).encode(errors="replace").split()
    every = [*islice(document.identified(), _LOOKED_AT)]
    fits = [one for one in every if words and one.text.split()[: len(words)] == words]
    if beside is not None:
        fits.sort(key=lambda one: abs(one.line - beside))
    close = [one for one in fits or every if _is_slip(name, one.line_id)]
    first = fits[:1] if beside is not None or len(fits) == 1 else []
    return [one.line for one in dict.fromkeys([*first, *(close or fits)])][:_FEW]


def _is_slip(name: str, line_id: str) -> bool:
    """Whether one letter is wrong, too few, too many, or swapped with the next."""
    from rapidfuzz.distance import OSA

    return OSA.distance(name, line_id, score_cutoff=1) <= 1


def _asked(document: Document, meant: Sequence[int]) -> list[str]:
    """How the lines that may be meant are named, if there are any."""
    names = [in_quotes(document.named(line)) for line in dict.fromkeys(meant[:_SHOWN])]
    return [f"Did you mean {', '.join(names)}?"] if names else []


def _last_seen(document: Document, found: Sequence[int]) -> int:
    """A line near what is meant: another of the call, else the one that was shown last."""
    shown = document.seen.shows[-1:]
    last = [document.index.position(ids[:WIDTH]) or 0 for ids in shown]
    return next(iter((*found, *last)), 0)
