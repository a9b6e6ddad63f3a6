"""What rooms below ask of rooms above them; the package's root provides it.

It comes with every import of the package, the keeper's too, and so imports next to nothing itself.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from fsagent_tools.effects import Effect

TOOLSET = "lines"  # where none is named or configured
# Name -> effect of every action and tool.
by_name: "Callable[[], Mapping[str, Effect]]" = dict


class Configured:
    """The options of `Workspace` that are configured, and the name of the toolset."""

    def __init__(self, options: "Mapping[str, Any]", toolset: str = TOOLSET) -> None:
        self.options, self.toolset = options, toolset


def _unconfigured(root: "str | Path | None") -> Configured:
    return Configured({})


# What is configured for a root; for none, what holds for every project.
configured: "Callable[[str | Path | None], Configured]" = _unconfigured
