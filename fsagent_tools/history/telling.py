"""The history as a host reads it."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial

from fsagent_tools.history.contents import Contents
from fsagent_tools.history.diffs import diff_of_change
from fsagent_tools.history.timeline import Step
from fsagent_tools.replies import PathChange, StepChange


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
