"""What rooms below ask of rooms above them; the package's root provides it."""

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from fsagent_tools.effects import Effect
from fsagent_tools.records import dataclass

# Name -> effect of every action and tool.
by_name: Callable[[], Mapping[str, Effect]] = dict


@dataclass(frozen=True)
class Configured:
    """The options of `Workspace` that are configured, and the name of the toolset."""

    options: Mapping[str, Any] = field(default_factory=dict)
    toolset: str = "workspace"


def _unconfigured(root: str | Path | None) -> Configured:
    return Configured()


# What is configured for a root; for none, what holds for every project.
configured: Callable[[str | Path | None], Configured] = _unconfigured
