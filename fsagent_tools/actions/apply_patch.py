"""Apply a patch of several files: judged whole, then written."""

from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from fsagent_tools.call import PendingChange, changed, patience
from fsagent_tools.edits.finding import Found, find
from fsagent_tools.edits.patch import FilePatch, PatchHunk, parse_patch, put_hunk
from fsagent_tools.edits.quotes import LOOKING, Choice, Evidence
from fsagent_tools.edits.telling import Telling, find_or_tell, lines_as_are, without_names
from fsagent_tools.encoding import encoded
from fsagent_tools.errors import (
    ActionDenied,
    InvalidArguments,
    Missing,
    ToolError,
)
from fsagent_tools.gate.all_or_none import as_one
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.session.editing import Written
from fsagent_tools.session.planned import (
    Planned,
    changes,
    check_unchanged,
    check_written,
    planned,
)
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.edited import of_sent
from fsagent_tools.workspace import lazy

_MORE = "Give more of the lines around it, or before it '@@ ' and the function it is in."


class ApplyPatchParams(Params):
    patch: str = Field(
        description="*** Begin Patch, files, *** End Patch. A file: *** Add File: path and + lines,"
        " *** Delete File: path, or *** Update File: path, perhaps *** Move to: path, then parts:"
        " @@ class or function it is in, and lines after - (old), + (new) or a space (stay: three"
        " on both sides)."
    )
    lint: Lint | None = Field(None, description=LINT)


@dataclass(frozen=True)
class Patched:
    """What a patch did: the paths that were added, deleted, changed, or moved, and the diff."""

    added: list[str]
    deleted: list[str]
    updated: list[str]
    moved: list[tuple[str, str]]
    diff: str
    notes: list[str]
    _broken: tuple[str, ...] = ()

    def render(self) -> str:
        return "\n".join([*self.notes, of_sent(self.diff), *self._broken])


@action(effect=Effect.WRITE, permissions=("fs.read", "fs.write", "fs.delete"), risk="high")
def apply_patch(workspace: Workspace, p: ApplyPatchParams) -> Patched:
    """Change, add, move and delete files by a patch, all or nothing."""
    try:
        files = _judged(workspace, parse_patch(p.patch), p.lint)
        _check_deleting(workspace, files)
    except ToolError as error:
        if NOTHING not in error.message:
            error.message += f" {NOTHING}"
        raise
    told = "\n".join(one.diff for one in files)
    written = _written(workspace, files, told, p.lint)
    stays = [one for one in files if not one.source]
    return Patched(
        [one.told for one in stays if one.before is None],
        [one.told for one in stays if one.after is None],
        [one.told for one in stays if None not in (one.before, one.after)],
        [(one.source.told, one.told) for one in files if one.source],
        told,
        [f"{one.told}: {note}." for one in files for note in one.notes],
        tuple(f"{one.path}: {one.broken}" for one in written if one.broken),
    )


def _written(
    workspace: Workspace, files: list[Planned], told: str, lint: Lint | None
) -> list[Written]:
    state = tuple((one.path, sha256(one.diff.encode()).hexdigest()) for one in files)
    ends = {one.path: one for each in files for one in (each.source, each) if one}
    change = PendingChange("patch", tuple(one.told for one in files), state=state, told=told)
    written, done = list[Written](), list[str]()
    with as_one(workspace, change, done, several=len(ends) > 1):
        for _, one in sorted(ends.items()):  # in one order whoever does it
            check_unchanged(workspace, one)
        for one in files:
            if one.source:
                _moved(workspace, one.source.path, one)
                done.append(f"{one.source.told} -> {one.told}")
        for one in files:
            if one.after is not None and one.after != (one.source or one).before:
                written.append(workspace.write(one.path, one.after, lint=lint))
                done.append(one.told)
        for one in files:
            if one.after is None:
                workspace.remove(one.path)
                done.append(one.told)
    return written


def _moved(workspace: Workspace, old: str, new: Planned) -> None:
    if above := new.path.rpartition("/")[0]:
        workspace.files.make_directory(above)
    workspace.move(old, new.path, overwrite=new.raw is not None)


def _check_deleting(workspace: Workspace, files: list[Planned]) -> None:
    """Whoever is asked about deleting only is not asked about a patch."""
    asked, gone = workspace.approve_effects, [one for one in files if one.after is None]
    if gone and Effect.DELETE in asked and Effect.WRITE not in asked:
        raise ActionDenied(
            f"A patch may not delete files here, as it would {gone[0].told}. {NOTHING}",
            hint="Delete it with `rm`.",
        )


def _judged(workspace: Workspace, parts: list[FilePatch], lint: Lint | None) -> list[Planned]:
    """What becomes of each file; nothing is made on the way. Raises a `ToolError`."""
    known: dict[str, Planned] = {}
    with changed(dry=True):
        for part in parts:
            _plan(workspace, known, part)
        for one in known.values():
            check_written(workspace, one, lint)
    files = changes(known.values())
    if not files:
        raise InvalidArguments(f"Nothing would change: the files are like that. {NOTHING}")
    return files


def _plan(workspace: Workspace, known: dict[str, Planned], part: FilePatch) -> None:
    one = planned(workspace, known, part.path)
    if part.verb == "add":
        return one.add(encoded(part.text, "patch"))
    if one.after is None:
        workspace.files.place(part.path)  # finds the words for what is missing
        raise Missing(f"{one.told} is deleted by the same patch. {NOTHING}")
    if (part.verb == "delete" or part.target) and one.raw is not None:
        _refuse_link(workspace, part.path, one.told)
    if part.verb == "delete":
        one.after = None
        return None
    _update(workspace, one, part.hunks)
    return one.move(planned(workspace, known, part.target)) if part.target else None


def _refuse_link(workspace: Workspace, path: str, name: str) -> None:
    """What a link leads to is not what goes when it is deleted or moved."""
    if workspace.files.stat(path).is_symlink:
        raise InvalidArguments(
            f"{path} is a link to {name}. {NOTHING}", hint=f"Name {name} if that is meant."
        )


def _update(workspace: Workspace, one: Planned, hunks: tuple[PatchHunk, ...]) -> None:
    if one.opaque and hunks:
        raise one.opaque
    judge = lazy.lint.judge(one.path)
    evidence = Evidence(parses=judge, name=one.path, whole_lines=True)
    after = 0
    for number in range(1, len(hunks) + 1):
        text = one.after or b""
        seek = partial(_sought, evidence)
        try:
            one.after, after, found = put_hunk(text, hunks[number - 1 :], after, seek)
        except ToolError as error:
            where = f"{one.told}, part {number}" if len(hunks) > 1 else one.told
            raise without_names(error, where, _MORE) from None
        exact = found.strategy in ("exact", "line_endings")
        matched = "" if exact else f"no exact match; matched by {found.strategy.replace('_', ' ')}"
        how = ", ".join(filter(None, (matched, found.how)))
        one.notes += [f"part {number}, {how}"] * bool(how)


def _sought(evidence: Evidence, text: bytes, old: str, new: str, among: Choice) -> Found:
    check = patience(LOOKING, "Looking for the lines")
    seek = partial(find, text, old, new, evidence=evidence._replace(check=check, among=among))
    again = patience(2 * LOOKING, "Looking for similar lines")
    return find_or_tell(seek, text, old, Telling(partial(lines_as_are, text), again))
