"""How an action is declared, once, and in which words.

Everything an adapter shows is derived from here.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar, get_type_hints

from fsagent_tools.effects import PERMISSIONS, RISK, Effect
from fsagent_tools.results import Result
from fsagent_tools.runtime.shadows import importing
from fsagent_tools.toolkit.params import Field, Params
from fsagent_tools.workspace import Workspace

__all__ = [
    "Action",
    "Effect",
    "Field",
    "Params",
    "Workspace",
    "action",
    "action_names",
    "named",
]
P = TypeVar("P", bound=Params)
_ACTIONS = "fsagent_tools.actions"  # above; imported one by one, as a command line needs one only


def _never(_: Params) -> bool:
    return False


@dataclass(frozen=True)
class Action(Generic[P]):
    """One verb: its parameters, what it may do, and the function that does it.

    remark: what a model reads besides of a workspace, "" for nothing. only_tells: whether a call
    with these parameters has no effect, so that nobody is asked about it.
    lacks: what it cannot work without and does not have here, for the host; "" for nothing. May
    look for programs and modules. beside: the action that it is of use beside only, if any.
    waits: it mostly waits for others, as what executes and what uses the network does in any case.
    """

    name: str
    description: str
    effect: Effect
    params: type[P]
    run: Callable[[Workspace, P], Result]
    permissions: tuple[str, ...]
    risk: str
    remark: Callable[[Workspace], str] | None = None
    only_tells: Callable[[P], bool] = _never
    lacks: Callable[[Workspace], str] | None = None
    beside: str = ""
    waits: bool = False


def action(
    *, effect: Effect, **facts: Any
) -> Callable[[Callable[[Workspace, P], Result]], Action[P]]:
    """Declare an action: its name, description and schema are the function's own.

    facts: further fields of `Action`; `permissions` and `risk` default to those of `effect`.
    """
    usual = {"permissions": PERMISSIONS[effect], "risk": RISK[effect]}

    def declare(run: Callable[[Workspace, P], Result]) -> Action[P]:
        params: Any = get_type_hints(run)[list(inspect.signature(run).parameters)[1]]
        name, words = run.__name__.rstrip("_"), inspect.cleandoc(run.__doc__ or "")
        return Action(name, words, effect, params, run, **{**usual, **facts})

    return declare


@cache
def action_names() -> tuple[str, ...]:
    """The names of all actions; imports none."""
    package = find_spec(_ACTIONS)
    places = package.submodule_search_locations if package else ()
    return tuple(module.name for module in iter_modules(places))


def named(name: str) -> Action[Any]:
    """The action called `name`."""
    with importing():
        found: Action[Any] = getattr(import_module(f"{_ACTIONS}.{name}"), name)
    return found
