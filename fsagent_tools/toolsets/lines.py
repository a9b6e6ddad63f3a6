"""The default tools with cheaper line IDs, and what models that edited with them asked for."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from fsagent_tools.actions.edit_lines import BESIDE, RANGE_ENDS, ChangeParam, changes_of
from fsagent_tools.toolsets.workspace import WORKSPACE

_TOLD = (
    'new_content: whole lines, "" deletes. It replaces line_id, line_id to end_line_id, line_id up '
    "to end_before, or old within line_id; after_line_id or before_line_id insert it. Without it, "
    "the lines move there, or from_file copies them. An ID needs the first two words of its line: "
    '"amp return x", "gol }"; a blank line has none.'
)
_NAMES = ("line_id", *RANGE_ENDS, *BESIDE, "old", "new_content", "from_file")
_ITEM = {"type": "object", "properties": {name: {"type": "string"} for name in _NAMES}}
_CHANGES = Annotated[
    list[ChangeParam],
    BeforeValidator(changes_of),
    WithJsonSchema({"type": "array", "items": _ITEM}),
    Field(description=_TOLD),
]
_SHOWN = WORKSPACE.showing({"read": ("more", "numbers")})
_SAID = {"path": "File.", "content": "Its text.", "pages": "PDF, e.g. 1-5."}
_SAYING: dict[str, dict[str, Any]] = {
    "read": {"description": "Read a text file; each line comes with its ID.", "describe": _SAID},
    "write": {"describe": _SAID},
    "edit_lines": {"typed": {"changes": _CHANGES}, "describe": _SAID},
    "grep": {"describe": {"include": "Glob, e.g. *.py"}},
}
LINES = replace(
    _SHOWN,
    name="lines",
    entries=tuple(replace(one, **_SAYING.get(one.shown_name, {})) for one in _SHOWN.entries),
    line_ids="words",
)
