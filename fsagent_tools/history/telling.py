"""The history as a host reads it."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial

from fsagent_tools.history.contents import Contents
from fsagent_tools.history.diffs import diff_of
from fsagent_tools.history.timeline import Step, Transition
from fsagent_tools.replies import PathChange, StepChange
from fsagent_tools.search.start import printable_path


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
        return f"moved {printable_path(change.path)} -> {printable_path(change.went_to)}"
    before, after = change.before, change.after
    old = contents.read(before) if before.kind == "file" else None
    new = contents.after(change) if after.kind == "file" else None
    return diff_of(change.path, before, after, old, new)
