"""The history as a host reads it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from datetime import UTC, datetime
from functools import cached_property, partial

from fsagent_tools.history.contents import Contents
from fsagent_tools.history.diffs import diff_of
from fsagent_tools.history.timeline import Step, Transition
from fsagent_tools.records import dataclass


@dataclass(frozen=True)
class PathChange:
    """What a step did to one path. verb: "created", "changed", "removed" or "moved".

    went_to: the new path of what was moved.
    """

    path: str
    verb: str
    went_to: str
    _diff: Callable[[], str] = field(repr=False, compare=False)

    def diff(self) -> str:
        """A unified diff, or words for what has none."""
        return self._diff()


@dataclass(frozen=True)
class StepChange:
    """One step of a history. kind: "change", "undo", "redo" or "checkpoint", which has a `name`.

    id: for `undo(to=...)`. time: UTC. session, call: see `identified`. tool: "" for what the host
    did itself. undone: it is not in effect now. lost: paths whose old content could not be kept.
    """

    id: str
    time: datetime
    session: str
    tool: str
    call: str
    kind: str
    name: str
    changes: tuple[PathChange, ...]
    undone: bool
    lost: tuple[str, ...]

    def diff(self) -> str:
        """All of its changes."""
        return "\n".join(filter(None, (change.diff() for change in self.changes)))


@dataclass(frozen=True)
class Unrestored:
    """A path that cannot be taken back. `diff`: from what is there now to what was there before."""

    path: str
    reason: str
    diff: str


@dataclass(frozen=True)
class TakenBack:
    """What an undo or a redo did, or would do. steps: those that it took back, the last first.

    paths: what changed on disk. conflicts: what stands in its way; only a dry run has any. left:
    directories that stay, because they hold files of others. lost: files that stay as they are,
    because their old content could not be kept.
    """

    steps: tuple[str, ...]
    paths: tuple[str, ...]
    conflicts: tuple[Unrestored, ...] = ()
    left: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    _diff: Callable[[], str] = field(default=str, repr=False, compare=False)

    @cached_property
    def diff(self) -> str:
        """From before it to after it, as unified diffs; made when it is first asked for."""
        return self._diff()


def told_steps(
    steps: Iterable[Step], contents: Contents, in_effect: set[str]
) -> Iterator[StepChange]:
    """`steps` as a host reads them; contents are looked up when a diff is asked for."""
    for step in steps:
        moved = {change.went_to for change in step.changes} - {""}
        changes = tuple(
            PathChange(one.path, one.verb, one.went_to, partial(diff_of_change, one, contents))
            for one in step.changes
            if one.path not in moved
        )
        yield StepChange(
            step.id,
            datetime.fromtimestamp(step.at / 1e9, UTC),
            step.thread or step.session,
            step.tool,
            step.call,
            step.kind,
            step.name,
            changes,
            step.kind == "change" and step.id not in in_effect,
            step.lost,
        )


def diff_of_change(change: Transition, contents: Contents) -> str:
    """A unified diff, or words for what has none."""
    if change.went_to:
        return f"moved {change.path} -> {change.went_to}"
    before, after = change.before, change.after
    old = contents.read(before) if before.kind == "file" else None
    new = contents.after(change) if after.kind == "file" else None
    return diff_of(change.path, before, after, old, new)
