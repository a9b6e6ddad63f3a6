"""undo: take back what this session changed."""

from dataclasses import dataclass, field

from fsagent_tools.names import display
from fsagent_tools.search.start import printable
from fsagent_tools.text import some
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.edited import clipped
from fsagent_tools.workspace.services import lacks_machine

_NAMED = 20  # paths that are told


class UndoParams(Params):
    steps: int | None = Field(None, ge=1, description="How many calls to take back (default 1).")
    to: str = Field("", description="Take back all since this checkpoint or step.")
    paths: list[str] = Field(default_factory=list, description="Only these files and directories.")
    redo: bool = Field(False, description="Take back the last undo.")
    dry_run: bool = Field(False, description="Only show what it would change, as a diff.")


@dataclass(frozen=True)
class Undone:
    """`steps` are the IDs of what was taken back, `paths` what changed. `left`: directories that
    stay because they hold files of others. `lost`: files that stay because their old content was
    not kept, or the policy closes them. Of a dry run `diff` and `conflicts`, {path, reason}.
    """

    steps: list[str]
    paths: list[str]
    left: list[str]
    dry_run: bool = False
    diff: str = ""
    conflicts: list[dict[str, str]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def render(self) -> str:
        if not self.steps:
            return "Nothing is taken back: nothing was changed there since then."
        noun = "step" if len(self.steps) == 1 else "steps"
        verb = "Would take back" if self.dry_run else "Took back"
        lines = [f"{verb} {len(self.steps)} {noun}; as before: {_listed(self.paths)}"]
        if self.left:
            lines.append(f"Left, as others have files there: {_listed(self.left)}")
        if self.lost:
            lines.append(f"Left, as not kept or closed by the policy: {_listed(self.lost)}")
        lines += [f"In the way: {one['path']}: {one['reason']}" for one in self.conflicts]
        return "\n".join([*lines, *([clipped(self.diff)] if self.diff else [])])


def _listed(paths: list[str]) -> str:
    return some([*map(display, paths)], _NAMED) or "nothing"


@action(effect=Effect.WRITE, lacks=lambda workspace: lacks_machine(workspace.services))
def undo(workspace: Workspace, p: UndoParams) -> Undone:
    """Take back the last calls that changed files. What others changed stays."""
    if p.redo:
        done = workspace.redo(dry_run=p.dry_run)
    else:
        done = workspace.undo(
            p.steps or 1, to=p.to or None, paths=p.paths or None, dry_run=p.dry_run
        )
    paths, left, lost = (
        [printable(path) for path in some] for some in (done.paths, done.left, done.lost)
    )
    return Undone(
        [*done.steps],
        paths,
        left,
        p.dry_run,
        done.diff if p.dry_run else "",
        [{"path": one.path, "reason": one.reason} for one in done.conflicts],
        lost,
    )
