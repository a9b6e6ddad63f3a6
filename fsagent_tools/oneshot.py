"""One call without a session: the implementation pattern of the workspace-tools plan."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from fsagent_tools.errors import ToolError
from fsagent_tools.results import Outcome, Shape
from fsagent_tools.shadows import importing
from fsagent_tools.toolsets import toolset as named
from fsagent_tools.workspace import Workspace


def execute(
    name: str,
    params: Mapping[str, Any] | str,
    project_path: str | Path,
    toolset: str = "workspace",
) -> dict[str, Any]:
    """Run the tool `name` once and return its envelope, `Outcome.to_dict()`.

    `params` is what a model would send. Configuration applies as in `Workspace.from_config`. An
    unknown tool or toolset comes back as an error, too, and so does a configuration that cannot be
    used.

    Examples:
        >>> execute("read", {"file_path": "absent.txt"}, ".")["success"]
        False
    """
    try:
        with (
            importing([project_path]),
            closing(Workspace.from_config(project_path)) as workspace,
        ):
            tool = named(toolset).only(name).bind(workspace)[name]
            return tool.call(params).to_dict()
    except ToolError as error:
        return Outcome.refused(error, Shape()).to_dict()
