"""The strict contract of the file-operations reference: an edit or write drops the line index."""

from dataclasses import replace
from typing import Any

from fsagent_tools.toolkit.toolset import Toolset
from fsagent_tools.toolsets.workspace import WORKSPACE

STRICT: dict[str, dict[str, Any]] = {
    "write": {"advance": False},
    "grep": {"mint": False},
    "edit_lines": {"advance": False, "staleness": "file"},
}
_NAMES = ("read", "write", "edit_lines", "glob", "grep", "ls")
LINE_IDS = Toolset(
    "line_ids",
    tuple(
        replace(
            entry,
            pin=STRICT.get(entry.shown_name, {}),
            show=tuple(name for name in entry.show if name != "pages"),  # the reference has none
        )
        for entry in WORKSPACE.only(*_NAMES).entries
    ),
)
