"""The way back, as verbs of a workspace."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fsagent_tools.services import Services

if TYPE_CHECKING:
    from fsagent_tools.history.history import History
    from fsagent_tools.history.telling import TakenBack


class Rewind:
    """What a session changed, and how it is taken back.

    All raise `NotConfigured` where no history is kept, and `Denied` where the files are not in a
    directory of this machine.
    """

    services: Services

    @property
    def history(self) -> "History":
        """The steps of the session; iterating gives a `StepChange` each, with its diff."""
        return self.services.history

    def checkpoint(self, name: str = "") -> str:
        """Remember how the files are now. Returns an ID for `undo(to=...)` and `diff`."""
        return self.history.checkpoint(name)

    def diff(self, since: str = "") -> str:
        """What the session changed since a checkpoint or step, default all, as unified diffs."""
        return self.history.diff(since)

    def undo(
        self,
        steps: int = 1,
        *,
        to: str | None = None,
        paths: Iterable[str] | None = None,
        dry_run: bool = False,
    ) -> "TakenBack":
        """Take back the last `steps` calls that changed files, or all since `to`.

        to: the ID of a checkpoint or step; later undos are taken back, too. paths: of these files
        and directories only. dry_run: only say what would happen. Files that others changed since
        are merged where no line is in doubt. Raises `Conflict`, nothing then changed, where one is;
        `Missing` where there is nothing to take back. The policy binds it.
        """
        return self.history.undo(steps, to=to, paths=paths, dry_run=dry_run)

    def redo(self, *, dry_run: bool = False) -> "TakenBack":
        """Take back the last undo, if nothing was changed since. Raises as `undo` does."""
        return self.history.redo(dry_run=dry_run)
