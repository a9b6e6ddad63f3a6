"""Every action there is, one in each file; a toolset imports only what it picks."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fsagent_tools.runtime.shadows import importing

if TYPE_CHECKING:
    from fsagent_tools.toolkit.action import Action

    ALL: tuple[Action[Any], ...]


@cache
def action_names() -> tuple[str, ...]:
    """The names of all actions; imports none."""
    from pkgutil import iter_modules

    return tuple(module.name for module in iter_modules(__path__))


def named(name: str) -> "Action[Any]":
    """The action called `name`."""
    with importing():
        found: Action[Any] = getattr(import_module(f"{__name__}.{name}"), name)
    return found


def __getattr__(name: str) -> Any:
    if name != "ALL":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return tuple(named(own) for own in action_names())
