"""The history of one session: what changed, and the way back."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path

from fsagent_tools import call
from fsagent_tools.effects import Effect
from fsagent_tools.errors import Conflict, InvalidArguments, Missing, NotConfigured, WriteFailed
from fsagent_tools.files.errors import outside
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.history.diffs import diff_of, not_kept, step_change
from fsagent_tools.history.journal import Journal
from fsagent_tools.history.reverting import PathPlan, Reverting
from fsagent_tools.history.snapshots import Snapshots
from fsagent_tools.history.store import HistoryStore, RecordedChange, Step
from fsagent_tools.policy import Policy
from fsagent_tools.replies import StepChange, TakenBack, Unrestored
from fsagent_tools.session.memory import Session
from fsagent_tools.text import first_lines

LARGEST_SHOWN = 1 << 20  # bytes of a file whose diff is logged with a command
_NO_STEP = -1  # what undid a change that somebody else had undone
_NAMED, _LINES, _WIDTH = 20, 20, 160  # paths that a refusal names, and the size of its diff
_IN_EFFECT = "kind IN ('change', 'job') AND number IN (SELECT step FROM change WHERE undone = 0)"
_REDOABLE = f"({_IN_EFFECT} OR (kind = 'undo' AND undone = 0))"


class History:
    """What became of the files of a session; iterating gives its steps, the first one first.

    The steps are those of the workspace, or inside `identified(session=...)` those of that
    session, in whatever process they were made; with `everybody` those of all sessions.
    """

    def __init__(
        self, root: Path, policy: Policy, session: Session, *, durable: bool, home: str = ""
    ) -> None:
        """Does no IO. home: see `state_folder`."""
        self.store = HistoryStore(root, home)
        self.recorder = Journal(self.store, session)
        self.commands = Snapshots(self.store, policy, session.id)
        self._session, self._files = session, LocalFiles(root, policy, durable=durable)
        self._reverting = Reverting(self.store, self._files, session)

    def __iter__(self) -> Iterator[StepChange]:
        return iter(self.steps())

    @cached_property
    def kept(self) -> bool:
        """Whether there is a place for it; `logging` is told where there is none."""
        try:
            self.store.rows("SELECT 1")
        except (OSError, NotConfigured) as error:
            logging.getLogger("fsagent_tools").warning("No history is kept: %s", error)
            return False
        return True

    def close(self) -> None:
        self._files.close()
        self.store.close()
        self.commands.forget()

    def steps(self, *, everybody: bool = False) -> list[StepChange]:
        """The steps, in the order of time."""
        found = self._steps("1", everybody=everybody)
        return [step_change(self.store, step, self._visible([step])) for step in found]

    def of_call(self, identifier: str) -> Iterator[tuple[str, str]]:
        """Paths and diffs of what a call changed just now; of large ones only that it changed."""
        where = "call = ? AND session = ?"
        for change in self._visible(self.store.steps(where, identifier, self._session.id)):
            sides = [one.hash for one in (change.before, change.after) if one]
            size = max(len(self.store.content(digest) or b"") for digest in sides)
            large = f"changed {change.path} ({size:,} bytes)"
            yield change.path, large if size > LARGEST_SHOWN else diff_of(self.store, change)

    def lost(self) -> tuple[str, ...]:
        """The paths that the call in progress changed and no undo restores."""
        where = "id = ? AND session = ?"
        steps = self.store.steps(where, call.current.get().step, self._session.id)
        return not_kept(self._visible(steps))

    def checkpoint(self, name: str = "") -> str:
        """See `Workspace.checkpoint`."""
        with call.changed(step=(step := call.new_step())):
            try:
                self.store.record(self._session.id, [], "checkpoint", name)
            except OSError as error:
                raise _no_room(error) from error
        return step

    def diff(self, since: str = "", *, everybody: bool = False) -> str:
        """See `Workspace.diff`. Of the paths that the session changed, as they are now."""
        steps = self._since(since, everybody) if since else self._steps("1", everybody=everybody)
        first = dict[str, RecordedChange]()
        for change in self._visible(steps):
            first.setdefault(change.path, change)
        changes = (one._replace(after=self._reverting.present(one.path)) for one in first.values())
        found = (diff_of(self.store, one) for one in changes if one.before != one.after)
        return "\n".join(filter(None, found))

    def undo(
        self,
        steps: int = 1,
        *,
        to: str | None = None,
        paths: Iterable[str] | None = None,
        dry_run: bool = False,
        everybody: bool = False,
    ) -> TakenBack:
        """See `Workspace.undo`."""
        if not isinstance(steps, int):
            raise InvalidArguments(f"steps is a number, not {steps!r}.")
        given = [] if paths is None else [*paths]
        if isinstance(paths, str) or not all(isinstance(path, str) for path in given):
            raise InvalidArguments(f"paths is several paths, not {paths!r}.")
        tops = None if paths is None else [*map(self._from_root, given)]
        if to is not None:
            found, most, in_effect = self._since(to, everybody), 1 << 62, "1"
        else:
            found, most = self._steps(_IN_EFFECT, everybody=everybody), max(steps, 0)
            in_effect = "undone = 0"
        chosen, changes = list[Step](), list[RecordedChange]()
        for step in reversed(found):
            some = [c for c in self._changes([step], in_effect) if _is_beneath(c.path, tops)]
            if some and len(chosen) < most:
                chosen, changes = [step, *chosen], [*some, *changes]
        if to is None and not chosen:
            where = f" that changed {', '.join(given)}" if given else ""
            hint = "`fsagent log` lists the steps of all sessions."
            raise Missing(f"There is no step{where} to undo.", hint=hint)
        jobs = {step.number for step in chosen if step.kind == "job"} if tops is None else set()
        return self._run("undo", chosen, changes, jobs, dry_run=dry_run)

    def redo(self, *, dry_run: bool = False, everybody: bool = False) -> TakenBack:
        """See `Workspace.redo`."""
        last = self._steps(_REDOABLE, everybody=everybody)[-1:]
        if [step.kind for step in last] != ["undo"]:
            raise Missing("There is no undo to revert, or something was changed since.")
        return self._run("redo", last, self._changes(last), set(), dry_run=dry_run)

    def put_back(self, step: str) -> list[str]:
        """Undo what a step has done so far, as if it had not begun; the paths that stay."""
        changes = self._changes(self.store.steps("id = ? AND session = ?", step, self._session.id))
        with call.changed(step=call.new_step(), cancelled=call.CancelFlag()):
            undo, done = self._reverting.run("undo", self._reverting.plans(changes))
        if not (stays := [one.path for one in done if one.problem]):
            changes += self.store.changes("step = ?", undo)
            self.store.forget(change.number for change in changes)
        return stays

    def _run(
        self,
        kind: str,
        steps: list[Step],
        changes: list[RecordedChange],
        jobs: set[int],
        *,
        dry_run: bool,
    ) -> TakenBack:
        """jobs: steps whose changes stay, as others may have made them."""
        plans = self._reverting.plans(changes, jobs)
        ids, current = tuple(step.id for step in reversed(steps)), call.current.get()
        if dry_run and plans:
            return self._result(ids, plans)
        if _nothing_done(plans):
            raise self._refusal(plans)
        if not plans:  # all is as it was before
            return self._mark(kind, _NO_STEP, steps, changes) if not dry_run else TakenBack((), ())
        if current.watch:
            facts = tuple((one.path, one.present, one.target) for one in plans)
            diff = self._result(ids, plans).diff
            current.watch(
                call.PendingChange(kind, tuple(f[0] for f in facts), state=facts, told=diff)
            )
        with call.changed(step=current.step or call.new_step()):
            try:
                number, done = self._reverting.run(kind, plans)
                if _nothing_done(done):
                    raise self._refusal(done)
                left = {one.path for one in done if one.problem}
                dealt_with = [c for c in changes if c.step not in jobs or c.path not in left]
                self._mark(kind, number, steps, dealt_with)
            except OSError as error:
                raise _no_room(error) from error
        return self._result(ids, done)

    def _overtaken(self, changes: Iterable[RecordedChange]) -> Iterator[RecordedChange]:
        """What others wrote between two writes of a command, and went back with these."""
        inner = "path = ? AND number < ? AND at >= ? AND undone = 0"
        for one in changes:
            state, own = one.before, (os.fsencode(one.path), one.number, one.began)
            for change in reversed(self.store.changes(inner, *own) if one.began < one.at else ()):
                if change.after == state:  # the command went on from there
                    state = change.before
                else:
                    yield change

    def _mark(
        self, kind: str, number: int, steps: list[Step], changes: list[RecordedChange]
    ) -> TakenBack:
        """Note what is undone, last: an undo that was killed is begun again."""
        with self.store.writing() as database:
            for undo in (step.number for step in steps if step.kind == "undo"):
                database.execute("UPDATE step SET undone = 1 WHERE number = ?", (undo,))
                database.execute("UPDATE change SET undone = 0 WHERE undone = ?", (undo,))
            undone = [*changes, *self._overtaken(changes)] if kind == "undo" else ()
            for change in undone:
                query = "UPDATE change SET undone = ? WHERE number = ?"
                database.execute(query, (number, change.number))
        return TakenBack((), ())

    def _result(self, steps: tuple[str, ...], plans: Sequence[PathPlan]) -> TakenBack:
        done = [one for one in plans if not one.problem]
        left = (Unrestored(p.path, p.problem, self._diff([p])) for p in plans if p.problem)
        paths = tuple(one.path for one in done)
        return TakenBack(steps, paths, tuple(left), partial(self._diff, done))

    def _diff(self, plans: Iterable[PathPlan]) -> str:
        """From what is there now to what was there before."""
        changes = [RecordedChange(one.path, one.present, one.target) for one in plans]
        shown = (one for one in changes if not self._reverting.closed(one.path, Effect.READ))
        return "\n".join(filter(None, (diff_of(self.store, one) for one in shown)))

    def _refusal(self, plans: list[PathPlan]) -> Conflict:
        left = self._result((), plans).left
        lines = [f"{one.path}: {one.reason}." for one in left[:_NAMED]]
        lines[0] += "\n" + first_lines(left[0].diff, _LINES, _WIDTH, "; `conflicts` has all")
        if more := len(left) - len(lines):
            lines.append(f"({more:,} more files; `conflicts` has all)")
        said = "Nothing was undone. The diff shows what undo would have changed."
        return Conflict(
            "\n".join([said, *lines, ""]),
            hint="Restore these files by hand, or undo an earlier step with `steps`.",
            details={"conflicts": [vars(one) for one in left]},
        )

    def _visible(self, steps: Iterable[Step]) -> list[RecordedChange]:
        """Their changes, without what the policy closes."""
        closed = self._reverting.closed
        return [one for one in self._changes(steps) if not closed(one.path, Effect.READ)]

    def _changes(self, steps: Iterable[Step], also: str = "1") -> list[RecordedChange]:
        numbers = ", ".join(str(step.number) for step in steps)
        return self.store.changes(f"step IN ({numbers}) AND {also}")

    def _steps(self, where: str, *values: object, everybody: bool) -> list[Step]:
        """Those that count for the caller."""
        if everybody:
            return self.store.steps(where, *values)
        if thread := call.current.get().ids.get("session"):
            return self.store.steps(f"{where} AND thread = ?", *values, thread)
        return self.store.steps(f"{where} AND session = ?", *values, self._session.id)

    def _since(self, name: str, everybody: bool) -> list[Step]:
        """The steps after a checkpoint or step, and those of the session that made it."""
        is_mark = "(id = ? OR (kind = 'checkpoint' AND name = ?))"
        found = self._steps(is_mark, name, name, everybody=everybody)  # others have such names, too
        if not (found := found or self.store.steps(is_mark, name, name)):
            newest = ", ".join(s.id for s in self._steps("1", everybody=everybody)[-3:][::-1])
            raise Missing(
                f"There is no checkpoint or step {name!r} in the history.",
                hint=f"It may be older than what is kept. The newest are: {newest or 'none'}.",
            )
        mark = found[-1]
        own = {*self._steps("number > ?", mark.number, everybody=everybody)}
        own |= {*self.store.steps("session = ? AND thread = ?", mark.session, mark.thread)}
        return [step for step in self.store.steps("number > ?", mark.number) if step in own]

    def _from_root(self, path: str) -> str:
        """As the store has it."""
        for top in (self.store.given, self.store.root):
            if os.path.isabs(path) and Path(path).is_relative_to(top):
                path = str(Path(path).relative_to(top))
        plain = os.path.normpath(path)
        if os.path.isabs(plain) or plain.partition("/")[0] == "..":
            raise outside(path)
        return plain


def _nothing_done(plans: Sequence[PathPlan]) -> bool:
    """Whether all of it stays, some of it only for now."""
    return all(one.problem for one in plans) and not all(one.is_final for one in plans)


def _is_beneath(path: str, tops: list[str] | None) -> bool:
    return tops is None or any(top in (".", path) or path.startswith(f"{top}/") for top in tops)


def _no_room(error: OSError) -> WriteFailed:
    return WriteFailed(
        f"The history could not be written ({error.strerror}), so nothing was changed.",
        hint=f"Make room in {error.filename}.",
    )
