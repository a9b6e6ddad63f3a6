"""Workspaces on the nodes of a Ray cluster."""

import threading
from typing import Any

import ray

from fsagent_tools import Policy, Toolset
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools_ray.actor import Settings
from fsagent_tools_ray.channel import RayChannel


class RayWorkspaces:
    """One actor for each workspace, on the node that has its files; shared by all jobs.

    toolset: its name, or a toolset that can be pickled (default "lines"). policy: as of
    `Workspace`, in place of what the node is configured to (default None). idle: seconds without
    a call after which an actor ends, with the commands it left running; the next call starts
    another (default 600). calls: how many calls one actor carries out at once; further ones wait
    with their callers (default 32).

    Whoever can reach the cluster can use its actors. Call `ray.init` before.
    """

    def __init__(
        self,
        toolset: Toolset | str = "lines",
        *,
        policy: Policy | None = None,
        idle: float = 600.0,
        calls: int = 32,
    ) -> None:
        if idle <= 0 or calls < 1:
            raise ConfigInvalid("idle has to be more than 0 seconds, and calls at least 1.")
        self._settings = Settings(toolset, policy, idle, calls)
        self._channels: dict[tuple[str, str | None], RayChannel] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self._settings,)

    def at(self, path: str, node: str | None = None) -> RayChannel:
        """For `get_tools(...)`: the workspace at an absolute path of a node.

        node: its ID, name or address, where several nodes have such a directory (default: the one
        that has). The actor is started when the tools are asked for. Raises `ConfigInvalid`.
        """
        if not path.startswith("/"):
            raise ConfigInvalid(f"path has to be absolute on its node; {path!r} is not.")
        if not ray.is_initialized():
            raise ConfigInvalid("There is no connection to Ray.", hint="Call ray.init() first.")
        with self._lock:
            new = RayChannel(path, node, self._settings)
            return self._channels.setdefault((path, node), new)


def _made(settings: Settings) -> RayWorkspaces:
    return RayWorkspaces(
        settings.toolset, policy=settings.policy, idle=settings.idle, calls=settings.calls
    )
