"""File, shell, web and diagnostics tools for LLM agents, with line IDs.

Names are imported when first used: importing the package costs next to nothing. What calls return
is in `fsagent_tools.types`, what they raise in `fsagent_tools.errors`.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if sys.platform == "win32":
    raise ImportError(
        "fsagent_tools needs POSIX descriptors and locks, which Windows lacks: use it inside WSL."
    )


if TYPE_CHECKING:
    from fsagent_tools.call import approving, emitting, identified
    from fsagent_tools.effects import Effect
    from fsagent_tools.errors import ToolError
    from fsagent_tools.events import EventLog
    from fsagent_tools.files.memory import MemoryFiles
    from fsagent_tools.gate.commandline import simple_commands
    from fsagent_tools.gate.prompt import approve_at_terminal, ask_at_terminal
    from fsagent_tools.gate.request import Request, Verdict
    from fsagent_tools.options import select_tools
    from fsagent_tools.policy import Policy
    from fsagent_tools.results import Outcome
    from fsagent_tools.toolkit.asyncio_bridge import awaited
    from fsagent_tools.toolkit.toolset import Tool, Toolset
    from fsagent_tools.toolsets import execute, toolset
    from fsagent_tools.toolsets.families import toolset_for
    from fsagent_tools.workspace import Workspace
    from fsagent_tools.workspace.pool import Workspaces

_HOMES = {
    "gate.request": ("Request", "Verdict"),
    "call": ("approving", "emitting", "identified"),
    "effects": ("Effect",),
    "errors": ("ToolError",),
    "events": ("EventLog",),
    "gate.commandline": ("simple_commands",),
    "files.memory": ("MemoryFiles", "Store"),
    "options": ("select_tools",),
    "policy": ("Policy",),
    "gate.prompt": ("approve_at_terminal", "ask_at_terminal"),
    "results": ("Outcome",),
    "toolkit.asyncio_bridge": ("awaited",),
    "toolkit.toolset": ("Entry", "Tool", "Toolset"),
    "toolsets": ("TOOLSETS", "execute", "toolset"),
    "toolsets.families": ("toolset_for",),
    "workspace": ("Workspace",),
    "workspace.pool": ("Workspaces",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Effect",
    "EventLog",
    "MemoryFiles",
    "Outcome",
    "Policy",
    "Request",
    "Tool",
    "ToolError",
    "Toolset",
    "Verdict",
    "Workspace",
    "Workspaces",
    "approve_at_terminal",
    "approving",
    "ask_at_terminal",
    "awaited",
    "emitting",
    "execute",
    "identified",
    "select_tools",
    "simple_commands",
    "toolset",
    "toolset_for",
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
