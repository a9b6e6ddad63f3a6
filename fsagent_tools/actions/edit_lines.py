"""Edit a file by line ID."""

import json
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema, model_validator

from fsagent_tools.action import action
from fsagent_tools.answers.edited import clipped
from fsagent_tools.arguments import Params
from fsagent_tools.effects import Effect
from fsagent_tools.habits import item_under_own_names
from fsagent_tools.lines.changes import Change, resolve_changes, split_new
from fsagent_tools.lines.depth import WellFormed
from fsagent_tools.lines.diff import marked_diff
from fsagent_tools.lines.ids import WIDTH
from fsagent_tools.lines.splice import Hunk, rewrite
from fsagent_tools.params import Field
from fsagent_tools.results import Findings
from fsagent_tools.session.editing import Edit, editing
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.workspace import Staleness, Workspace

MOST_CHANGES = 1000  # in one call
BESIDE = ("after_line_id", "before_line_id")
RANGE = ("start_line_id", "end_line_id")


def _written(value: Any) -> Any:
    """One ID in sixteen is all digits, and models send such an ID as a number."""
    return f"{value:06d}" if type(value) is int and 0 <= value < 10**WIDTH else value


LineId = Annotated[str, BeforeValidator(_written)]
Unneeded = Annotated[LineId | None, BeforeValidator(lambda value: None if value == "" else value)]


class ChangeParam(BaseModel):
    """One change: a line, an inclusive range, or text put after or before a line."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    line_id: Unneeded = None
    start_line_id: Unneeded = None
    end_line_id: Unneeded = None
    after_line_id: Unneeded = None
    before_line_id: Unneeded = None
    new_content: str | list[str]

    @model_validator(mode="after")
    def _one_place(self) -> "ChangeParam":
        given = {n for n in ("line_id", *RANGE, *BESIDE) if getattr(self, n) is not None}
        if given not in ({"line_id"}, {*RANGE}, *({name} for name in BESIDE)):
            raise ValueError(
                "give line_id, or start_line_id with end_line_id, or after_line_id, or "
                f"before_line_id; this change has {', '.join(sorted(given)) or 'none'}"
            )
        return self

    def as_change(self) -> Change:
        new, sent = split_new(self.new_content), self.new_content
        empty_end = isinstance(sent, list) and len(sent) > 1 and not sent[-1]
        if self.after_line_id is not None:
            return Change("after", self.after_line_id, self.after_line_id, new, empty_end)
        if self.before_line_id is not None:
            return Change("before", self.before_line_id, self.before_line_id, new, empty_end)
        first = self.line_id or self.start_line_id or ""
        last = self.line_id or self.end_line_id or ""
        return Change("replace", first, last, new, empty_end)


def _parsed(value: Any) -> Any:
    """Models send the list as JSON text, or one change bare, or a list around the list."""
    value = _from_json(value)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    changes = [value] if isinstance(value, dict) else value
    return [*map(_item, changes)] if isinstance(changes, list) else changes


def _item(value: Any) -> Any:
    one, names = _from_json(value), ChangeParam.model_fields
    known = not isinstance(one, dict) or one.keys() <= names.keys()
    return one if known else item_under_own_names(one, [*names])


def _from_json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        if not value.lstrip().startswith(("[", "{")):
            return value
        raise ValueError(f"not valid JSON: {error}; send the list itself, not as text") from None


_ID = {"type": "string"}
_SHOWN = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "line_id": _ID,
            **dict.fromkeys(RANGE, _ID),
            **dict.fromkeys(BESIDE, _ID),
            "new_content": _ID,
        },
        "required": ["new_content"],
    },
}
Changes = Annotated[
    list[ChangeParam],
    BeforeValidator(_parsed),
    WithJsonSchema(_SHOWN),
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
    """What an edit did. _marked: the diff with fresh IDs, "" when the index was dropped."""

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

    def render(self) -> str:
        return "\n".join(
            [*self.notes, self._marked or clipped(self.diff), *filter(None, [self._broken])]
        )

    def plain(self) -> str:
        return self.diff


@action(effect=Effect.WRITE, permissions=("fs.read", "fs.write"))
def edit_lines(workspace: Workspace, p: EditLinesParams) -> EditedLines:
    """Edit whole lines by ID; fill an empty file with write."""
    with editing(workspace, p.path, lint=p.lint) as edit:
        document = edit.document
        wanted = [change.as_change() for change in p.changes]
        if wanted:  # an unread file is refused as such, not as changed
            document.require_ids()
        if (p.staleness or workspace.staleness) == "file":
            edit.require_unchanged()
        resolved = resolve_changes(wanted, document, _judge(workspace, edit))
        written = edit.apply(resolved.hunks)
        marked = marked_diff(edit.document, written.old, written.hunks) if p.advance else ""
    if not p.advance:
        workspace.session.forget(written.path)
    return EditedLines(
        written.path,
        len(p.changes),
        sum(max(hunk.stop - hunk.start, len(hunk.new)) for hunk in written.hunks),
        written.diff(),
        written.insertions,
        written.deletions,
        marked,
        list(resolved.notes),
        written.lint,
        written.broken,
    )


def _judge(workspace: Workspace, edit: Edit) -> WellFormed:
    """Whether the text is with a hunk applied; None where it was not before, or who knows."""
    judge = cache(partial(workspace.services.judge, edit.path))
    well_formed = cache(lambda text: judge()(text))

    def judged(hunk: Hunk) -> bool | Literal["beyond"] | None:
        if (before := well_formed(edit.utf8)) is not True:
            return before or None
        return well_formed(rewrite(edit.document.lines, edit.utf8, [hunk]).data)

    return judged
