"""Edit a file by quoting the text to replace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fsagent_tools.actions.insert import insert_lines
from fsagent_tools.call import patience
from fsagent_tools.edits.checks import Parses
from fsagent_tools.edits.matching import LOOKING, THRESHOLD, Evidence, Occurrences
from fsagent_tools.edits.messages import PLACES_NAMED, Telling, find_or_tell
from fsagent_tools.edits.replace import find
from fsagent_tools.encoding import encoded
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.lines.ids import split_ids
from fsagent_tools.session.editing import Edit, Written, editing
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.all_or_none import MOST_FILES, all_or_none
from fsagent_tools.toolkit.edited import Edited, EditMarks, How, edited_of, numbered_lines
from fsagent_tools.workspace import lazy

_FURTHER = ("file_path", "old_string", "new_string")


class EditParams(Params):
    path: str = Field(description="File to edit.")
    old_string: str = Field(description="Text to replace; it must be unique.")
    new_string: str = Field(description="Replacement.")
    also: list[dict[str, str]] = Field(
        default_factory=list,
        max_length=MOST_FILES,
        description="Further files, each {file_path, old_string, new_string}; all are changed, or "
        "none.",
    )
    occurrences: Occurrences = Field(
        "unique", description='Which to replace: "unique", "first", "all", or how many.'
    )
    fuzzy_threshold: float | None = Field(
        THRESHOLD, gt=0, le=1, description="Least similarity of a line; null: exact text only."
    )
    typos_only: bool = Field(True, description="Similar lines may differ in misspelt words only.")
    max_suggestions: int = Field(
        PLACES_NAMED, ge=0, description="Similar places named when there is no match."
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


@dataclass(frozen=True)
class EditedFiles(Edited):
    """What an edit of several files did; `also`: to the further ones."""

    also: list[Edited] = field(default_factory=list)


@action(effect=Effect.WRITE, permissions=("fs.read", "fs.write"))
def edit(workspace: Workspace, p: EditParams) -> Edited:
    """Replace text in a file."""
    if p.insert_at_line is not None and p.old_string:
        raise InvalidArguments("Give `old_string` or `insert_at_line`, not both.")
    if not p.also:
        return _edited(workspace, p)
    every = [p, *(_further(p, one) for one in p.also)]
    parts = [(one.path, partial(_edited, workspace, one)) for one in every]
    first, *also = all_or_none(workspace, parts)
    return EditedFiles(**vars(first), also=also)


def _further(p: EditParams, one: Mapping[str, str]) -> EditParams:
    """The edit of a further file."""
    if {*one} != {*_FURTHER}:
        raise InvalidArguments(
            f"also: each has {', '.join(_FURTHER)}, and this one {', '.join(one) or 'nothing'}."
        )
    path, old, new = (one[name] for name in _FURTHER)
    return p.changed(path=path, old_string=old, new_string=new, insert_at_line=None, also=[])


def _edited(workspace: Workspace, p: EditParams) -> Edited:
    with editing(workspace, p.path, p.encoding, p.lint) as edit:
        if p.gate:
            edit.require_seen()
        if p.insert_at_line is not None:
            new = encoded(p.new_string, "new_string")
            return edited_of(edit, *insert_lines(edit, p.insert_at_line, new), p.marks)
        written, how = _replaced(edit, p, lazy.lint.judge(p.path))
        return edited_of(edit, written, how, p.marks)


def _replaced(edit: Edit, p: EditParams, parses: Parses) -> tuple[Written, How]:
    seek = partial(
        find,
        edit.utf8,
        p.old_string,
        p.new_string,
        occurrences=p.occurrences,
        evidence=Evidence(
            p.fuzzy_threshold,
            p.typos_only,
            parses,
            patience(LOOKING, "Looking for the text"),
            edit.record.lost,
            p.path,
            doubted=edit.document.seen.doubted,
        ),
    )
    found = find_or_tell(seek, edit.utf8, p.old_string, _telling(edit, p))
    return edit.apply(found.hunks, found.ends), How(found.strategy, found.count, found.how)


def _telling(edit: Edit, p: EditParams) -> Telling:
    """Lines of the file as they stand there, so that they can be quoted."""
    document = edit.document

    def ids(first: int, last: int) -> Sequence[str]:
        shown = document.show(document.lines.window(first - 1, last))
        return [*map(document.style.spelled, split_ids(shown))]

    def lines(first: int, last: int) -> str:
        show = document.tagged if p.marks == "ids" else partial(numbered_lines, document)
        return show(first - 1, last)

    check = patience(2 * LOOKING, "Looking for similar text")
    return Telling(lines, check, p.max_suggestions, ids if p.marks == "ids" else None)
