"""Sets of tools that compete: our toolsets and styles of marks, and deepagents' own tools."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from deepagents.backends import LocalShellBackend
from deepagents.backends.filesystem import FilesystemBackend
from deepagents.middleware.filesystem import FilesystemMiddleware

from fsagent_tools import Workspace, toolset
from fsagent_tools.lines.styles import STYLES, StyleName
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


def ours(
    framework: str, root: Path, name: str, style: StyleName | None = None, *, commands: bool
) -> Made:
    """The part of a toolset that finds, reads and edits, and runs commands; for every model."""
    workspace = Workspace(root, line_ids=style) if style else Workspace(root)
    tools = toolset(name).only(*FILES[name]) if name in FILES else toolset(name)
    make = llamaindex_tools if framework == "llamaindex" else langchain_tools
    shell = make(workspace, "workspace", only=["bash"]) if commands else []
    return [*make(workspace, tools), *shell], [], workspace.close


def deepagents(framework: str, root: Path, *, commands: bool) -> Made:
    """Its middleware, as its own agent has it. Raises `ValueError` for LlamaIndex."""
    if framework != "langchain":
        raise ValueError("deepagents' tools are for LangChain: --framework langchain.")
    backend = (LocalShellBackend if commands else FilesystemBackend)(root, virtual_mode=True)
    return [], [FilesystemMiddleware(backend=backend)], lambda: None


CONTENDERS: dict[str, Callable[..., Made]] = {
    **{name: partial(ours, name=name) for name in ("lines", "openai", "anthropic")},
    **{style: partial(ours, name="workspace", style=style) for style in STYLES},
    **{name: partial(ours, name=name) for name in ("compact", "file_ops", "filesystem")},
    "deepagents": deepagents,
}


def made(name: str, framework: str, root: Path, model: str, *, commands: bool = False) -> Made:
    """The tools of that name; `auto` has those that the model was trained on."""
    make = CONTENDERS[toolset_for(model) if name == AUTO else name]
    return make(framework, root, commands=commands)
