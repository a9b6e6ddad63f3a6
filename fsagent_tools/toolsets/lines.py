"""The default tools with cheaper line IDs, and what models that edited with them asked for."""

from dataclasses import replace

from fsagent_tools.toolsets.workspace import WORKSPACE

LINES = replace(
    WORKSPACE.showing({"read": ("more", "numbers")}),
    name="lines",
    line_ids="words",
)
