"""The way back, as verbs of a workspace."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fsagent_tools.effects import Effect
from fsagent_tools.gate.gate import Gated
from fsagent_tools.gate.methods import verb

if TYPE_CHECKING:
    from fsagent_tools.history.history import History
    from fsagent_tools.replies import TakenBack


class Rewind(Gated):
    """What a session changed, and how it is taken back.

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
            name: Shown in the history.

        Returns:
            An ID for `undo(to=...)` and `diff`.
        """
        return self.history.checkpoint(name)

    @verb("write", Effect.WRITE)
    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes of files inside the block happen, or none: they are taken back if it raises.

        They are one step for `undo`. A process that is killed inside leaves what it had done, as
        steps for `undo`. Commands, `undo` and `checkpoint` are refused inside; a transaction inside
        another is a part of that one. Others see the files change one by one, each whole. Raises
        what the block raises, and `Conflict` where others have changed the same file meanwhile, so
        that it cannot be taken back.
        """
        with self.history.transactions.begun():
            yield

    @verb("undo", Effect.READ)
    def diff(self, since: str = "", *, everybody: bool = False) -> str:
        """What the session has changed, as unified diffs.

        Args:
            since: The ID of a checkpoint or step; by default the first step.
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

        A file that others have changed since is a conflict. The policy applies. If nothing has
        changed since `to`, the result is empty.

        Args:
            steps: How many calls to undo.
            to: The ID of a checkpoint or step; later undos are reverted, too.
            paths: Restrict the undo to these files and directories.
            dry_run: Only report what would happen.
            everybody: Include the steps of all sessions.

        Raises:
            Conflict: If others changed a file since; it is named, and nothing is changed.
            Missing: If there are no steps, or `to` does not exist.
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
