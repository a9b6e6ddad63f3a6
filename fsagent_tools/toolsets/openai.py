"""What models of OpenAI were trained on: patches of files, and a shell."""

import re
import shlex
from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from fsagent_tools.toolkit.toolset import Entry, Shape, Toolset
from fsagent_tools.toolsets.workspace import BASH

_SECOND = 1000  # ms
_PATCHING = re.compile(r"\s*(?:cd [^;&|]+(?:&&|;)\s*)?apply_?patch(?=[\s<]|$)")
_SHELLS = ("bash", "sh", "/bin/bash", "/bin/sh")


def _line(command: list[str] | str) -> str:
    """A command as one line; a script for a shell stands for itself."""
    line = command if isinstance(command, str) else shlex.join(command)
    if not isinstance(command, str) and len(command) == 3 and command[0] in _SHELLS:
        line = command[2] if command[1] in ("-lc", "-c") else line
    if _PATCHING.match(line):
        raise ValueError("apply_patch is a tool, not a command: call it with the patch as input")
    return line


def _seconds(timeout_ms: int) -> int:
    return -(-timeout_ms // _SECOND)


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
