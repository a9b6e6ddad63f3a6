"""The default tools with cheaper line IDs, and what models that edited with them asked for."""

from dataclasses import replace

from fsagent_tools.toolsets.workspace import WORKSPACE

_CHANGES = (
    'new_content: whole lines, a final newline changes nothing, "" deletes. It replaces line_id or '
    "start_line_id to end_line_id; after_line_id or before_line_id insert it. An ID needs the "
    'first two words of its line: "amp return x", "gol }"; a blank line has none.'
)

_SHOWN = WORKSPACE.showing({"read": ("more", "numbers")})
LINES = replace(
    _SHOWN,
    name="lines",
    entries=tuple(
        replace(entry, describe={"changes": _CHANGES}) if entry.of == "edit_lines" else entry
        for entry in _SHOWN.entries
    ),
    line_ids="words",
)
