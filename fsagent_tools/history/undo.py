"""One undo or redo: planned, asked about, carried out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fsagent_tools import call
from fsagent_tools.effects import Effect
from fsagent_tools.errors import Conflict, ToolError, WriteFailed
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.history.contents import Contents
from fsagent_tools.history.diffs import diff_of
from fsagent_tools.history.plan import Planner, Restoration
from fsagent_tools.history.recorder import JournalWriter
from fsagent_tools.history.restore import ChangedMeanwhile, Restorer
from fsagent_tools.history.timeline import Step, Transition
from fsagent_tools.replies import TakenBack, Unrestored
from fsagent_tools.session.memory import Session
from fsagent_tools.text import first_lines

_TURNS = 3  # plans, where others change files all the time
_NAMED, _DIFFS = 20, 5  # paths that a refusal names, and those of them that it has diffs of
_LINES, _WIDTH = 20, 160  # of such a diff


@dataclass(frozen=True)
class Undo:
    """How steps are taken back. contents: as they are now. diff_of_step: a step as a diff."""

    files: LocalFiles
    recorder: JournalWriter
    session: Session
    contents: Callable[[], Contents]
    diff_of_step: Callable[[str], str]

    def run(
        self,
        kind: str,
        about: Mapping[str, Any],
        steps: Sequence[Step],
        *,
        paths: Iterable[str] | None = None,
        dry_run: bool = False,
    ) -> TakenBack:
        """kind: "undo" or "redo". about: what the journal says of it. Raises as `History.undo`."""
        every = [change for step in steps for change in step.changes]
        some = every if paths is None else [one for one in every if _beneath(one.path, paths)]
        if paths is not None and not some:
            return TakenBack((), ())
        contents = self.contents()
        plans, closed = _plans(some, contents)
        diff = partial(_diffs, plans, contents)
        bad = [one for one in plans if one.problem]
        conflicts = tuple(Unrestored(one.path, one.problem, _wanted(one, contents)) for one in bad)
        ids = tuple(step.id for step in reversed(steps))
        lost = (*(path for step in steps for path in step.lost), *closed)
        done = TakenBack(
            ids,
            tuple(one.path for one in plans if not one.problem),
            conflicts,
            (),
            lost,
            diff,
        )
        if dry_run:
            _ = done.diff  # as it is now
            return done
        if conflicts:
            raise _refusal(conflicts)
        step = call.current.get().step or call.new_step()
        if _announced(kind, plans, diff):
            contents = self.contents()  # somebody was asked, and that took its time
        with call.changed(step=step, watch=None):
            try:
                plans, left = self._carried_out(plans, some, contents)
                # Last: who is killed before it made an ordinary step.
                part = {"part": True} if len(some) < len(every) else {}
                self.recorder.append([{kind: {**about, **part}, "tool": call.current.get().tool}])
            except (OSError, WriteFailed) as error:
                raise _stopped(error) from error
        self._put_back_ids(plans, contents)
        return replace(done, left=left, _diff=partial(self.diff_of_step, step))

    def revert(self, changes: Sequence[Transition]) -> list[str]:
        """Take changes back as if they had not been: nobody is asked, and it is no undo.

        Returns the paths that stay, as others have changed them since.
        """
        contents = self.contents()
        plans = Planner(contents).plan(changes)
        stays = [one.path for one in plans if one.problem]
        some = [one for one in changes if one.path not in stays]
        with call.changed(watch=None):
            plans, _ = self._carried_out([one for one in plans if not one.problem], some, contents)
        self._put_back_ids(plans, contents)
        return stays

    def _put_back_ids(self, done: Iterable[Restoration], contents: Contents) -> None:
        """Give each restored file the IDs that its lines had, beside those of lines shown since."""
        for one in done:
            if one.target.kind != "file":
                self.session.forget(one.path)
            else:
                names = reversed(contents.names(one.target.identity))  # the newest knows most
                if index := next(filter(None, map(self.recorder.archive.index, names)), None):
                    unusable = suppress(ValueError, KeyError, TypeError, ToolError)
                    with unusable, self.files.open(one.path) as file:
                        self.session.restore(file, index)

    def _carried_out(
        self, plans: list[Restoration], some: Sequence[Transition], contents: Contents
    ) -> tuple[list[Restoration], tuple[str, ...]]:
        """What was done, and what was left; planned anew where a file changed meanwhile."""
        done: dict[str, Restoration] = {}
        for turn in range(_TURNS):
            done |= {one.path: one for one in plans}
            restorer = Restorer(self.files, self.recorder, contents)
            try:
                restorer.run(plans)
                break
            except ChangedMeanwhile:
                contents = self.contents()
                plans, _ = _plans(some, contents)
                if turn == _TURNS - 1 or any(one.problem for one in plans):
                    raise
        return [*done.values()], tuple(restorer.left)


def _plans(some: Sequence[Transition], contents: Contents) -> tuple[list[Restoration], list[str]]:
    """And paths that stay as the policy closes them, a problem where it closes all; or as they are
    too large to be kept, and no other path gets them.
    """
    plans, why_closed = Planner(contents).plan(some), contents.disk.closed
    closed = {one.path: why for one in plans if (why := why_closed(one.path, Effect.WRITE))}
    if len(closed) == len(plans):
        return [replace(one, problem=closed[one.path]) for one in plans], []
    wanted = {contents.first(one.target.identity) for one in plans}
    goes = [one for one in plans if not one.target.kind and not contents.has_room(one.now)]
    stay = {*closed, *(one.path for one in goes if contents.first(one.now.identity) not in wanted)}
    return [one for one in plans if one.path not in stay], sorted(stay)


def _beneath(path: str, tops: Iterable[str]) -> bool:
    return any(top in (".", path) or path.startswith(f"{top}/") for top in tops)


def _diffs(plans: Sequence[Restoration], contents: Contents) -> str:
    """From what is there now to what will be."""
    some = [one for one in plans if not one.problem]
    diffs = (diff_of(one.path, one.now, one.target, contents) for one in some)
    return "\n".join(filter(None, diffs))


def _wanted(one: Restoration, contents: Contents) -> str:
    """From what somebody made of it to what was there before the steps."""
    if contents.disk.closed(one.path, Effect.READ):
        return ""
    return diff_of(one.path, one.now, one.first.before, contents)


def _refusal(conflicts: Sequence[Unrestored]) -> Conflict:
    files = [f"{one.path}: {one.reason}." for one in conflicts[:_NAMED]]
    for number, one in enumerate(conflicts[:_DIFFS]):
        files[number] += "\n" + first_lines(one.diff, _LINES, _WIDTH, "; `conflicts` has all")
    if more := len(conflicts) - len(files):
        files.append(f"({more:,} more files; `conflicts` has all)")
    what = "From what is there now to what was there before"
    return Conflict(
        "\n".join([f"Nothing was taken back. {what}:", *files, ""]),
        hint="Put these files right by hand, or name the others with `paths`.",
        details={"conflicts": [vars(one) for one in conflicts]},
    )


def _stopped(error: OSError | WriteFailed) -> WriteFailed:
    reason = error.message if isinstance(error, WriteFailed) else f"{error.strerror}."
    return WriteFailed(
        f"Not all of it could be taken back: {reason}",
        hint="What was, if anything, is a step of its own. Make room, for the history as well.",
    )


def _announced(kind: str, plans: Sequence[Restoration], diff: Callable[[], str]) -> bool:
    """Whether somebody wanted to know."""
    watch = call.current.get().watch
    if watch:
        facts = tuple((one.path, one.now, one.target) for one in plans)
        watch(call.PendingChange(kind, tuple(one.path for one in plans), state=facts, told=diff()))
    return watch is not None
