"""Edit a file by line ID."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema, model_validator
from pydantic import Field as Described

from fsagent_tools.edits.by_id import (
    Change,
    Placement,
    lines_named,
    resolve_changes,
    split_new,
    split_part,
)
from fsagent_tools.errors import InvalidArguments, InvalidChange
from fsagent_tools.lines.diff import marked_diff
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.lines.ids import WIDTH
from fsagent_tools.results import Findings
from fsagent_tools.session.editing import editing
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.all_or_none import MOST_FILES, all_or_none
from fsagent_tools.toolkit.coercion import item_under_own_names
from fsagent_tools.toolkit.edited import clipped
from fsagent_tools.workspace import Staleness, lazy

MOST_CHANGES = 1000  # of one file in one call
BESIDE = ("after_line_id", "before_line_id")
RANGE = ("start_line_id", "end_line_id")
RANGE_ENDS = ("end_line_id", "end_before")
_NAMED: list[set[str]] = [
    *(set(), {"line_id"}),
    *({start, end} for start in ("line_id", "start_line_id") for end in RANGE_ENDS),
]


def _written(value: Any) -> Any:
    """One ID in sixteen is all digits, and models send such an ID as a number."""
    return f"{value:06d}" if type(value) is int and 0 <= value < 10**WIDTH else value


LineId = Annotated[str, BeforeValidator(_written)]
Unneeded = Annotated[LineId | None, BeforeValidator(lambda value: None if value == "" else value)]


class ChangeParam(BaseModel):
    """One change: new text for lines or beside one, or lines as they are put beside one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    line_id: Unneeded = None
    start_line_id: Unneeded = None
    end_line_id: Unneeded = None
    end_before: Unneeded = None
    after_line_id: Unneeded = None
    before_line_id: Unneeded = None
    old: Unneeded = None
    new_content: str | list[str] | None = None
    from_file: Unneeded = None
    file_path: Unneeded = None

    @model_validator(mode="after")
    def _one_form(self) -> "ChangeParam":
        given = {name for name, value in self if value is not None} - {"file_path"}
        beside = given.intersection(BESIDE)
        lines = given - {*BESIDE, "old", "new_content", "from_file"}
        taken = bool(lines and beside)
        text = (self.new_content or None) if taken else self.new_content
        fits = bool(lines or beside) and lines in _NAMED and len(beside) < 2
        fits = fits and taken == (text is None) and (taken or self.from_file is None)
        if not fits or (self.old is not None and given != {"line_id", "old", "new_content"}):
            has = sorted(given - {"new_content"})
            has += ["no new_content"] if self.new_content is None else []
            part = "; old is a part of the line that line_id names" if self.old else ""
            raise ValueError(
                "give line_id, or line_id and end_line_id, or after_line_id, or before_line_id, "
                f"with new_content{part}; this change has {', '.join(has) or 'none'}"
            )
        return self

    def as_change(self) -> Change:
        """What is asked for; lines that are put somewhere are taken from the same file."""
        sent = self.new_content or ""
        first = self.line_id or self.start_line_id or ""
        until = self.end_before is not None
        last = self.end_line_id or self.end_before or first
        lines = Change("replace", first, last, until=until)
        beside = self.after_line_id or self.before_line_id
        if beside is None:
            new = split_part(sent) if self.old else split_new(sent)
            return replace(lines, new=new, old=self.old or "")
        place: Placement = "after" if self.after_line_id else "before"
        if not first:
            return Change(place, beside, beside, split_new(sent))
        return Change(place, beside, beside, lines=lines, moves=self.from_file is None)


def changes_of(value: Any) -> Any:
    """Models send the list as JSON text, or one change bare, or a list around the list."""
    value = from_json(value)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    changes = [value] if isinstance(value, dict) else value
    return [*map(_item, changes)] if isinstance(changes, list) else changes


def _item(value: Any) -> Any:
    one, names = from_json(value), ChangeParam.model_fields
    known = not isinstance(one, dict) or one.keys() <= names.keys()
    return one if known else item_under_own_names(one, [*names])


