"""The named toolsets; each file is data, imported when its toolset is first asked for."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from fsagent_tools import actions
from fsagent_tools.effects import Effect
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.tools import Toolset

_NAMES = (
    "workspace",
    "lines",
    "readonly",
    "line_ids",
    "compact",
    "file_ops",
    "filesystem",
    "deepagents",
)


class _Toolsets(Mapping[str, Toolset]):
    """Toolsets by name."""

    def __getitem__(self, name: str) -> Toolset:
        if name not in _NAMES:
            raise KeyError(name)
        found: Toolset = getattr(import_module(f"{__name__}.{name}"), name.upper())
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


TOOLSETS: Mapping[str, Toolset] = _Toolsets()


@cache
def effects_by_name() -> Mapping[str, Effect]:
    """What every action, and every tool of a toolset, may do; imports them all."""
    tools = {e.shown_name: e.action.effect for known in TOOLSETS.values() for e in known.entries}
    return {**tools, **{action.name: action.effect for action in actions.ALL}}


def toolset(name: str) -> Toolset:
    """The toolset called `name`. Raises `ConfigInvalid`, which lists the names there are.

    Examples:
        >>> toolset("line_ids").without("glob", "ls")
        Toolset('line_ids': read, write, edit_lines, grep)
    """
    try:
        return TOOLSETS[name]
    except KeyError:
        raise ConfigInvalid(
            f"There is no toolset {name!r}.", hint=f"There are: {', '.join(_NAMES)}."
        ) from None
