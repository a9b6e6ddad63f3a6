"""What models of OpenAI were trained on: patches of files, and a shell."""

import shlex
from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from fsagent_tools.actions.apply_patch import GRAMMAR
from fsagent_tools.tools.toolset import Entry, Shape, Toolset
from fsagent_tools.toolsets.workspace import BASH

_SECOND = 1000  # ms
_SHELLS = ("bash", "sh", "/bin/bash", "/bin/sh")


def _line(command: list[str] | str) -> str:
    """A command as one line; a script for a shell stands for itself."""
    if isinstance(command, str):
        return command
    script = len(command) == 3 and command[0] in _SHELLS and command[1] in ("-lc", "-c")
    return command[2] if script else shlex.join(command)


def _seconds(timeout_ms: int) -> int:
    return -(-timeout_ms // _SECOND)


_FORMAT = {"type": "grammar", "syntax": "lark", "definition": GRAMMAR}
_COMMAND = Annotated[
    list[str] | str,
    AfterValidator(_line),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
    Field(description='Words of the command, such as ["bash", "-lc", "ls | head"].'),
]
_TIMEOUT = Annotated[
    int, Field(ge=1, description="Milliseconds (default 120000)."), AfterValidator(_seconds)
]

OPENAI = Toolset(
    "openai",
    (
        Entry(
            "apply_patch",
            rename={"input": "patch"},
            native={"openai": {"type": "custom", "format": _FORMAT}},
            result=Shape.flat("output", "added", "deleted", "updated", "moved", "diff"),
        ),
        Entry(
            "bash",
            name="shell",
            rename={"workdir": "working_dir", "timeout_ms": "timeout"},
            typed={"command": _COMMAND, "timeout_ms": _TIMEOUT},
            show=("working_dir", "timeout"),
            result=BASH,
        ),
        Entry(
            "read",
            description="Read a file; also PDF, images and notebooks.",
            defaults={"marks": "none"},
            show=("offset", "limit"),
            result=Shape.flat("output", "line_count", "total_lines", "truncated", "offset"),
        ),
        Entry(
            "grep",
            show=("path", "include"),
            defaults={"include_hidden": True},
            pin={"ids": False},
            result=Shape.flat("output", "matches", "count", "truncated"),
        ),
    ),
)
