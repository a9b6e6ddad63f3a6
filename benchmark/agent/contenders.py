"""Sets of tools that compete: our toolsets and styles of marks, and deepagents' own tools."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from deepagents.backends.filesystem import FilesystemBackend
from deepagents.middleware.filesystem import FilesystemMiddleware

from fsagent_tools import Workspace, toolset
from fsagent_tools.lines.styles import StyleName
from fsagent_tools_langchain import get_tools as langchain_tools
from fsagent_tools_llamaindex import get_tools as llamaindex_tools

EDITING = ("read", "edit_lines", "glob", "grep", "ls")
Made = tuple[list[Any], list[Any], Callable[[], None]]  # tools, middleware, what closes them


def ours(framework: str, root: Path, name: str, style: StyleName) -> Made:
    """The part of a toolset that finds, reads and edits; the same for every model."""
    workspace = Workspace(root, line_ids=style)
    tools = toolset(name).only(*EDITING) if name == "workspace" else toolset(name)
    make = llamaindex_tools if framework == "llamaindex" else langchain_tools
    return list(make(workspace, tools)), [], workspace.close


def deepagents(framework: str, root: Path) -> Made:
    """Its middleware, as its own agent has it. Raises `ValueError` for LlamaIndex."""
    if framework != "langchain":
        raise ValueError("deepagents' tools are for LangChain: --framework langchain.")
    backend = FilesystemBackend(root, virtual_mode=True)
    return [], [FilesystemMiddleware(backend=backend)], lambda: None


CONTENDERS: dict[str, Callable[[str, Path], Made]] = {
    "tag": lambda framework, root: ours(framework, root, "workspace", "tag"),
    "short": lambda framework, root: ours(framework, root, "workspace", "short"),
    "words": lambda framework, root: ours(framework, root, "workspace", "words"),
    "compact": lambda framework, root: ours(framework, root, "compact", "tag"),
    "file_ops": lambda framework, root: ours(framework, root, "file_ops", "tag"),
    "filesystem": lambda framework, root: ours(framework, root, "filesystem", "tag"),
    "deepagents": deepagents,
}
