"""The way back, as verbs of a workspace."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fsagent_tools.effects import Effect
from fsagent_tools.gate import Gated
from fsagent_tools.gate.methods import verb

if TYPE_CHECKING:
    from fsagent_tools.history.history import History
    from fsagent_tools.replies import TakenBack


class Rewind(Gated):
    """What a session changed, and the way back.

    All raise `NotConfigured` where no history is kept, and `Denied` where the files are not in a
    directory of this machine.
    """

    @property
    def history(self) -> "History":
        """The steps of the session; iterating yields one `StepChange` per step, with its diff."""
        return self.services.history

    @verb("undo", Effect.READ, mark=True)
    def checkpoint(self, name: str = "") -> str:
        """Save the present state of the files.

        Args:
            name: Shown in the history, and found again by the newest checkpoint that has it.

        Returns:
            An ID, which serves for `undo(to=...)` and `diff`, as the name does.
        """
        return self.history.checkpoint(name)

    @verb("undo", Effect.READ)
    def diff(self, since: str = "", *, everybody: bool = False) -> str:
        """What the session has changed, as unified diffs.

        Args:
            since: The name of a checkpoint, or its ID or that of a step; by default the first step.
            everybody: Include the changes of all sessions.
        """
        return self.history.diff(since, everybody=everybody)

    @verb("undo", Effect.WRITE, mark=True)
    def undo(
        self,
        steps: int = 1,
        *,
        to: str | None = None,
        paths: Iterable[str] | None = None,
        dry_run: bool = False,
        everybody: bool = False,
    ) -> "TakenBack":
        """Undo the last `steps` calls that changed files, or everything since `to`.

        A path that others have changed since stays as it is, and the result names it; the others
        are restored. What changed while a background job ran stays, too, unless `paths` has it.

        Args:
            steps: How many calls to undo.
            to: The name or ID of a checkpoint, or the ID of a step; later undos are reverted, too.
            paths: Files and directories; it undoes the last steps that changed some of them.
            dry_run: Only report what would happen.
            everybody: Include the steps of all sessions.

        Raises:
            Conflict: If no path can be restored; nothing is changed.
            Missing: If there are no such steps, or `to` does not exist.
            InvalidArguments: If an argument cannot be used.
        """
        return self.history.undo(steps, to=to, paths=paths, dry_run=dry_run, everybody=everybody)

    @verb("undo", Effect.WRITE, mark=True)
    def redo(self, *, dry_run: bool = False, everybody: bool = False) -> "TakenBack":
        """Revert the last undo, unless something has changed since. Raises what `undo` raises.

        Args:
            dry_run: Only report what would happen.
            everybody: Include the undos of all sessions.
        """
        return self.history.redo(dry_run=dry_run, everybody=everybody)
