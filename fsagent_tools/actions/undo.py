"""undo: restore what this session changed."""

from dataclasses import dataclass, field

from fsagent_tools.files.errors import printable
from fsagent_tools.names import display
from fsagent_tools.text import some
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.edited import clipped
from fsagent_tools.workspace.services import lacks_machine

_NAMED = 20  # paths that are told


class UndoParams(Params):
    steps: int | None = Field(None, ge=1, description="How many calls to undo (default 1).")
    to: str = Field("", description="Undo all since this checkpoint or step.")
    paths: list[str] = Field(
        default_factory=list, description="Undo the last change of these files and directories."
    )
    redo: bool = Field(False, description="Revert the last undo.")
    dry_run: bool = Field(False, description="Only show what it would change, as a diff.")


@dataclass(frozen=True)
class Undone:
    """`steps` are the IDs of what was undone, `paths` what changed. `left`: what stays as it is,
    {path, reason}. `diff`: of a dry run.
    """

    steps: list[str]
    paths: list[str]
    left: list[dict[str, str]] = field(default_factory=list)
    dry_run: bool = False
    diff: str = ""

    def render(self) -> str:
        if not self.steps:
            return "Nothing to undo: nothing has changed there since then."
        noun = "step" if len(self.steps) == 1 else "steps"
        verb = "Would undo" if self.dry_run else "Undid"
        lines = [f"{verb} {len(self.steps)} {noun}; restored: {_listed(self.paths)}"]
        lines += [
            f"Not restored: {display(one['path'])}: {one['reason']}" for one in self.left[:_NAMED]
        ]
        if more := self.left[_NAMED:]:
            lines.append(f"({len(more):,} more paths were not restored)")
        return "\n".join([*lines, *([clipped(self.diff)] if self.diff else [])])


def _listed(paths: list[str]) -> str:
    return some([*map(display, paths)], _NAMED) or "nothing"


@action(effect=Effect.WRITE, lacks=lambda workspace: lacks_machine(workspace.services))
def undo(workspace: Workspace, p: UndoParams) -> Undone:
    """Undo the last calls that changed files. What others changed since stays."""
    if p.redo:
        done = workspace.redo(dry_run=p.dry_run)
    else:
        done = workspace.undo(
            p.steps or 1, to=p.to or None, paths=p.paths or None, dry_run=p.dry_run
        )
    return Undone(
        [*done.steps],
        [*map(printable, done.paths)],
        [{"path": printable(one.path), "reason": one.reason} for one in done.left],
        p.dry_run,
        done.diff if p.dry_run else "",
    )
