"""Workspaces on the nodes of a Ray cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

from fsagent_tools import Effect, Policy, ToolError, Toolset, Workspace, toolset
from fsagent_tools.errors import ConfigInvalid, NetworkError, OutcomeUnknown
from fsagent_tools.types import Block, Entry, Shape
from fsagent_tools_ray.actor import WorkspaceActor

LOOK = 1.0  # seconds between two looks whether the node is still there
ASKED = (Effect.WRITE, Effect.DELETE)  # asked about here by their arguments: the diff is there


class RayWorkspaces:
    """One actor for each workspace, on the node that has its files.

    toolset: its name, or one that can be pickled. policy: as of `Workspace`, in place of what the
    node is configured to. Call `ray.init` before.
    """

    def __init__(self, toolset: Toolset | str = "lines", *, policy: Policy | None = None) -> None:
        self._toolset, self._policy = toolset, policy
        self._made: dict[tuple[str, str], Any] = {}

    def at(self, path: str, node: str | None = None) -> Toolset:
        """For `get_tools(Workspace(files=MemoryFiles({})), ...)`: tools of an absolute path.

        node: ID, name or address, where several have it. Raises `ConfigInvalid`, `NetworkError`.
        """
        if not path.startswith("/"):
            raise ConfigInvalid(f"`path` has to be absolute on its node; {path!r} is not.")
        if not ray.is_initialized():
            raise ConfigInvalid("There is no connection to Ray.", hint="Call ray.init() first.")
        chosen = self._toolset if isinstance(self._toolset, Toolset) else toolset(self._toolset)
        if several := [one.shown_name for one in chosen.entries if one.commands]:
            raise ConfigInvalid(f"{several[0]} is a tool of several commands: choose a plain one.")
        there = _There(path, *self._actor(path, node))
        told = there.got(there.actor.told.remote())
        entries = [entry for entry in chosen.entries if entry.shown_name in told]
        away = tuple(_away(entry, there, told[entry.shown_name]) for entry in entries)
        return replace(chosen, entries=away)

    def _actor(self, path: str, node: str | None) -> tuple[str, Any]:
        home = _node_of(path, node)
        if (path, home) not in self._made:
            pinned: Any = {"scheduling_strategy": On(home, soft=False), "max_restarts": -1}
            made = ray.remote(num_cpus=0, max_concurrency=32, **pinned)(WorkspaceActor)
            self._made[path, home] = made.remote(path, self._toolset, self._policy)
        return home, self._made[path, home]


class _There(NamedTuple):
    """The actor of a workspace, and its node."""

    path: str
    node: str
    actor: Any

    def got(self, reference: Any, *, changes: bool = False) -> Any:
        """Raises `NetworkError` if node or actor is lost, `OutcomeUnknown` where it `changes`."""
        while True:
            try:
                return ray.get(reference, timeout=LOOK)
            except GetTimeoutError:
                if self.node in _alive():
                    continue
                told = "is lost"
            except RayTaskError as error:
                raise (error.cause if isinstance(error.cause, ToolError) else error) from None
            except RayError as error:
                told = f"gave no answer ({type(error).__name__})"
            where = f"The node {self.node}, which has {self.path}, {told}."
            if changes:
                raise OutcomeUnknown(where, hint="It may have been carried out: check that first.")
            raise NetworkError(where, hint="Tell the user, or try again later.")


def _away(entry: Entry, there: _There, description: str) -> Entry:
    """The tool, carried out by the actor."""
    action = entry.action
    effect = Effect.EXECUTE if action.effect in ASKED else action.effect
    run = partial(_run, there, entry.shown_name, action.effect)
    away = replace(action, run=run, effect=effect, remark=None, lacks=None, beside="", waits=True)
    shape = _AsTold(**vars(entry.result))
    return replace(entry, of=away, description=description, result=shape)


def _run(there: _There, name: str, effect: Effect, workspace: Workspace, params: Any) -> "_Told":
    reads = effect is Effect.READ
    method = there.actor.look if reads else there.actor.call
    sent = method.remote(name, workspace.session.id, params.as_json(given=True))
    done = there.got(sent, changes=not reads)
    if done.ok:
        return _Told(done.to_dict(), done.blocks, done.text)
    kind = type("RemoteRefusal", (ToolError,), {"code": done.code})
    refusal: ToolError = kind(done.text.removeprefix("Error: "), details={"told": done.to_dict()})
    raise refusal


@dataclass(frozen=True)
class _Told:
    """What the actor answered."""

    told: Mapping[str, Any]
    blocks: tuple[Block, ...]
    _text: str

    def render(self) -> str:
        return self._text


@dataclass(frozen=True)
class _AsTold(Shape):
    """The envelope that the actor made."""

    def of(self, text: str, data: Mapping[str, Any]) -> dict[str, Any]:
        return dict(data["told"])

    def word(self, error: ToolError) -> str:
        return error.code if "told" in error.details else super().word(error)

    def of_error(self, text: str, code: str, details: Mapping[str, Any]) -> dict[str, Any]:
        return dict(details.get("told") or super().of_error(text, code, details))


def _alive() -> dict[str, dict[str, Any]]:
    return {one["NodeID"]: one for one in ray.nodes() if one["Alive"]}


def _node_of(path: str, wanted: str | None) -> str:
    """The ID of the one living node that has `path`; others than `wanted` are not asked."""
    keys = ("NodeID", "NodeName", "NodeManagerAddress")
    alive = _alive()
    found = [i for i, one in alive.items() if wanted in (None, *(one[key] for key in keys))]
    if len(found) > 1:
        has = ray.remote(num_cpus=0)(lambda: Path(path).is_dir())
        asked = {i: has.options(scheduling_strategy=On(i, soft=False)).remote() for i in found}
        found = [i for i, answer in asked.items() if ray.get(answer, timeout=60)]
    if len(found) == 1:
        return found[0]
    many = f"{len(found)} nodes of the cluster have" if found else "No node of the cluster has"
    raise ConfigInvalid(
        f"{many} the directory {path}{f' and are {wanted}' if wanted else ''}.",
        hint=f"Say which by `node=`. There are: {', '.join(alive)}.",
    )
