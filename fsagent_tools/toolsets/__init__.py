"""The named toolsets; each file is data, imported when its toolset is first asked for."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

from fsagent_tools.errors import ConfigInvalid, ToolError
from fsagent_tools.results import Outcome, Shape
from fsagent_tools.runtime.shadows import importing
from fsagent_tools.toolkit.toolset import Toolset
from fsagent_tools.workspace import Workspace

_NAMES = (
    "lines",
    "workspace",
    "readonly",
    "line_ids",
    "compact",
    "file_ops",
    "filesystem",
    "deepagents",
    "openai",
    "anthropic",
    "refactor",
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


def toolset(name: str) -> Toolset:
    """The toolset called `name`.

    Raises:
        ConfigInvalid: If there is none; the message lists the names.

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


_named = toolset  # also the name of a parameter below


def execute(
    name: str,
    params: Mapping[str, Any] | str,
    project_path: str | Path,
    toolset: str = "workspace",
) -> dict[str, Any]:
    """Run one tool once, without a workspace. Configuration applies as in `Workspace.from_config`.

    Nothing is raised for bad input: an unknown tool or toolset and an unusable configuration come
    back as errors, too.

    Args:
        name: The tool.
        params: What a model would send: a mapping, or the JSON text of one.
        project_path: The root.
        toolset: The name of the toolset. The default is that of the document this function is
            from, so lines have `[LID:...]`; `get_tools` has "lines".

    Returns:
        The envelope of the toolset, `Outcome.to_dict()`.

    Examples:
        >>> execute("read", {"file_path": "absent.txt"}, ".")["success"]
        False
    """
    try:
        with (
            importing([project_path]),
            closing(Workspace.from_config(project_path)) as workspace,
        ):
            tool = _named(toolset).only(name).bind(workspace)[name]
            return tool.call(params).to_dict()
    except ToolError as error:
        return Outcome.refused(error, Shape()).to_dict()
