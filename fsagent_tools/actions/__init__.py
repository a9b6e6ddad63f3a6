"""Every action there is, one in each file; a toolset imports only what it picks."""

from typing import TYPE_CHECKING, Any

from fsagent_tools.toolkit.action import action_names, named

if TYPE_CHECKING:
    from fsagent_tools.toolkit.action import Action

    ALL: tuple[Action[Any], ...]


def __getattr__(name: str) -> Any:
    if name != "ALL":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return tuple(named(own) for own in action_names())
