"""pydantic-ai-backend: its console toolset in one of two formats, without the agent around it."""

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

from pydantic_ai.workspaces import LocalWorkspaceBackend, Workspace
from pydantic_ai_backends import create_console_toolset
from serve import packed, serve

root, form = sys.argv[1:]
tools: dict[str, Any] = create_console_toolset(edit_format=form).tools  # type: ignore[arg-type]
context = SimpleNamespace(
    workspace=Workspace(LocalWorkspaceBackend(root)), retry=0, max_retries=1, tool_name="edit"
)
loop = asyncio.new_event_loop()
EDIT = "hashline_edit" if form == "hashline" else "edit_file"


def call(name: str, arguments: dict[str, Any]) -> str:
    return str(loop.run_until_complete(tools[name].function(context, **arguments)))


def edit(arguments: dict[str, Any]) -> tuple[bool, str]:
    text = call(EDIT, arguments)
    return text.startswith("Edited"), text


def define() -> dict[str, str]:
    every = {name: tool.tool_def for name, tool in tools.items()}
    return {
        name: packed(name, one.description, one.parameters_json_schema)
        for name, one in every.items()
    }


serve(lambda path: call("read_file", {"path": path, "limit": 5000}), edit, define)
