"""Files that go back in time with the states that a framework keeps of a thread."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from threading import Lock
from typing import TYPE_CHECKING, TypedDict
from weakref import WeakKeyDictionary

from fsagent_tools.call import identified
from fsagent_tools.errors import Conflict, Missing
from fsagent_tools.hosting.runs import ThreadRun
from fsagent_tools.records import dataclass

if TYPE_CHECKING:
    from fsagent_tools.replies import StepChange
    from fsagent_tools.workspace import Workspace

_locks: "WeakKeyDictionary[Workspace, Lock]" = WeakKeyDictionary()
_making = Lock()
_START = " (start)"  # ends the name of a checkpoint that no state came before
_BESIDE = " (beside another run)"  # in that of one whose run was not alone


class Position(TypedDict):
    """Which files a state has; JSON-able. id: of a checkpoint. at: ns since 1970.

    step: what ran when the checkpoint was made, as its framework calls it.
    """

    id: str
    at: int
    step: str


@dataclass(frozen=True)
class Lineage:
    """The checkpoints of one thread, for a framework that keeps its states and may return to one.

    At the first step of a run, `arrive` compares the state's position with the last checkpoint of
    the thread. If another step made that one, the thread was set back or forked. From there a run
    goes on. Raises what `Workspace.history` raises.

    Attributes:
        workspace: Whose files they are.
        thread: The session of its changes.
        part: A graph within the thread.
        run: Which run of that part.
    """

    workspace: "Workspace"
    thread: str
    part: str = ""
    run: ThreadRun = field(default_factory=ThreadRun)

    def arrive(self, known: Position | None, step: str, *, back: bool = False) -> Position | None:
        """Bring the files to `known`; the new position, None where the old one stays.

        step: what is about to run; it has the same name as what runs beside it, and as itself when
        it is resumed. back: the thread was told to go to that state; without a position it is the
        one before the first, not a new thread. What others did stays, and so does what a run did
        that goes on, or went on beside one that knows the state. A position of another host, which
        this history does not have, is gone on from. Raises `Conflict`, nothing then changed, where
        others changed the same lines, or where the thread is told to go back while another run is
        working; `Missing` where the history does not reach back so far.
        """
        with self._alone():
            if self.run.step:
                return None
            root, thread = str(self.workspace.files.local_root), f"{self.thread}\0{self.part}"
            self.run.begin(root, thread, self.workspace.services.state)
            try:
                return self._begun(known, step, back=back)
            except BaseException:
                self.run.end()
                raise

    def _begun(self, known: Position | None, step: str, *, back: bool) -> Position | None:
        beside, working = self.run.others()
        if back and working:
            raise Conflict(
                "Another run of this thread is working: its files cannot go back now.",
                hint="Go back when it has ended.",
            )
        last = self._last(known)
        self.run.beside, self.run.last = beside and not back, last.id if last else ""
        moved = self._arrived(known, last, step, back=back)
        self.run.step = step
        return moved

    def _arrived(
        self, known: Position | None, last: "StepChange | None", step: str, *, back: bool
    ) -> Position | None:
        if self.run.beside or last is None or (known is None and not back):
            return self._checkpoint(step, start=known is None)
        if self._step(last) in (step, known and known["step"]):
            return None
        if known and not self._is_behind(known, last, back=back):
            return self._checkpoint(step)
        self._go_back(known["id"] if known else self._start())
        return self._checkpoint(step, start=known is None)

    def _is_behind(self, known: Position, last: "StepChange", *, back: bool) -> bool:
        """Whether the files went on from the state, and are to go back to it."""
        marks = self.workspace.history.checkpoints(self._name)
        own = next((one for one in marks if one.id == known["id"]), None)
        if back:
            return own is not None or known["at"] < last.time.timestamp() * 1e9
        return own is not None and not any(_BESIDE in one.name for one in (own, last))

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
            last = self.workspace.history.last_checkpoint(self.thread, self._name)
            self.run.beside |= bool(self.run.step and last and last.id != self.run.last)
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
        name = f"{self._name}{step}{_BESIDE * self.run.beside}{_START * start}"
        self.run.last = made = self.workspace.history.checkpoint(name)
        return Position(id=made, at=time.time_ns(), step=step)

    def _step(self, checkpoint: "StepChange") -> str:
        return checkpoint.name.removeprefix(self._name).partition(" (")[0]

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
