"""Changes that all happen or none: begun with a mark on disk that its process holds locked.

Who finds such a mark unlocked takes back what a killed process did in its transaction.
"""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from fsagent_tools import call
from fsagent_tools.errors import Conflict, InvalidArguments, ToolError, WriteFailed
from fsagent_tools.files.open_file import AT_CWD, opened
from fsagent_tools.history.recorder import JournalWriter
from fsagent_tools.history.timeline import steps_of
from fsagent_tools.history.undo import Undo
from fsagent_tools.runtime.state import OPEN
from fsagent_tools.session.memory import Session


@dataclass(frozen=True)
class Transactions:
    """Those of one history; a name is the session that made it, a dot, and the step."""

    recorder: JournalWriter
    session: Session
    undo: Undo

    @contextmanager
    def begun(self) -> Iterator[None]:
        """What changes inside is one step, or a part of the one under way; if the block raises, it
        is taken back.

        Raises what the block raises, `Conflict` where others changed the same lines meanwhile, and
        `WriteFailed` where the mark cannot be made.
        """
        outer, step = call.current.get().transaction, call.new_step()
        inside = self._part_of(outer) if outer and not outer.over else self._whole(step)
        with inside:
            yield

    @contextmanager
    def _whole(self, step: str) -> Iterator[None]:
        begun, process = call.Transaction(self.session, step), os.getpid()
        mark = self._path(f"{self.session.id}.{step}")
        with begun.ending as ending:
            ending.callback(os.close, self._made(mark))
            try:
                with call.changed(transaction=begun, step=step):
                    yield
                if begun.failed:
                    raise Conflict(
                        "A part of the transaction has failed, so nothing of it is done.",
                        hint="Let the error of that part end the block.",
                    )
            except BaseException as error:
                begun.end()
                if os.getpid() == process:  # else it was forked inside, and is not of this one
                    self._end_failed(begun, mark, error)
                raise
            begun.end()
            if os.getpid() == process:
                os.unlink(mark)

    def _end_failed(self, begun: call.Transaction, mark: str, error: BaseException) -> None:
        stays = self._taken_back(begun)  # if it fails, the mark stays for who comes next
        os.unlink(mark)
        if stays:
            raise Conflict(
                f"{error} What was done before it is taken back, but for {', '.join(stays)}: "
                "others have changed the same lines meanwhile.",
                hint="Look at these files; `undo` has what they were before.",
            ) from error

    @contextmanager
    def _part_of(self, outer: call.Transaction) -> Iterator[None]:
        """A block inside another one's, which cannot succeed any more if this one fails."""
        if outer.session is not self.session:
            raise InvalidArguments(
                "A transaction of another workspace is under way here.",
                hint="Let it end before this one begins.",
            )
        try:
            yield
        except BaseException:
            outer.failed = True
            raise
        if outer.over:
            raise Conflict("The transaction around this one ended before it, with what was done.")

    def recover(self) -> None:
        """Take back what processes that were killed had begun; `logging` is told of it."""
        with suppress(FileNotFoundError):
            for name in os.listdir(self._path("")):
                with suppress(FileNotFoundError, BlockingIOError):  # ended, or its process lives
                    self._recover(name, self._locked(name))

    def _recover(self, name: str, held: int) -> None:
        begun = call.Transaction(None, name.rpartition(".")[2])
        with begun.ending as ending:
            ending.callback(os.close, held)
            try:
                stays = self._taken_back(begun)
                os.unlink(self._path(name))
                outcome = f"is taken back{', but for ' if stays else ''}{', '.join(stays)}"
            except (OSError, ToolError) as error:
                outcome = f"could not be taken back yet: {error}"
        logging.getLogger("fsagent_tools").warning("A transaction that was killed %s", outcome)

    def _taken_back(self, begun: call.Transaction) -> list[str]:
        """Paths that stay as they are. What is killed meanwhile is gone on with by the next one."""
        step = begun.step
        lines = [one for one in self.recorder.archive.lines() if one.get("step") == step]
        changes = [change for one in steps_of(lines) for change in one.changes]
        with call.changed(step=step, transaction=call.Transaction(None, step, begun.ending)):
            stays = self.undo.revert(changes)
            if not stays:
                lines = [one for one in self.recorder.archive.lines() if one.get("step") == step]
                self.recorder.append(
                    [{"void": one["at"], "session": one["session"]} for one in lines]
                )
        return stays

    def _made(self, mark: str) -> int:
        try:
            self.recorder.archive.begin()
            os.makedirs(self._path(""), 0o700, exist_ok=True)
            return self._locked(os.path.basename(mark), os.O_CREAT | os.O_EXCL)
        except OSError as error:
            raise WriteFailed(
                f"The transaction could not be begun ({error.strerror}). Nothing was changed.",
                hint=f"Make room in {self.recorder.archive.folder}.",
            ) from error

    def _locked(self, name: str, flags: int = 0) -> int:
        """The descriptor that holds a mark; nobody sees one that is made and not locked yet."""
        with opened(AT_CWD, self._path("")) as folder:
            fcntl.flock(folder, fcntl.LOCK_EX)
            held = os.open(name, os.O_RDWR | os.O_NOFOLLOW | flags, 0o600, dir_fd=folder)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(held)
                raise
        return held

    def _path(self, name: str) -> str:
        return f"{self.recorder.archive.folder}/{OPEN}/{name}"
