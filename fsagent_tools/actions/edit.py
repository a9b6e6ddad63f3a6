"""Edit a file by quoting the text to replace."""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any

from fsagent_tools.actions.insert import insert_lines
from fsagent_tools.answers.action import action
from fsagent_tools.answers.edited import Edited, EditMarks, How, numbered_lines, told
from fsagent_tools.call import patience
from fsagent_tools.edits.evidence import THRESHOLD, Evidence, Occurrences, Parses
from fsagent_tools.edits.finding import find
from fsagent_tools.edits.suggest import suggest
from fsagent_tools.effects import Effect
from fsagent_tools.errors import (
    InvalidArguments,
    InvalidChange,
    NoMatch,
    TimedOut,
    ToolError,
)
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.params.arguments import Params
from fsagent_tools.params.knob import Field
from fsagent_tools.session.editing import Edit, Written, editing
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.text import NOTEBOOK, encoded
from fsagent_tools.workspace import Workspace

_PATIENCE = 2  # seconds for finding text, or text like it
_SUGGESTIONS = 3  # similar places that a miss names
_WHOLE, _OTHERS = 40, 4  # lines shown of the most similar place, and of others


class EditParams(Params):
    path: str = Field(description="File to edit.")
    old_string: str = Field(description="Text to replace; it must be unique.")
    new_string: str = Field(description="Replacement.")
    occurrences: Occurrences = Field(
        "unique", description='Which to replace: "unique", "first", "all", or how many.'
    )
    fuzzy_threshold: float | None = Field(
        THRESHOLD, gt=0, le=1, description="Least similarity of a line; null: exact text only."
    )
    typos_only: bool = Field(True, description="Similar lines may differ in misspelt words only.")
    max_suggestions: int = Field(
        _SUGGESTIONS, ge=0, description="Similar places named when there is no match."
    )
    insert_at_line: int | None = Field(
        None, ge=1, description="Insert new_string before this line (from 1) instead."
    )
    encoding: str | None = Field(None, description="Text encoding; default: detected.")
    marks: EditMarks = Field("ids", description="Return the new lines' IDs.")
    lint: Lint | None = Field(None, description=LINT)
    gate: bool = Field(False, description="Refuse large files that were not read in this session.")

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """An insertion quotes nothing."""
        given = values.get("insert_at_line") is not None
        return {"old_string": "", **values} if given else values


@action(effect=Effect.WRITE, permissions=("fs.read", "fs.write"))
def edit(workspace: Workspace, p: EditParams) -> Edited:
    """Replace text in a file."""
    if p.insert_at_line is not None and p.old_string:
        raise InvalidArguments("Give `old_string` or `insert_at_line`, not both.")
    with editing(workspace, p.path, p.encoding, p.lint) as edit:
        if p.gate:
            edit.require_seen()
        if p.insert_at_line is not None:
            new = encoded(p.new_string, "new_string")
            return told(edit, *insert_lines(edit, p.insert_at_line, new), p.marks)
        judge = cache(partial(workspace.services.judge, p.path))
        written, how = _replaced(edit, p, lambda text: judge()(text))
        return told(edit, written, how, p.marks)


def _replaced(edit: Edit, p: EditParams, parses: Parses) -> tuple[Written, How]:
    try:
        found = find(
            edit.utf8,
            p.old_string,
            p.new_string,
            occurrences=p.occurrences,
            evidence=Evidence(
                p.fuzzy_threshold, p.typos_only, parses, patience(_PATIENCE, "Looking for the text")
            ),
        )
    except TimedOut as error:
        hint = "Quote fewer lines, exactly as they stand in the file."
        raise TimedOut(f"{error.message} {NOTHING}", hint=hint) from None
    except ToolError as error:
        error.message += f" {NOTHING}"
        if places := error.details.get("places"):
            shown = [_shown(edit, p, at, min(last, at - 1 + _WHOLE)) for at, last in places]
            error.hint = "\n...\n".join([f"{error.hint}\n{shown[0]}", *shown[1:]])
        raise (_with_suggestions(error, edit, p) if isinstance(error, NoMatch) else error) from None
    notebook = p.path.lower().endswith(NOTEBOOK)
    if notebook and parses(found.apply(edit.utf8)) is False and parses(edit.utf8):
        raise InvalidChange(
            f"The JSON of which {p.path} is made would not parse. {NOTHING}",
            hint="Each line of a cell is a JSON string there. Quote it as `grep` shows it, and "
            'send each new line so, too: "...\\n", with quotes escaped.',
        )
    return edit.apply(found.hunks, found.ends), How(found.strategy, found.count, found.how)


def _with_suggestions(error: NoMatch, edit: Edit, p: EditParams) -> NoMatch:
    places, check = [], patience(_PATIENCE, "Looking for similar text")
    with suppress(TimedOut):
        places = suggest(edit.utf8, p.old_string, p.max_suggestions, check)
    shown, details = [], []
    for number, place in enumerate(places):
        last = min(place.end_line, place.line - 1 + (_OTHERS if number else _WHOLE))
        detail: dict[str, Any] = {
            "line": place.line,
            "end_line": place.end_line,
            "similarity": place.similarity,
        }
        if p.marks == "ids":
            ids = edit.document.show(edit.document.lines.window(place.line - 1, last))
            detail["line_ids"] = edit.document.style.spelled_all(ids)
        where = f"Lines {place.line}-{place.end_line} ({place.similarity:.0%} alike)"
        shown.append(f"{where}:\n{_shown(edit, p, place.line, last)}")
        details.append(detail)
    if places and places[0].differs:
        line, there, quoted = places[0].differs
        shown.append(f"First difference, line {line}:\n{there}\nquoted as:\n{quoted}")
    nearest = "\n".join(["", "Most similar:", *shown]) if shown else ""
    return NoMatch(error.message, hint=f"{error.hint}{nearest}", details={"suggestions": details})


def _shown(edit: Edit, p: EditParams, first: int, last: int) -> str:
    """Lines of the file, from 1, as they stand there, so that they can be quoted."""
    if p.marks == "ids":
        return edit.document.tagged(first - 1, last)
    return numbered_lines(edit.document, first - 1, last)
