"""What an integrator may choose when tools are made; every adapter takes the same options."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.policy import Policy
from fsagent_tools.tools import Tool, Toolset
from fsagent_tools.toolsets import toolset as named
from fsagent_tools.workspace import Workspace


class Options(TypedDict, total=False):
    """Choices about a toolset, all optional; tool names are the toolset's own.

    only: names of the tools to keep; default all. without: names of the tools to drop.
    defaults: tool -> {parameter: value used when the model gives none}, hidden ones included.
    show: tool -> hidden parameters that the model shall see.
    renamed: tool -> the name that the model shall see.
    policy: what the workspace allows, where it is given as a path.
    strict: schemas for the strict mode of a provider, in which every parameter is required and
        the optional ones take null; default False, for structured output beside tools True.
    """

    only: Iterable[str]
    without: Iterable[str]
    defaults: Mapping[str, Mapping[str, Any]]
    show: Mapping[str, Iterable[str]]
    renamed: Mapping[str, str]
    policy: Policy | None
    strict: bool


def select_tools(
    workspace: Workspace | str | Path,
    toolset: Toolset | str = "workspace",
    **options: Unpack[Options],
) -> list[Tool]:
    """Bound tools in the toolset's order. Does no IO.

    Raises `ConfigInvalid` for a name that does not exist; it lists the right ones.

    Examples:
        >>> [tool.name for tool in select_tools(".", only=["read", "ls"], renamed={"ls": "list"})]
        ['read', 'list']
    """
    _check(options)
    chosen = toolset if isinstance(toolset, Toolset) else named(toolset)
    chosen = chosen.with_defaults(options.get("defaults", {})).showing(options.get("show", {}))
    if "only" in options:
        chosen = chosen.only(*options["only"])
    chosen = chosen.without(*options.get("without", ())).renamed(options.get("renamed", {}))
    tools = chosen.bind(_opened(workspace, options.get("policy"))).values()
    return [replace(tool, strict=options.get("strict", False)) for tool in tools]


def _opened(workspace: Workspace | str | Path, policy: Policy | None) -> Workspace:
    if not isinstance(workspace, Workspace):
        return Workspace(workspace, policy=policy)
    if policy is not None:
        raise ConfigInvalid(
            "policy is given twice: a Workspace has its own.",
            hint="Pass a path with policy=, or Workspace(path, policy=...).",
        )
    return workspace


def _check(options: Options) -> None:
    if wrong := [name for name in options if name not in Options.__annotations__]:
        raise ConfigInvalid(
            f"There is no option {', '.join(map(repr, wrong))}.",
            hint=f"There are: {', '.join(Options.__annotations__)}.",
        )
    for name in ("defaults", "show", "renamed"):
        if not isinstance(options.get(name, {}), Mapping):
            raise ConfigInvalid(f"{name} maps a tool's name to its new setting.")
    lists = {name: options.get(name) for name in ("only", "without")}
    lists |= {f"show[{tool!r}]": names for tool, names in options.get("show", {}).items()}
    for name, names in lists.items():
        if isinstance(names, str):
            raise ConfigInvalid(f"{name} is a list of names, not the string {names!r}.")
