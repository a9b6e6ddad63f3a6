"""`fsagent serve`: the adapter that serves is found by its entry point, for it stands above."""

from collections.abc import Callable, Sequence
from pathlib import Path

from fsagent_tools.errors import MissingDependency
from fsagent_tools.tools import Toolset

_GROUP = "fsagent_tools.commands"


def serve_command(
    words: Sequence[str], root: Path, toolset: Toolset, open_: Callable[..., object]
) -> int:
    """Serve the toolset until the client ends. Raises `MissingDependency` without the extra."""
    from importlib.metadata import entry_points  # slow to import, and seldom asked for

    try:
        (found,) = entry_points(group=_GROUP, name="serve")
        command: Callable[..., int] = found.load()
    except (ValueError, ModuleNotFoundError) as error:
        raise MissingDependency(
            f"Serving MCP clients is not installed: {error}.",
            hint='Install "fsagent-tools[mcp]".',
        ) from None
    return command(words, root, toolset, open_)
