"""What reads, of the default toolset; lines have numbers, since nothing is edited by ID."""

from dataclasses import replace

from fsagent_tools.toolsets.workspace import WORKSPACE

READONLY = replace(
    WORKSPACE.only("read", "glob", "grep", "ls").with_defaults(
        {"read": {"marks": "numbers"}, "grep": {"ids": False}}
    ),
    name="readonly",
)
