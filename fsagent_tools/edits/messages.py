"""A search for a quote, whose refusals say what is wrong and show the lines to quote instead."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from fsagent_tools.edits.placeholders import elided
from fsagent_tools.edits.similarity import Check, Suggestion, suggest
from fsagent_tools.errors import MultipleMatches, NoMatch, TimedOut, ToolError
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.lines.source import Lines, text_of
from fsagent_tools.text import MAX_LINE_CHARS, clip, newline_of, unescaped

READ_PREFIX = re.compile(
    rb"^\s*(?:\[LID:[^\]\n]*\] ?|[0-9a-f]{3,8}\||(\d+)(?:\t|\||\xe2\x86\x92|: ))"
)
TOLD = 8  # bytes of new text that are too few to say that it is already there
DEFAULT = "Read the file again and quote the text exactly as it stands there."
_SPOKEN = {"`old_string`": "the quoted text", "`new_string`": "the new text"}
PLACES_NAMED = 3  # similar places that a miss names
_WHOLE, _OTHERS = 40, 4  # lines shown of the most similar place, and of others
_LINES = 30  # that are named in all, of several places
_BESIDE = 6  # on either side of one of them

LineRange = tuple[int, int]  # first and last line, from 1
_Found = TypeVar("_Found")


def explanation(text: bytes, old: bytes, new: bytes) -> str:
    """One or two sentences on what to do about an `old` that was not found."""

    def at(found: bytes, text: bytes = text) -> str:
        number = text.count(b"\n", 0, text.find(found)) + 1
        return f"at line {number}"

    lines = [line for line in old.splitlines() if line.strip()]
    bare, lower = unescaped(old), text.lower()
    told = DEFAULT
    if lines and all(map(READ_PREFIX.match, lines)):
        told = (
            "`old_string` has the prefixes that stand before lines when read: quote without them."
        )
    elif line := elided(lines, ()):
        told = f"`old_string` has a placeholder ({line!r}): quote every line, or fewer lines."
    elif bare != old and bare in text:
        told = f"`old_string` has escapes written out, and without them it is {at(bare)}: "
        told += "send real line ends, tabs and quotes."
    elif old in text:
        told = f"It is a part of a line {at(old)}: quote whole lines, as indented there."
    elif old.lower() in lower:
        told = f"The same text in other case is {at(old.lower(), lower)}."
    elif len(new.strip()) >= TOLD and new in text:
        told = f"`new_string` is already {at(new)}: the edit may have been made before."
    return told


def telling_lines(
    lines: Sequence[bytes], places: Sequence[tuple[int, int]], check: Check
) -> list[LineRange]:
    """The lines of each place, with as many beside them as stand beside no other one.

    places: lines from 0, exclusive; as many of them are told as fit into `_LINES` lines.
    """
    told: list[LineRange] = []
    left = _LINES
    places = [*dict.fromkeys(places)]  # one of each line
    for place in places:
        check()
        start, stop = _grown(lines, place, [other for other in places if other != place])
        left -= stop - start
        if left < 0 and told:
            break
        told.append((start + 1, stop))
    return told


def _grown(
    lines: Sequence[bytes], mine: tuple[int, int], others: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    """The lines that tell a place from the others, up and down by turns.

    They end with lines that are not blank, which is easier to quote.
    """
    up = down = 0
    for step in range(2 * _BESIDE):
        start, stop = mine[0] - up, mine[1] + down
        there = b"\n".join(lines[start:stop])
        others = [
            (first, last)
            for first, last in others
            if there in b"\n".join(lines[max(0, first - up) : last + down])
        ]
        if not others and lines[start].strip() and lines[stop - 1].strip():
            break
        above = step % 2 == 0 if others else bool(lines[stop - 1].strip())
        up += above and start > 0
        down += not above and stop < len(lines)
    return mine[0] - up, mine[1] + down


def lines_as_are(text: bytes, first: int, last: int) -> str:
    """Lines `first` to `last` of a text, as they stand there."""
    there = text_of(Lines.of(text, newline_of(text)).between(first - 1, last))
    return "\n".join(clip(line, MAX_LINE_CHARS) for line in there)


class Telling(NamedTuple):
    """How a refusal shows lines, from 1, both ends included.

    ids: of the lines, None where a model knows none. most: similar places that a miss names.
    check: is called while they are looked for, and may raise `TimedOut`.
    """

    lines: Callable[[int, int], str]
    check: Check
    most: int = PLACES_NAMED
    ids: Callable[[int, int], Sequence[str]] | None = None


def find_or_tell(seek: Callable[[], _Found], text: bytes, old: str, telling: Telling) -> _Found:
    """What `seek` finds of `old` in the text.

    What it raises says that nothing was written, and shows the lines to go on with.
    """
    try:
        return seek()
    except TimedOut as error:
        hint = "Quote fewer lines, exactly as they stand in the file."
        raise TimedOut(f"{error.message} {NOTHING}", hint=hint) from None
    except ToolError as error:
        error.message += f" {NOTHING}"
        if places := error.details.get("places"):
            shown = [telling.lines(at, min(last, at - 1 + _WHOLE)) for at, last in places]
            error.hint = "\n...\n".join([f"{error.hint}\n{shown[0]}", *shown[1:]])
        if not isinstance(error, NoMatch):
            raise
        with suppress(TimedOut):
            _suggested(error, suggest(text, old, telling.most, telling.check), telling)
        raise


def without_names(error: ToolError, where: str, more: str) -> ToolError:
    """The refusal of a quote that is no parameter; more: how to tell one of several places."""
    head, newline, shown = error.hint.partition("\n")
    head = more if isinstance(error, MultipleMatches) else head
    for name, spoken in _SPOKEN.items():
        error.message, head = error.message.replace(name, spoken), head.replace(name, spoken)
    error.hint = head[:1].upper() + head[1:] + newline + shown
    error.message = f"{where}: {error.message}"
    return error


def _suggested(error: NoMatch, places: Sequence[Suggestion], telling: Telling) -> None:
    shown, details = [], list[dict[str, Any]]()
    for number, place in enumerate(places):
        first, last = place.line, place.end_line
        lines = f"Lines {first}-{last}" if last > first else f"Line {first}"
        last = min(last, first - 1 + (_OTHERS if number else _WHOLE))
        shown.append(f"{lines} ({place.similarity:.0%} alike):\n{telling.lines(first, last)}")
        ids = {"line_ids": telling.ids(first, last)} if telling.ids else {}
        details.append({**place._asdict(), **ids})
    if shown:
        error.hint = "\n".join([error.hint, "Most similar:", *shown])
    error.details = {"suggestions": details}
