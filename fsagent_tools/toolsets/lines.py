"""The default tools with cheaper line IDs, and what models that edited with them asked for."""

from dataclasses import replace
from typing import Any

from fsagent_tools.toolsets.workspace import WORKSPACE

_SAID = {"path": "File.", "content": "Its text.", "pages": "PDF, e.g. 1-5."}
_SAYING: dict[str, dict[str, Any]] = {
    "read": {
        "description": "Read a text file; each line comes with its ID.",
        "show": ("offset", "limit", "numbers", "more", "pages"),
        "describe": _SAID,
    },
    "write": {"describe": _SAID},
    "edit_lines": {
        "description": "Edit lines by ID.",
        "typed": {"changes": "WordedChanges"},
        "describe": {"path": "Unless a change names another."},
    },
    "grep": {"describe": {"include": "Glob, e.g. *.py"}},
    "lsp": {"show": ("new",)},
}
LINES = replace(
    WORKSPACE,
    name="lines",
    entries=tuple(replace(one, **_SAYING.get(one.shown_name, {})) for one in WORKSPACE.entries),
    line_ids="words",
)
