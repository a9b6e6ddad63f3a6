"""Files that go back in time with the states that a framework keeps of a thread."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, TypedDict
from weakref import WeakKeyDictionary

from fsagent_tools.call import identified
from fsagent_tools.errors import Conflict, Missing
from fsagent_tools.records import dataclass

if TYPE_CHECKING:
    from fsagent_tools.replies import StepChange
    from fsagent_tools.workspace import Workspace

_locks: "WeakKeyDictionary[Workspace, Lock]" = WeakKeyDictionary()
_making = Lock()
_START = " (start)"  # ends the name of a checkpoint that no state came before


class Position(TypedDict):
    """Which files a state has; JSON-able. id: of a checkpoint. at: ns since 1970.

    step: what ran when the checkpoint was made, as its framework calls it.
    """

    id: str
    at: int
    step: str


@dataclass(frozen=True)
class Lineage:
    """The checkpoints of one thread, whose states a framework keeps and may go back to.

    Before each step `arrive` compares the state's position with the last checkpoint of the thread:
    where another step made that one, the thread went back, or its history was forked. Raises as
    `Workspace.history` does. thread: the session of its changes. part: a graph within the thread.
    """

    workspace: "Workspace"
    thread: str
    part: str = ""

    def arrive(self, known: Position | None, step: str, *, back: bool = False) -> Position | None:
        """Bring the files to `known`; the new position, None where the old one stays.

        step: what is about to run; it has the same name as what runs beside it, and as itself when
        it is resumed. back: without a position it is the state before the first one, not a new
        thread. What others did stays. Raises `Conflict`, nothing then changed, where others changed
        the same lines; `Missing` where the history does not reach back so far.
        """
        with self._alone():
            last = self._last(known)
            if last is None or (known is None and not back):
                return self._checkpoint(step, start=known is None)
            if self._step(last) in (step, known and known["step"]):
                return None
            self._go_back(known["id"] if known else self._start())
            return self._checkpoint(step, start=known is None)

    def _go_back(self, to: str) -> None:
        try:
            self.workspace.undo(to=to)
        except Conflict as error:
            raise Conflict(
                f"The thread went back to an earlier state; its files could not. {error.message}",
                hint="Ask the user to put these files right. No tool runs in this state till then.",
                details=error.details,
            ) from error

    def leave(self, step: str) -> Position:
        """The position of the files as they are now, after `step`."""
        with self._alone():
            return self._checkpoint(step)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Positions have the order of their checkpoints."""
        with _making:
            lock = _locks.setdefault(self.workspace, Lock())
        with lock, identified(session=self.thread):
            yield

    @property
    def _name(self) -> str:
        return f"state {self.part}/"

    def _checkpoint(self, step: str, *, start: bool = False) -> Position:
        made = self.workspace.history.checkpoint(f"{self._name}{step}{_START * start}")
        return Position(id=made, at=time.time_ns(), step=step)

    def _step(self, checkpoint: "StepChange") -> str:
        return checkpoint.name.removeprefix(self._name).removesuffix(_START)

    def _last(self, known: Position | None) -> "StepChange | None":
        """The last checkpoint of this thread, else of the one that the state was copied from."""
        history = self.workspace.history
        own = history.last_checkpoint(self.thread, self._name)
        if own or not known:
            return own
        copied = [one for one in history.checkpoints(self._name) if one.id == known["id"]]
        return history.last_checkpoint(copied[0].session, self._name) if copied else None

    def _start(self) -> str:
        for one in reversed(self.workspace.history.checkpoints(self._name)):
            if one.session == self.thread and one.name.endswith(_START):
                return one.id
        raise Missing(
            "The history does not reach back to the beginning of this thread.",
            hint="Go back to a later state.",
        )
