"""Every action there is; a toolset picks from this table, and imports only what it picks."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fsagent_tools.action import Action

    ALL: tuple[Action[Any], ...]

_NAMES = (
    "read",
    "write",
    "edit_lines",
    "edit",
    "insert",
    "glob",
    "grep",
    "ls",
    "stat",
    "mkdir",
    "mv",
    "cp",
    "rm",
    "bash",
    "webfetch",
    "websearch",
    "diagnostics",
)


def __getattr__(name: str) -> Any:
    if name != "ALL":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return tuple(getattr(import_module(f"{__name__}.{own}"), own) for own in _NAMES)