def from_json(value: Any) -> Any:
    """A list or object that was sent as JSON text. Raises `ValueError`."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        if not value.lstrip().startswith(("[", "{")):
            return value
        raise ValueError(f"not valid JSON: {error}; send the list itself, not as text") from None


_TEXT = {"type": "string"}


def _list_of(names: Iterable[str], **more: Any) -> WithJsonSchema:
    """The schema of a list of changes, of which a model is shown these parts."""
    item = {"type": "object", "properties": dict.fromkeys(names, _TEXT), **more}
    return WithJsonSchema({"type": "array", "items": item})


_SHOWN = ("line_id", *RANGE, *BESIDE, "new_content")
Changes = Annotated[
    list[ChangeParam], BeforeValidator(changes_of), _list_of(_SHOWN, required=["new_content"])
]


_WORDED = ("line_id", *RANGE_ENDS, *BESIDE, "old", "new_content", "from_file", "file_path")
WordedChanges = Annotated[  # where an ID is a word, and with all that a change can say
    list[ChangeParam],
    BeforeValidator(changes_of),
    _list_of(_WORDED),
    Described(
        description="Replace line_id (to end_line_id or up to end_before), or old in it, with "
        'new_content: whole lines (last newline optional), "" deletes. Insert new_content '
        "after_line_id or before_line_id, or instead move line_id there, or copy it with "
        "from_file. An ID needs its line's first two words: "
        '"amp return x", "gol }"; a blank line has none.'
    ),
]


class EditLinesParams(Params):
    path: str = Field(description="File to edit.")
    changes: Changes = Field(
        max_length=MOST_CHANGES,
        description='new_content: whole lines, "" deletes. It replaces line_id or start_line_id to '
        "end_line_id; after_line_id or before_line_id insert it. Quote two words behind an ID.",
    )
    staleness: Staleness | None = Field(
        None, description="Override the workspace's staleness rule."
    )
    advance: bool = Field(
        True, description="Return fresh IDs; False drops the file's line index after the edit."
    )
    lint: Lint | None = Field(None, description=LINT)


@dataclass(frozen=True)
class EditedLines:
    """What an edit did; `also`: to further files.

    _marked: the diff with fresh IDs, "" when the index was dropped.
    """

    path: str
    changes_applied: int
    lines_changed: int
    diff: str
    insertions: int
    deletions: int
    _marked: str
    notes: list[str]
    lint: Findings | None
    _broken: str = ""
    also: list["EditedLines"] = field(default_factory=list)

    def render(self) -> str:
        parts = (*self.notes, self._marked or clipped(self.diff), self._broken)
        return "\n".join(filter(None, parts))

    def plain(self) -> str:
        return self.diff


@action(effect=Effect.WRITE, permissions=("fs.read", "fs.write"))
def edit_lines(workspace: Workspace, p: EditLinesParams) -> EditedLines:
    """Edit whole lines by ID; fill an empty file with write."""
    parts = [
        (path, partial(_edited, workspace, p, path, wanted))
        for path, wanted in _files(workspace, p)
    ]
    if len(parts) == 1:
        return parts[0][1]()
    first, *others = all_or_none(workspace, parts)
    return replace(first, also=others)


def _files(workspace: Workspace, p: EditLinesParams) -> list[tuple[str, dict[int, Change]]]:
    """The changes of each file by their numbers in the call. What they take from other files is as
    it was before the call.
    """
    found: dict[str, tuple[str, dict[int, Change]]] = {}
    place = cache(lambda path: workspace.files.place(path).relative)
    for number, one in enumerate(p.changes, 1):
        path = one.file_path or p.path
        _, changes = found.setdefault(place(path), (path, {}))
        changes[number] = _asked(workspace, path, number, one)
    if len(found) > MOST_FILES:
        raise InvalidArguments(
            f"changes: they are of {len(found)} files. {NOTHING}",
            hint=f"Name at most {MOST_FILES} files in a call.",
        )
    return [*found.values()] or [(p.path, {})]


def _edited(
    workspace: Workspace, p: EditLinesParams, path: str, wanted: Mapping[int, Change]
) -> EditedLines:
    with editing(workspace, path, lint=p.lint) as edit:
        document = edit.document
        if not wanted:
            raise InvalidChange(f"`changes` is empty. {NOTHING}", hint="Give at least one change.")
        document.require_ids()  # an unread file is refused as such, not as changed
        if (p.staleness or workspace.staleness) == "file":
            edit.require_unchanged()
        parses = lazy.lint.judge(edit.path)
        hunks, notes = resolve_changes(wanted, document, edit.utf8, parses)
        written = edit.apply(hunks)
        marked = marked_diff(edit.document, written.old, written.hunks) if p.advance else ""
    if not p.advance:
        workspace.session.forget(written.path)
    return EditedLines(
        written.path,
        len(wanted),
        sum(max(hunk.stop - hunk.start, len(hunk.new)) for hunk in written.hunks),
        written.diff(),
        written.insertions,
        written.deletions,
        marked,
        notes,
        written.lint,
        written.broken,
    )


def _asked(workspace: Workspace, path: str, number: int, change: ChangeParam) -> Change:
    """The change, with the lines that it takes from another file."""
    asked, other = change.as_change(), change.from_file
    place = workspace.files.place
    if not other or not isinstance(asked.lines, Change) or place(other) == place(path):
        return asked
    reading, style = workspace.session.reading, workspace.style
    with workspace.files.open(other) as file, reading(file, style, glimpse=True) as document:
        return replace(asked, lines=lines_named(document, asked.lines, number))
