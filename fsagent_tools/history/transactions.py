"""Changes that all happen or none: if the block raises, what it did is taken back."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fsagent_tools import call
from fsagent_tools.errors import Conflict, InvalidArguments
from fsagent_tools.history.recorder import JournalWriter
from fsagent_tools.history.timeline import steps_of
from fsagent_tools.history.undo import Undo
from fsagent_tools.session.memory import Session


@dataclass(frozen=True)
class Transactions:
    """Those of one history."""

    recorder: JournalWriter
    session: Session
    undo: Undo

    @contextmanager
    def begun(self) -> Iterator[None]:
        """What changes inside is one step, or a part of the one under way; if the block raises, it
        is taken back.

        Raises what the block raises, and `Conflict` where others changed the same file meanwhile.
        """
        outer, step = call.current.get().transaction, call.new_step()
        inside = self._part_of(outer) if outer and not outer.over else self._whole(step)
        with inside:
            yield

    @contextmanager
    def _whole(self, step: str) -> Iterator[None]:
        begun, process = call.Transaction(self.session, step), os.getpid()
        with begun.ending:
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
                    self._end_failed(begun, error)
                raise
            begun.end()

    def _end_failed(self, begun: call.Transaction, error: BaseException) -> None:
        if stays := self._taken_back(begun):
            raise Conflict(
                f"{error} What was done before it is taken back, but for {', '.join(stays)}: "
                "others have changed them meanwhile.",
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

    def _taken_back(self, begun: call.Transaction) -> list[str]:
        """Paths that stay as they are."""
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
