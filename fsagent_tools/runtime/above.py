"""What rooms below ask of rooms above them; the package's root provides it.

It comes with every import of the package, the keeper's too, and so imports next to nothing itself.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from fsagent_tools.effects import Effect

    class Configured(Protocol):
        """The options of `Workspace` that are configured, and the name of the toolset."""

        @property
        def options(self) -> Mapping[str, Any]: ...
        @property
        def toolset(self) -> str: ...


TOOLSET = "lines"  # where none is named or configured
# Name -> effect of every action and tool.
by_name: "Callable[[], Mapping[str, Effect]]"
configured: "Callable[[], Configured]"  # what is configured
