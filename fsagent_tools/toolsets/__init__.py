"""The named toolsets; each file is data."""

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.tools import Toolset
from fsagent_tools.toolsets.line_ids import LINE_IDS
from fsagent_tools.toolsets.workspace import WORKSPACE

TOOLSETS = {known.name: known for known in (WORKSPACE, LINE_IDS)}


def toolset(name: str) -> Toolset:
    """The toolset called `name`. Raises `ConfigInvalid`, which lists the names there are."""
    try:
        return TOOLSETS[name]
    except KeyError:
        raise ConfigInvalid(
            f"There is no toolset {name!r}.", hint=f"There are: {', '.join(TOOLSETS)}."
        ) from None
