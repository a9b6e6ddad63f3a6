"""What rooms below ask of rooms above them; the package's root provides it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fsagent_tools.effects import Effect

# Name -> effect of every action and tool.
by_name: Callable[[], Mapping[str, Effect]] = dict


def _nothing(root: str | Path | None) -> Mapping[str, Any]:
    return {}


# The options of `Workspace` that are configured for a root; of none, those that hold for all.
configured_options: Callable[[str | Path | None], Mapping[str, Any]] = _nothing
