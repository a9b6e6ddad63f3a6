"""The definitions of tools that a model is sent with every request: ours by toolset, and peers'."""

import json
from typing import Any

from deepagents.backends.filesystem import FilesystemBackend
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain_core.utils.function_calling import convert_to_openai_tool

from fsagent_tools import Workspace, toolset
from fsagent_tools.tokens import definition
from fsagent_tools.toolsets import TOOLSETS


def packed(definitions: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(one, separators=(",", ":")) for one in definitions)


def ours() -> dict[str, str]:
    """By toolset, all its tools; and those of the default one that read and edit."""
    workspace = Workspace(".")
    told = {
        f"{name} ({len(tools)} tools)": packed([definition(tool) for tool in tools.values()])
        for name in TOOLSETS
        if (tools := toolset(name).bind(workspace))
    }
    tools = toolset("workspace").bind(workspace)
    pair = [definition(tools[name]) for name in ("read", "edit_lines")]
    workspace.close()
    return told | {"workspace: read, edit_lines": packed(pair)}


def deepagents() -> dict[str, str]:
    tools = FilesystemMiddleware(backend=FilesystemBackend("/")).tools
    every = {tool.name: convert_to_openai_tool(tool) for tool in tools}
    pair = [every[name] for name in ("read_file", "edit_file")]
    return {
        f"deepagents ({len(every)} tools)": packed([*every.values()]),
        "deepagents: read_file, edit_file": packed(pair),
    }
