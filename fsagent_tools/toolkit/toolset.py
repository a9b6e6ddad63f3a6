"""Named surfaces: which actions a model sees, under which names, with which knobs."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fsagent_tools.effects import ASKED
from fsagent_tools.errors import ConfigInvalid, Denied
from fsagent_tools.lines.ids import StyleName
from fsagent_tools.results import Shape, html_table
from fsagent_tools.runtime.shadows import importing
from fsagent_tools.toolkit.entry import Entry
from fsagent_tools.toolkit.tool import Tool
from fsagent_tools.workspace import PathForm, Workspace, lazy

__all__ = ["Entry", "Shape", "Tool", "Toolset"]
_SHOWN = 120  # characters of names in a repr
_JOBS, _STARTS_ONE = "jobs", "background"
TOOL_NAME = re.compile("[a-zA-Z0-9_-]{1,64}")  # what every model provider takes


@dataclass(frozen=True, repr=False)
class Toolset:
    """An immutable list of tools; every method returns a new one.

    Attributes:
        name: Of the toolset.
        entries: One `Entry` per tool.
        max_file_size: Bytes, or text such as "50MB"; used if the workspace's policy sets no limit.
        paths: "virtual" makes "/" the root, whatever the workspace has.
        line_ids: How IDs look if the workspace does not say.

    Examples:
        >>> toolset("line_ids").only("read", "edit_lines").renamed({"read": "view"})
        Toolset('line_ids': view, edit_lines)
    """

    name: str
    entries: tuple[Entry, ...]
    max_file_size: int | str | None = None
    paths: PathForm = "relative"
    line_ids: StyleName | None = None

    def __repr__(self) -> str:
        names = ", ".join(e.shown_name for e in self.entries)
        return f"Toolset({self.name!r}: {names[:_SHOWN]}{'...' if names[_SHOWN:] else ''})"

    def _repr_html_(self) -> str:
        rows = [(e.shown_name, ", ".join(e.visible), e.action.effect.value) for e in self.entries]
        return html_table(("tool", "the model sets", "effect"), rows)

    def bind(self, workspace: Workspace, *, late: bool = False) -> "dict[str, Tool]":
        """Tools by name, in the toolset's order. Imports what they need, and does no other IO.

        Args:
            workspace: Where they work.
            late: Import each tool's code only at its first use, for a program that uses one of
                them.

        Raises:
            ConfigInvalid: If the policy allows actions that do not exist.
        """
        if not isinstance(workspace, Workspace):
            raise ConfigInvalid(f"Tools are bound to a Workspace: Workspace({workspace!r}).")
        view: dict[str, Any] = {
            "max_file_size": self.max_file_size,
            "paths": self.paths,
            "line_ids": self.line_ids,
        }
        rows = [row for e in self.entries for row in (e, *e.commands.values())]
        own = [name for e in rows for name in (e.shown_name, e.action_name)]
        with importing(workspace.services.changeable):
            for entry in () if late else self.entries:
                if entry.action.effect in ASKED and not workspace.policy.readonly:
                    _ = lazy.history, lazy.lint  # which the first change would wait for
            workspace.policy.check_names(own)
            workspace = workspace.view(**view)
        named = {e.action_name: e.shown_name for e in reversed(self.entries) if not e.commands}
        entries = self.entries if _JOBS in own else map(_without_jobs, self.entries)
        bound = [_bound(e, workspace, named, view) for e in entries]
        return {tool.name: replace(tool, toolset=self.name) for tool in bound}

    def only(self, *names: str) -> "Toolset":
        self._known(names)
        return self._with(e for e in self.entries if e.shown_name in names)

    def without(self, *names: str) -> "Toolset":
        self._known(names)
        return self._with(e for e in self.entries if e.shown_name not in names)

    def renamed(self, names: Mapping[str, str]) -> "Toolset":
        """With other names.

        Args:
            names: Tool -> its new name.
        """
        self._known(names)
        renamed = [names.get(e.shown_name, e.shown_name) for e in self.entries]
        if wrong := [name for name in renamed if not TOOL_NAME.fullmatch(name)]:
            raise ConfigInvalid(
                f"{wrong[0]!r} is not a valid tool name.", hint=f"Names match {TOOL_NAME.pattern}."
            )
        return self._with(
            replace(e, name=new) for e, new in zip(self.entries, renamed, strict=True)
        )

    def joined(self, *others: "Toolset") -> "Toolset":
        """With the tools of `others` after its own.

        Raises:
            ConfigInvalid: If two tools have the same name.
        """
        return self._with(entry for one in (self, *others) for entry in one.entries)

    def with_defaults(self, values: Mapping[str, Mapping[str, Any]]) -> "Toolset":
        """With other defaults.

        Args:
            values: Tool -> {parameter: its new default}, hidden parameters included.
        """
        self._known(values)
        return self._with(e.with_defaults(values.get(e.shown_name, {})) for e in self.entries)

    def showing(self, parameters: Mapping[str, Iterable[str]]) -> "Toolset":
        """With more visible parameters.

        Args:
            parameters: Tool -> hidden parameters that the model can now set.
        """
        self._known(parameters)
        return self._with(e.showing(parameters.get(e.shown_name, ())) for e in self.entries)

    def _with(self, entries: Iterable[Entry]) -> "Toolset":
        made = replace(self, entries=tuple(entries))
        names = [entry.shown_name for entry in made.entries]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ConfigInvalid(
                f"Two tools of {self.name!r} would have one name: {', '.join(twice)}.",
                hint="Use `renamed`, or leave one out with `without`.",
            )
        return made

    def _known(self, names: Iterable[str]) -> None:
        have = [e.shown_name for e in self.entries]
        if wrong := [name for name in names if name not in have]:
            raise ConfigInvalid(
                f"The toolset {self.name!r} has no tool {', '.join(map(repr, wrong))}.",
                hint=f"It has: {', '.join(have)}.",
            )


def is_allowed(tool: Tool, entry: Entry) -> bool:
    action = entry.action
    try:
        tool.workspace.policy.check_action(action.name, action.effect, shown=tool.name)
    except Denied:
        return False
    return True


def _without_jobs(entry: Entry) -> Entry:
    """Nobody starts what no tool reads, waits for or stops."""
    return replace(entry, show=tuple(name for name in entry.show if name != _STARTS_ONE))


def _bound(
    entry: Entry, workspace: Workspace, named: Mapping[str, str], view: Mapping[str, Any]
) -> Tool:
    """The tool; of one with commands these are the names of what it can do."""
    own = {row.action_name: word for word, row in entry.commands.items()}
    if entry.view:
        view = {**view, **entry.view}
        workspace = workspace.view(**view)
    return Tool(entry, workspace, {**named, **own}, view)
