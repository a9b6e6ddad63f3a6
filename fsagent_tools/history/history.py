"""The history of one session: what changed, and the way back."""

import errno
import os
from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from pathlib import Path

from fsagent_tools import call
from fsagent_tools.effects import Effect
from fsagent_tools.errors import Conflict, InvalidArguments, Missing, NotConfigured, WriteFailed
from fsagent_tools.files.keeping import NotKept
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.files.refusals import outside
from fsagent_tools.history.diffs import diff_of, step_change
from fsagent_tools.history.journal import Journal
from fsagent_tools.history.reverting import Plan, Reverting
from fsagent_tools.history.snapshots import Snapshots
from fsagent_tools.history.store import Change, Step, Store
from fsagent_tools.policy import Policy
from fsagent_tools.replies import StepChange, TakenBack, Unrestored
from fsagent_tools.session.memory import Session
from fsagent_tools.text import first_lines

_NO_STEP = -1  # what undid a change that somebody else had undone
LARGEST_SHOWN = 1 << 20  # bytes of a diff that is logged with a command
_NAMED, _LINES, _WIDTH = 20, 20, 160  # paths that a refusal names, and of the first diff
_IN_EFFECT = "kind IN ('change', 'job') AND number IN (SELECT step FROM change WHERE undone = 0)"


