"""The history as a host reads it: steps, and changes as diffs, or in words where there is none."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from fsagent_tools.encoding import decode
from fsagent_tools.errors import ToolError
from fsagent_tools.history.entries import PathEntry
from fsagent_tools.history.store import HistoryStore, RecordedChange, Step
from fsagent_tools.lines.diff import compared
from fsagent_tools.names import display
from fsagent_tools.replies import PathChange, StepChange


def step_change(store: HistoryStore, step: Step, changes: Sequence[RecordedChange]) -> StepChange:
    """Contents are looked up when a diff is asked for."""
    # What has the content of a file that went is that file.
    new = [(one.path, one.after) for one in changes if not one.before and one.after]
    came = {(entry.kind, entry.hash): path for path, entry in new if entry.hash}
    moved = dict[str, str]()
    for one in changes:
        gone = one.before if not one.after else None
        if gone and (to := came.pop((gone.kind, gone.hash), "")):
            moved[one.path] = to
    arrived, told = {*moved.values()}, list[PathChange]()
    for one in changes:
        verb = "created" if not one.before else "changed" if one.after else "removed"
        if to := moved.get(one.path, ""):
            text = f"moved {display(one.path)} -> {display(to)}"
            told.append(PathChange(one.path, "moved", to, partial(str, text)))
        elif one.path not in arrived:
            told.append(PathChange(one.path, verb, "", partial(diff_of, store, one)))
    return StepChange(
        step.id,
        datetime.fromtimestamp(step.at / 1e9, UTC),
        step.thread or step.session,
        step.user,
        step.tool,
        step.call,
        step.kind,
        step.name,
        tuple(told),
        bool(step.undone) or (bool(changes) and all(one.undone for one in changes)),
        not_kept(changes),
    )


def not_kept(changes: Sequence[RecordedChange]) -> tuple[str, ...]:
    """The paths whose old content no undo has: those that were only moved come back."""
    stays = {one.after.hash for one in changes if one.after}
    gone = [(one.path, one.before) for one in changes if one.before and not one.before.is_kept]
    return tuple(sorted(path for path, entry in gone if entry.hash not in stays))


def diff_of(store: HistoryStore, change: RecordedChange) -> str:
    """A unified diff, or words for what has none."""
    shown, before, after = display(change.path), change.before, change.after
    parts = []
    if before and after and before.kind == after.kind:
        if before.mode != after.mode:
            parts.append(f"mode {before.mode & 0o7777:o} -> {after.mode & 0o7777:o} {shown}")
    else:
        parts += [
            f"{word} {entry.kind} {shown}{_target(store, entry)}"
            for word, entry in (("deleted", before), ("new", after))
            if entry
        ]
    if "file" in (before and before.kind, after and after.kind):
        old, new = (_content(store, entry) for entry in (before, after))
        if old is None or new is None:
            parts.append(f"{shown} (its content is not kept)")
        elif old != new:
            parts.append(_text_diff(shown, old, new))
    return "\n".join(filter(None, parts))


def _target(store: HistoryStore, entry: PathEntry) -> str:
    if entry.kind != "link":
        return ""
    return f" -> {display((store.content(entry.hash) or b'').decode(errors='replace'))}"


def _content(store: HistoryStore, entry: PathEntry | None) -> bytes | None:
    return store.content(entry.hash) if entry and entry.kind == "file" else b""


def _text_diff(path: str, old: bytes, new: bytes) -> str:
    try:
        first, second = decode(old, path).utf8, decode(new, path).utf8
    except ToolError:
        return f"Binary file {path} ({len(old):,} -> {len(new):,} bytes)"
    return compared(path, first, second)
