"""The actor: the tools of one workspace, in a process on the node that has its files."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import ray

from fsagent_tools import Outcome, Policy, Toolset, Workspace, Workspaces, select_tools
from fsagent_tools.errors import ConfigInvalid


class WorkspaceActor:
    """Nothing is here alone that is not on the disk, so Ray may start it again at any time."""

    def __init__(self, path: str, toolset: Toolset | str, policy: Policy | None) -> None:
        self._path = path
        given: dict[str, Any] = {"policy": policy} if policy else {}
        open_ = partial(Workspace.from_config, **given)
        pool = Workspaces(lambda session: (path, session), open_)
        self._tools = {tool.name: tool for tool in select_tools(pool, toolset)}

    def told(self) -> dict[str, str]:
        """The description of each tool that can work here. Raises `ConfigInvalid`."""
        if not Path(self._path).is_dir():
            raise ConfigInvalid(f"There is no directory {self._path} on its node.")
        return {name: tool.description for name, tool in self._tools.items()}

    def call(self, name: str, session: str, given: Mapping[str, Any]) -> Outcome:
        """given: by the action's own names."""
        with self._tools[name].within(session) as tool:
            return tool.call({}, **given)

    @ray.method(max_task_retries=3)  # type: ignore[untyped-decorator]
    def look(self, name: str, session: str, given: Mapping[str, Any]) -> Outcome:
        """`call`, of what changes nothing."""
        return self.call(name, session, given)