class History:
    """What became of the files of a session; iterating gives its steps, the first one first.

    The steps are those of the workspace, or inside `identified(session=...)` those of that
    session, in whatever process they were made.
    """

    def __init__(
        self, root: Path, policy: Policy, session: Session, *, durable: bool, home: str = ""
    ) -> None:
        """Does no IO. home: see `state_folder`."""
        self.store = Store(root, home)
        self.recorder = Journal(self.store, session)
        self.commands = Snapshots(self.store, policy, session.id)
        self._session = session
        self._files = LocalFiles(root, policy, durable=durable)
        self._reverting = Reverting(self.store, self._files, session)

    def __iter__(self) -> Iterator[StepChange]:
        return iter(self.steps())

    @cached_property
    def kept(self) -> bool:
        """Whether there is a place for it; `logging` is told where there is none."""
        try:
            self.store.open()
            return True
        except (OSError, NotConfigured) as error:
            import logging  # needed for nothing else

            logging.getLogger("fsagent_tools").warning("No history is kept: %s", error)
            return False

    def close(self) -> None:
        self._files.close()
        self.store.close()
        self.commands.forget()

    # Steps

    def steps(self, *, everybody: bool = False) -> list[StepChange]:
        """The steps; everybody: those of every session on these files."""
        return [
            step_change(self.store, step, self._visible([step]))
            for step in self._steps("1", everybody=everybody)
        ]

    def of_call(self, identifier: str) -> Iterator[tuple[str, str]]:
        """Paths and diffs of what a call changed just now; of large ones only that it changed."""
        where = "call = ? AND session = ?"
        for change in self._visible(self.store.steps(where, identifier, self._session.id)):
            diff = diff_of(self.store, change)
            yield change.path, diff if len(diff) <= LARGEST_SHOWN else f"changed {change.path}"

    def checkpoint(self, name: str = "") -> str:
        """Remember how the files are now; returns the checkpoint's ID, for `undo(to=...)`."""
        with call.changed(step=(step := call.new_step())):
            try:
                self.store.record(self._session.id, [], "checkpoint", name)
            except OSError as error:
                raise _no_room(error) from error
        return step

    def diff(self, since: str = "", *, everybody: bool = False) -> str:
        """What changed since a checkpoint or step, default since the first step, as unified diffs.

        Of the paths that the session changed, as they are now; everybody: that any session did.
        Raises `Missing`.
        """
        steps = self._since(since, everybody) if since else self._steps("1", everybody=everybody)
        plans = self._reverting.plans(self._visible(steps), lambda _: "")
        found = (diff_of(self.store, Change(one.path, one.target, one.present)) for one in plans)
        return "\n".join(filter(None, found))

    def _visible(self, steps: Iterable[Step]) -> list[Change]:
        """Their changes, without what the policy closes."""
        every = self._changes(steps)
        return [one for one in every if not self._reverting.closed(one.path, Effect.READ)]

    def _changes(self, steps: Iterable[Step], also: str = "1") -> list[Change]:
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
        found = self.store.steps("id = ?", name) or self.store.steps(
            "kind = 'checkpoint' AND name = ?", name
        )
        if not found:
            newest = ", ".join(s.id for s in self._steps("1", everybody=everybody)[-3:][::-1])
            raise Missing(
                f"There is no checkpoint or step {name!r} in the history.",
                hint=f"It may be older than what is kept. The newest are: {newest or 'none'}.",
            )
        mark = found[-1]
        own = {s.number for s in self._steps("number > ?", mark.number, everybody=everybody)}
        return [
            step
            for step in self.store.steps("number > ?", mark.number)
            if step.number in own or (step.session, step.thread) == (mark.session, mark.thread)
        ]

    # The way back

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
            chosen = self._since(to, everybody)
            changes = [one for one in self._changes(chosen) if _is_beneath(one.path, tops)]
        else:
            chosen, changes = self._last(steps, tops, everybody)
            if not changes:
                where = f" that changed {', '.join(given)}" if tops else ""
                hint = "`fsagent log` lists the steps of all sessions."
                raise Missing(f"There is no step{where} to undo.", hint=hint)
        jobs = {step.number for step in chosen if step.kind == "job"} if tops is None else set()
        plans = self._reverting.plans(changes, partial(_of_job, jobs))
        return self._run("undo", chosen, changes, plans, dry_run=dry_run)

    def _last(
        self, steps: int, tops: list[str] | None, everybody: bool
    ) -> tuple[list[Step], list[Change]]:
        """The last steps in effect that changed something there, and what they changed there."""
        chosen, changes = list[Step](), list[Change]()
        for step in reversed(self._steps(_IN_EFFECT, everybody=everybody)):
            if len(chosen) >= steps:
                break
            found = self._changes([step], "undone = 0")
            if there := [one for one in found if _is_beneath(one.path, tops)]:
                chosen, changes = [step, *chosen], [*there, *changes]
        return chosen, changes

    def redo(self, *, dry_run: bool = False, everybody: bool = False) -> TakenBack:
        """See `Workspace.redo`."""
        where = f"({_IN_EFFECT}) OR (kind = 'undo' AND undone = 0)"
        found = self._steps(f"({where})", everybody=everybody)
        if not found or found[-1].kind != "undo":
            raise Missing("There is no undo to revert, or something was changed since.")
        changes = self._changes(found[-1:])
        plans = self._reverting.plans(changes, lambda _: "")
        return self._run("redo", found[-1:], changes, plans, dry_run=dry_run)

    def put_back(self, step: str) -> list[str]:
        """Undo what a step has done so far, as if it had not begun; the paths that stay."""
        steps = self.store.steps("id = ? AND session = ?", step, self._session.id)
        plans = self._reverting.plans(self._changes(steps), lambda _: "")
        with call.changed(step=call.new_step(), cancelled=call.CancelFlag()):
            undo, done = self._reverting.run("undo", plans)
        if not (stays := [one.path for one in done if one.problem]):
            self.store.forget(
                c.number for c in self._changes([*steps, *self.store.steps("number = ?", undo)])
            )
        return stays

    def _run(
        self,
        kind: str,
        steps: list[Step],
        changes: list[Change],
        plans: list[Plan],
        *,
        dry_run: bool,
    ) -> TakenBack:
        diff = partial(self._diff_of, [one for one in plans if not one.problem])
        ids = tuple(step.id for step in reversed(steps))
        if not plans:  # all is as it was before
            if not dry_run:
                self._mark(kind, _NO_STEP, steps, changes, plans)
            return TakenBack((), ())
        if dry_run:
            return TakenBack(ids, *self._outcome(plans), diff)
        if _nothing_done(plans):
            raise self._refusal(plans)
        current = call.current.get()
        if current.watch:
            facts = tuple((one.path, one.present, one.target) for one in plans)
            paths = tuple(one.path for one in plans)
            current.watch(call.PendingChange(kind, paths, state=facts, told=diff()))
        with call.changed(step=current.step or call.new_step()):
            try:
                number, done = self._reverting.run(kind, plans)
                self._mark(kind, number, steps, changes, done)
            except OSError as error:
                raise _no_room(error) from error
        if _nothing_done(done):
            raise self._refusal(done)
        return TakenBack(ids, *self._outcome(done), diff)

    def _mark(
        self, kind: str, number: int, steps: list[Step], changes: list[Change], done: list[Plan]
    ) -> None:
        """Note which changes are undone, last: an undo that was killed is begun again."""
        jobs = {step.number for step in steps if step.kind == "job"}
        left = {one.path for one in done if one.problem}
        all_left = _nothing_done(done)
        undone = [
            one for one in changes if not all_left and not (one.path in left and one.step in jobs)
        ]
        undos = [step.number for step in steps if step.kind == "undo"]
        with self.store.writing() as database:
            for undo in undos if not all_left else []:
                database.execute("UPDATE step SET undone = 1 WHERE number = ?", (undo,))
                database.execute("UPDATE change SET undone = 0 WHERE undone = ?", (undo,))
            if kind == "undo":
                each = [(number, one.number) for one in undone]
                database.executemany("UPDATE change SET undone = ? WHERE number = ?", each)

    def _outcome(self, plans: list[Plan]) -> tuple[tuple[str, ...], tuple[Unrestored, ...]]:
        done = tuple(one.path for one in plans if not one.problem)
        left = (one for one in plans if one.problem)
        return done, tuple(Unrestored(one.path, one.problem, self._diff_of([one])) for one in left)

    def _diff_of(self, plans: Iterable[Plan]) -> str:
        """From what is there now to what was there before."""
        shown = (one for one in plans if not self._reverting.closed(one.path, Effect.READ))
        found = (diff_of(self.store, Change(one.path, one.present, one.target)) for one in shown)
        return "\n".join(filter(None, found))

    def _refusal(self, plans: list[Plan]) -> Conflict:
        left = self._outcome(plans)[1]
        lines = [f"{one.path}: {one.reason}." for one in left[:_NAMED]]
        lines[0] += "\n" + first_lines(left[0].diff, _LINES, _WIDTH, "; `conflicts` has all")
        if more := len(left) - len(lines):
            lines.append(f"({more:,} more files; `conflicts` has all)")
        return Conflict(
            "\n".join(
                ["Nothing was undone. The diff shows what undo would have changed.", *lines, ""]
            ),
            hint="Restore these files by hand, or undo an earlier step with `steps`.",
            details={"conflicts": [vars(one) for one in left]},
        )

    def _from_root(self, path: str) -> str:
        """As the store has it."""
        for top in (self.store.given, self.store.root):
            if os.path.isabs(path) and Path(path).is_relative_to(top):
                path = str(Path(path).relative_to(top))
        plain = os.path.normpath(path)
        if os.path.isabs(plain) or plain.partition("/")[0] == "..":
            raise outside(path)
        return plain


def _nothing_done(plans: list[Plan]) -> bool:
    """Whether all of it stays, some of it only for now."""
    return all(one.problem for one in plans) and not all(one.is_final for one in plans)


def _of_job(jobs: set[int], change: Change) -> str:
    return "it changed while a job ran, maybe by others; name it in `paths`" * (change.step in jobs)


def _is_beneath(path: str, tops: list[str] | None) -> bool:
    return tops is None or any(top in (".", path) or path.startswith(f"{top}/") for top in tops)


def _no_room(error: OSError) -> WriteFailed:
    reason = (
        os.strerror(error.errno or errno.EIO) if not isinstance(error, NotKept) else error.strerror
    )
    return WriteFailed(
        f"The history could not be written ({reason}), so nothing was changed.",
        hint=f"Make room in {error.filename}.",
    )
