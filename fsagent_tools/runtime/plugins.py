"""Parts that stand above the core, such as adapters: found by their entry points."""

from functools import cache
from typing import Any

from fsagent_tools.errors import MissingDependency


@cache  # entry points are in a file of each installed package: 7 ms to read them all
def plugin(kind: str, name: str, extra: str) -> Any:
    """What the entry point `name` of the group `fsagent_tools.kind` names.

    Raises `MissingDependency`, which names the extra that brings it.
    """
    from importlib.metadata import entry_points  # slow to import, and seldom asked for

    try:
        (found,) = entry_points(group=f"fsagent_tools.{kind}", name=name)
        return found.load()
    except (ValueError, ModuleNotFoundError) as error:
        raise MissingDependency(
            f"{name} needs what is not installed: {error}.",
            hint=f'Install "fsagent-tools[{extra}]".',
        ) from None
