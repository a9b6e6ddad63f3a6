"""File, shell, web and diagnostics tools for LLM agents, with line IDs.

Names are imported when first used: importing the package costs next to nothing.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if sys.platform == "win32":
    raise ImportError(
        "fsagent_tools needs POSIX descriptors and locks, which Windows lacks: use it inside WSL."
    )

from fsagent_tools import above

if TYPE_CHECKING:
    from fsagent_tools.approval import Request, Verdict
    from fsagent_tools.call import approving, emitting, identified
    from fsagent_tools.commandlines import SimpleCommand, simple_commands
    from fsagent_tools.direct import FileBytes, FileText, FileWritten, TextEdited
    from fsagent_tools.effects import Effect
    from fsagent_tools.errors import ToolError
    from fsagent_tools.events import EventLog
    from fsagent_tools.files.store import Store
    from fsagent_tools.lineage import Lineage, Position
    from fsagent_tools.memory.files import MemoryFiles
    from fsagent_tools.oneshot import execute
    from fsagent_tools.options import Options, WorkspaceSource, select_tools
    from fsagent_tools.policy import Policy
    from fsagent_tools.prompt import approve_at_terminal, ask_at_terminal
    from fsagent_tools.replies import (
        Completed,
        DirectoryEntry,
        FoundPaths,
        PathChange,
        SearchHit,
        SearchHits,
        StepChange,
        TakenBack,
        Unrestored,
    )
    from fsagent_tools.results import Block, Outcome, Shape
    from fsagent_tools.runs import ThreadRun
    from fsagent_tools.tools import Entry, Tool, Toolset
    from fsagent_tools.toolsets import TOOLSETS, toolset
    from fsagent_tools.workspace import Workspace
    from fsagent_tools.workspaces import Workspaces

_HOMES = {
    "approval": ("Request", "Verdict"),
    "call": ("approving", "emitting", "identified"),
    "effects": ("Effect",),
    "errors": ("ToolError",),
    "events": ("EventLog",),
    "config": ("configured_for",),
    "direct": (
        "FileBytes",
        "FileText",
        "FileWritten",
        "TextEdited",
    ),
    "lineage": ("Lineage", "Position"),
    "runs": ("ThreadRun",),
    "commandlines": ("SimpleCommand", "simple_commands"),
    "memory.files": ("MemoryFiles",),
    "files.store": ("Store",),
    "oneshot": ("execute",),
    "options": ("Options", "WorkspaceSource", "select_tools"),
    "policy": ("Policy",),
    "prompt": ("approve_at_terminal", "ask_at_terminal"),
    "remote": ("served_at",),
    "replies": (
        "Completed",
        "DirectoryEntry",
        "FoundPaths",
        "PathChange",
        "SearchHit",
        "SearchHits",
        "StepChange",
        "TakenBack",
        "Unrestored",
    ),
    "results": ("Block", "Outcome", "Shape"),
    "tools": ("Entry", "Tool", "Toolset"),
    "toolsets": ("TOOLSETS", "effects_by_name", "toolset"),
    "workspace": ("Workspace",),
    "workspaces": ("Workspaces",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "TOOLSETS",
    "Block",
    "Completed",
    "DirectoryEntry",
    "Effect",
    "Entry",
    "EventLog",
    "FileBytes",
    "FileText",
    "FileWritten",
    "FoundPaths",
    "Lineage",
    "MemoryFiles",
    "Options",
    "Outcome",
    "PathChange",
    "Policy",
    "Position",
    "Request",
    "SearchHit",
    "SearchHits",
    "Shape",
    "SimpleCommand",
    "StepChange",
    "Store",
    "TakenBack",
    "TextEdited",
    "ThreadRun",
    "Tool",
    "ToolError",
    "Toolset",
    "Unrestored",
    "Verdict",
    "Workspace",
    "WorkspaceSource",
    "Workspaces",
    "approve_at_terminal",
    "approving",
    "ask_at_terminal",
    "emitting",
    "execute",
    "identified",
    "select_tools",
    "simple_commands",
    "toolset",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("fsagent-tools")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_HOME[name]}")
    except AttributeError as error:  # `from ... import` would take it for a missing name
        raise ImportError(f"{__name__}.{_HOME[name]} cannot be imported: {error}") from error
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


above.by_name = lambda: __getattr__("effects_by_name")()
above.configured = lambda root: __getattr__("configured_for")(root)
