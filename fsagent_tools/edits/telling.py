"""A search for a quote, whose refusals show the lines that may be quoted instead."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from fsagent_tools.edits.evidence import Check
from fsagent_tools.edits.finding import Found
from fsagent_tools.edits.misses import DEFAULT
from fsagent_tools.edits.suggest import Suggestion, suggest
from fsagent_tools.errors import MultipleMatches, NoMatch, TimedOut, ToolError
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.lines.source import Lines, text_of
from fsagent_tools.text import MAX_LINE_CHARS, clip, newline_of

_SPOKEN = {"`old_string`": "the quoted text", "`new_string`": "the new text"}
_WHOLE, _OTHERS = 40, 4  # lines shown of the most similar place, and of others


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
    most: int
    check: Check
    ids: Callable[[int, int], Sequence[str]] | None = None


def find_or_tell(seek: Callable[[], Found], text: bytes, old: str, telling: Telling) -> Found:
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
        last = min(place.end_line, place.line - 1 + (_OTHERS if number else _WHOLE))
        ids = {"line_ids": telling.ids(place.line, last)} if telling.ids else {}
        known = {"line": place.line, "end_line": place.end_line, "similarity": place.similarity}
        details.append({**known, **ids})
        lines = f"Lines {place.line}-{place.end_line}"
        if place.line == place.end_line:
            lines = f"Line {place.line}"
        where = f"{lines} ({place.similarity:.0%} alike)"
        shown.append(f"{where}:\n{telling.lines(place.line, last)}")
    if error.hint == DEFAULT and places and places[0].differs:
        line, there, quoted = places[0].differs
        shown.append(f"First difference, line {line}:\n{there}\nquoted as:\n{quoted}")
    if shown:
        error.hint = "\n".join([error.hint, "Most similar:", *shown])
    error.details = {"suggestions": details}
