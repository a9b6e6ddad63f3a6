"""The history as a host reads it: steps, and changes as diffs, or in words where there is none."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial

from fsagent_tools.encoding import decode
from fsagent_tools.errors import ToolError
from fsagent_tools.history.contents import Contents
from fsagent_tools.history.states import State
from fsagent_tools.history.timeline import Step, Transition
from fsagent_tools.lines.diff import compared
from fsagent_tools.names import display
from fsagent_tools.replies import PathChange, StepChange

UNKNOWN = "(its content is not known any more)"


def step_changes(
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


def diff_of(
    path: str, before: State, after: State, contents: Contents, new: bytes | None = None
) -> str:
    """What changed at one path. new: what a file holds afterwards, default as `contents` has it."""
    shown = display(path)
    parts = [*_kinds(shown, before, after)]
    if "file" in (before.kind, after.kind):
        old = contents.at(path, before) if before.kind == "file" else b""
        if new is None:
            new = contents.at(path, after) if after.kind == "file" else b""
        if old is None or new is None:
            parts.append(f"{shown} {UNKNOWN}")
        else:
            parts.append(text_diff(shown, old, new))
    return "\n".join(filter(None, parts))


def diff_of_change(change: Transition, contents: Contents) -> str:
    """A unified diff, or words for what has none."""
    if change.went_to:
        return f"moved {display(change.path)} -> {display(change.went_to)}"
    new = contents.written(change) if change.after.kind == "file" else None
    return diff_of(change.path, change.before, change.after, contents, new)


def _kinds(path: str, before: State, after: State) -> list[str]:
    """What a diff of texts would not tell: links, directories, modes, files that come and go."""
    if before.kind == after.kind and before.kind in ("file", "directory"):
        modes = f"mode {before.mode:o} -> {after.mode:o} {path}"
        return [modes] if before.mode != after.mode else []
    return [
        f"{word} {state.kind} {path}" + (f" -> {display(state.target)}" if state.target else "")
        for word, state in (("deleted", before), ("new", after))
        if state.kind
    ]


def text_diff(path: str, old: bytes, new: bytes) -> str:
    """The unified diff of two contents; "" for equal ones."""
    if old == new:
        return ""
    try:
        first, second = decode(old, path).utf8, decode(new, path).utf8
    except ToolError:
        return f"Binary file {path} ({len(old):,} -> {len(new):,} bytes)"
    return compared(path, first, second)
