"""Sets of tools that compete: our toolsets and styles of marks, and deepagents' own tools."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from deepagents.backends.filesystem import FilesystemBackend
from deepagents.middleware.filesystem import FilesystemMiddleware

from fsagent_tools import Workspace, toolset
from fsagent_tools.lines.styles import StyleName
from fsagent_tools.toolsets.families import AUTO, toolset_for
from fsagent_tools_langchain import get_tools as langchain_tools
from fsagent_tools_llamaindex import get_tools as llamaindex_tools

EDITING = ("read", "edit_lines", "glob", "grep", "ls")
FILES: dict[str, tuple[str, ...]] = {  # of toolsets that do more, what finds, reads and edits
    "lines": EDITING,
    "workspace": EDITING,
    "openai": ("apply_patch", "read", "grep"),
    "anthropic": ("str_replace_based_edit_tool",),
}
Made = tuple[list[Any], list[Any], Callable[[], None]]  # tools, middleware, what closes them


def ours(framework: str, root: Path, name: str, style: StyleName | None = None) -> Made:
    """The part of a toolset that finds, reads and edits; the same for every model."""
    workspace = Workspace(root, line_ids=style) if style else Workspace(root)
    tools = toolset(name).only(*FILES[name]) if name in FILES else toolset(name)
    make = llamaindex_tools if framework == "llamaindex" else langchain_tools
    return list(make(workspace, tools)), [], workspace.close


def deepagents(framework: str, root: Path) -> Made:
    """Its middleware, as its own agent has it. Raises `ValueError` for LlamaIndex."""
    if framework != "langchain":
        raise ValueError("deepagents' tools are for LangChain: --framework langchain.")
    backend = FilesystemBackend(root, virtual_mode=True)
    return [], [FilesystemMiddleware(backend=backend)], lambda: None


CONTENDERS: dict[str, Callable[[str, Path], Made]] = {
    "lines": lambda framework, root: ours(framework, root, "lines"),
    "openai": lambda framework, root: ours(framework, root, "openai"),
    "anthropic": lambda framework, root: ours(framework, root, "anthropic"),
    "tag": lambda framework, root: ours(framework, root, "workspace", "tag"),
    "short": lambda framework, root: ours(framework, root, "workspace", "short"),
    "words": lambda framework, root: ours(framework, root, "workspace", "words"),
    "compact": lambda framework, root: ours(framework, root, "compact"),
    "file_ops": lambda framework, root: ours(framework, root, "file_ops"),
    "filesystem": lambda framework, root: ours(framework, root, "filesystem"),
    "deepagents": deepagents,
}


def made(name: str, framework: str, root: Path, model: str) -> Made:
    """The tools of that name; `auto` has those that the model was trained on."""
    return CONTENDERS[toolset_for(model) if name == AUTO else name](framework, root)
