"""A search for a quote, whose refusals show the lines that may be quoted instead."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from fsagent_tools.edits.evidence import Check
from fsagent_tools.edits.finding import Found
from fsagent_tools.edits.suggest import Suggestion, suggest
from fsagent_tools.errors import NoMatch, TimedOut, ToolError
from fsagent_tools.lines.document import NOTHING

_WHOLE, _OTHERS = 40, 4  # lines shown of the most similar place, and of others


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


def _suggested(error: NoMatch, places: Sequence[Suggestion], telling: Telling) -> None:
    shown, details = [], list[dict[str, Any]]()
    for number, place in enumerate(places):
        last = min(place.end_line, place.line - 1 + (_OTHERS if number else _WHOLE))
        ids = {"line_ids": telling.ids(place.line, last)} if telling.ids else {}
        known = {"line": place.line, "end_line": place.end_line, "similarity": place.similarity}
        details.append({**known, **ids})
        where = f"Lines {place.line}-{place.end_line} ({place.similarity:.0%} alike)"
        shown.append(f"{where}:\n{telling.lines(place.line, last)}")
    if places and places[0].differs:
        line, there, quoted = places[0].differs
        shown.append(f"First difference, line {line}:\n{there}\nquoted as:\n{quoted}")
    if shown:
        error.hint = "\n".join([error.hint, "Most similar:", *shown])
    error.details = {"suggestions": details}
