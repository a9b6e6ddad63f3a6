"""What an integrator may choose when tools are made; every adapter takes the same options."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack, get_args

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.policy import Policy
from fsagent_tools.runtime.shadows import importing
from fsagent_tools.toolkit.asyncio_bridge import beside_a_loop
from fsagent_tools.toolkit.toolset import Tool, Toolset, is_allowed
from fsagent_tools.toolsets import toolset as named
from fsagent_tools.validation import check_types
from fsagent_tools.workspace import Workspace
from fsagent_tools.workspace.config import DEFAULT_TOOLSET, load
from fsagent_tools.workspace.pool import Choose, Workspaces

_MEANT = {  # what other packs call it, or where it belongs -> what it is here
    **dict.fromkeys(("exclude", "excluded", "disabled"), "without=[...]"),
    **dict.fromkeys(("include", "included", "tools", "selected_tools"), "only=[...]"),
    **{
        name: f"Workspace(path, {name}=...) in place of the path"
        for name in signature(Workspace).parameters
        if name not in ("root", "policy", "state")
    },
    **dict.fromkeys(("readonly", "read_only"), "policy=Policy(readonly=True)"),
    **{
        name: f"policy=Policy({name}=...)"
        for name in signature(Policy).parameters
        if name != "readonly"
    },
    **dict.fromkeys(("root", "root_dir", "path"), "the first argument"),
    "approval": "HumanInTheLoopMiddleware(interrupt_on(tools)), or Workspace(path, approve=...)",
}
_NOWHERE = Path(os.devnull)  # the root of what tools are bound to before a run says where it is
AnyToolset = Toolset | str | None  # None: the configured one, else "lines"
WorkspaceSource = Workspace | str | Path | Choose | Workspaces


class Options(TypedDict, total=False):
    """Options of a toolset. Tool names are the toolset's own.

    Attributes:
        only: Names of the tools to keep; by default all.
        without: Names of the tools to drop.
        defaults: Tool -> {parameter: value used if the model gives none}, hidden ones included.
        show: Tool -> hidden parameters that the model can set.
        renamed: Tool -> the name that the model sees.
        policy: What the workspace allows, if it is given as a path; replaces the configured policy.
        state: As of `Workspace`, if that is given as a path; replaces what is configured.
        prefix: Put before the name of every tool, such as "docs_".
        label: What descriptions call the workspace, for agents that have several.
        strict: Schemas for a provider's strict mode, in which every parameter is required and
            optional ones accept null. By default False, but True for structured output with tools.
    """

    only: Iterable[str]
    without: Iterable[str]
    defaults: Mapping[str, Mapping[str, Any]]
    show: Mapping[str, Iterable[str]]
    renamed: Mapping[str, str]
    policy: Policy | None
    state: str | Path | None
    prefix: str
    label: str
    strict: bool


_F = TypeVar("_F", bound=Callable[..., Any])


def with_signature(function: _F) -> _F:
    """The function, whose signature names each of its `**options`, for notebooks and `help`."""
    given = signature(function)
    *others, options = given.parameters.values()
    (known,) = get_args(options.annotation)  # of Unpack
    each: dict[str, Any] = {"kind": Parameter.KEYWORD_ONLY, "default": ...}
    named = [Parameter(n, annotation=a, **each) for n, a in known.__annotations__.items()]
    vars(function)["__signature__"] = given.replace(parameters=[*others, *named])
    return function


@with_signature
def select_tools(
    workspace: WorkspaceSource, toolset: AnyToolset = None, **options: Unpack[Options]
) -> list[Tool]:
    """Bound tools in the toolset's order, without those that cannot work here.

    A tool is left out if the policy forbids it, or if a program, a module or a key is missing;
    `logging` says which. This is checked once per process. For a path, configuration files and
    variables are read, as by `Workspace.from_config`; for a function only once.

    Args:
        workspace: A `Workspace`, a path, a function that returns one of these for a run, or a
            `Workspaces`.
        toolset: A toolset or its name; by default the configured one, else "lines".
        **options: Those of `Options`.

    Raises:
        ConfigInvalid: If a name does not exist; the message lists the right ones.

    Examples:
        >>> [tool.name for tool in select_tools(".", only=["read", "ls"], renamed={"ls": "list"})]
        ['read', 'list']
    """
    _check(options)
    return beside_a_loop(partial(_selected, workspace, toolset, options))


def _selected(workspace: WorkspaceSource, toolset: AnyToolset, options: Options) -> list[Tool]:
    own, pool, configured = _opened(workspace, options)
    toolset = configured if toolset is None else toolset
    chosen = toolset if isinstance(toolset, Toolset) else named(toolset)
    chosen = chosen.with_defaults(options.get("defaults", {})).showing(options.get("show", {}))
    if "only" in options:
        chosen = chosen.only(*options["only"])
    chosen = chosen.without(*options.get("without", ()))
    chosen = chosen.renamed(options.get("renamed", {}))
    if prefix := options.get("prefix", ""):
        chosen = chosen.renamed({e.shown_name: prefix + e.shown_name for e in chosen.entries})
    said: dict[str, Any] = {n: options[n] for n in ("strict", "label") if n in options}
    by_name = "only" in options
    bound = map(_with_what_may_run, chosen.bind(own).values())
    tools = [tool for tool in bound if _may_run(tool, by_name=by_name)]
    if not by_name:  # else the host wants each of them
        shown = {"", *(tool.entry.action_name for tool in tools)}
        tools = [tool for tool in tools if tool.entry.action.beside in shown]
    return [replace(tool, pool=pool, **said) for tool in tools]


def _with_what_may_run(tool: Tool) -> Tool:
    """The tool without commands that the policy forbids, unless it forbids them all."""
    rows = tool.entry.commands
    commands = {word: row for word, row in rows.items() if is_allowed(tool, row)}
    return replace(tool, entry=replace(tool.entry, commands=commands)) if commands else tool


def _may_run(tool: Tool, *, by_name: bool) -> bool:
    if not is_allowed(tool, tool.entry):
        return False
    if lacking := tool.lacks:
        _tell(tool.name, lacking, by_name)
    return not lacking


@cache
def _tell(name: str, lacking: str, by_name: bool) -> None:
    import logging  # needed for nothing else

    level = logging.WARNING if by_name else logging.INFO
    text = "%s is not shown to the model: %s."
    logging.getLogger("fsagent_tools").log(level, text, name, lacking.rstrip("."))


def _opened(where: WorkspaceSource, options: Options) -> tuple[Workspace, Workspaces | None, str]:
    """What the tools are made for, what they run in if that is not the same, and the toolset."""
    both: dict[str, Any] = {name: options.get(name) for name in ("policy", "state")}
    own = {name: value for name, value in both.items() if value is not None}
    if own and isinstance(where, Workspace | Workspaces):
        name = next(iter(own))
        raise ConfigInvalid(
            f"{name} is given twice: a Workspace has its own.",
            hint=f"Pass a path with {name}=, or Workspace(path, {name}=...).",
        )
    if isinstance(where, Workspace):
        return where, None, DEFAULT_TOOLSET
    if isinstance(where, Workspaces):
        return where.open(_NOWHERE), where, DEFAULT_TOOLSET
    if not callable(where):
        check_types({"workspace": where}, workspace=str | PathLike)
    if not callable(where) and not (where := Path(where).expanduser()).is_dir():
        raise ConfigInvalid(f"There is no directory {str(where)!r}.")
    with importing([] if callable(where) else [where]):
        found = load()
    each = {**found.options, **own}
    if not callable(where):
        return Workspace(where, **each), None, found.toolset
    pool = Workspaces(where, partial(Workspace, **each))
    return pool.open(_NOWHERE), pool, found.toolset


def _check(options: Options) -> None:
    if wrong := [name for name in options if name not in Options.__annotations__]:
        meant = [_MEANT[name] for name in wrong if name in _MEANT]
        known = f"There are: toolset, {', '.join(Options.__annotations__)}."
        raise ConfigInvalid(
            f"There is no option {', '.join(map(repr, wrong))}.",
            hint=f"Use {' and '.join(meant)}." if meant else known,
        )
    for name in ("defaults", "show", "renamed"):
        if not isinstance(options.get(name, {}), Mapping):
            raise ConfigInvalid(f"{name} maps a tool's name to its new setting.")
    lists = {name: options.get(name) for name in ("only", "without")}
    lists |= {f"show[{tool!r}]": names for tool, names in options.get("show", {}).items()}
    for name, names in lists.items():
        if isinstance(names, str):
            raise ConfigInvalid(f"{name} is a list of names, not the string {names!r}.")
