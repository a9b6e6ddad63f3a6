"""The history of one session: what changed, and the way back."""

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from fsagent_tools import call
from fsagent_tools.effects import Effect
from fsagent_tools.errors import InvalidArguments, Missing, NotConfigured, WriteFailed
from fsagent_tools.files.errors import outside
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.history.archive import Archive
from fsagent_tools.history.commands import CommandWatch
from fsagent_tools.history.contents import Contents
from fsagent_tools.history.diffs import diff_of, diff_of_change, step_changes
from fsagent_tools.history.live import Disk
from fsagent_tools.history.recorder import JournalWriter
from fsagent_tools.history.states import JournalLine
from fsagent_tools.history.timeline import Step, Timeline, Transition, steps_of
from fsagent_tools.history.transactions import Transactions
from fsagent_tools.history.undo import Undo
from fsagent_tools.policy import Policy
from fsagent_tools.replies import StepChange, TakenBack
from fsagent_tools.runtime.forked import owned
from fsagent_tools.runtime.once import once
from fsagent_tools.session.memory import Session

LARGEST_SHOWN = 1 << 20  # bytes of a file whose diff is told of a command


class HistoryView:
    """One look: all steps, and those that count for the caller. counts: whether one does."""

    def __init__(self, archive: Archive, disk: Disk, counts: Callable[[Step], bool]) -> None:
        self._disk, self._counts = disk, counts
        lines = archive.lines()
        self._all = steps_of(lines)
        self.timeline = Timeline(step for step in self._all if counts(step))
        self.contents = Contents(archive, lines, disk)

    def mark(self, name: str) -> Step:
        """The checkpoint or step with that ID, of whatever session. Raises `Missing`."""
        found = next((step for step in reversed(self._all) if step.id == name), None)
        if found is None:
            newest = ", ".join(step.id for step in self.timeline.steps[-3:][::-1])
            raise Missing(
                f"There is no checkpoint or step {name!r} in the history.",
                hint=f"It may be older than what is kept. The newest are: {newest or 'none'}.",
            )
        return found

    def since(self, mark: Step) -> list[Step]:
        """The caller's steps after `mark`, and those of the session that made it."""

        def counts(step: Step) -> bool:
            same = step.thread == mark.thread if mark.thread else step.session == mark.session
            return step.at > mark.at and (same or self._counts(step))

        return [step for step in self._all if counts(step)]

    def visible(self, step: Step) -> Step:
        """The step without what the policy closes."""
        seen = [one for one in step.changes if not self._disk.closed(one.path, Effect.READ)]
        return replace(step, changes=tuple(seen))


class History:
    """What became of the files of a session; iterating gives its steps, the first one first.

    The steps are those of the workspace, or inside `identified(session=...)` those of that
    session, in whatever process they were made.
    """

    def __init__(
        self, root: Path, policy: Policy, session: Session, *, durable: bool, home: str = ""
    ) -> None:
        """Does no IO. home: see `state_folder`."""
        self.archive = Archive(root, home)
        self.recorder = recorder = JournalWriter(self.archive, session)
        self._session = session
        self._files = LocalFiles(root, policy, durable=durable, recording=lambda: recorder)
        owned(self)

    def disown(self) -> None:
        """In a forked process: what commands change is found anew."""
        vars(self).pop("commands", None)

    def __iter__(self) -> Iterator[StepChange]:
        return iter(self.steps())

    @once
    def commands(self) -> CommandWatch:
        """Finds what commands change."""
        return CommandWatch(Path(os.path.realpath(self.archive.root)), self._files, self.recorder)

    @cached_property
    def kept(self) -> bool:
        """Whether there is a place for it; `logging` is told where there is none."""
        try:
            self.archive.begin()
            return True
        except (OSError, NotConfigured) as error:
            import logging  # needed for nothing else

            logging.getLogger("fsagent_tools").warning("No history is kept: %s", error)
            return False

    def steps(self, *, everybody: bool = False) -> list[StepChange]:
        """The steps; everybody: those of every session on these files."""
        view = self._view(everybody=everybody)
        in_effect = {step.id for step in view.timeline.last(len(view.timeline.steps))}
        return list(step_changes(map(view.visible, view.timeline.steps), view.contents, in_effect))

    def of_call(self, call: str) -> Iterator[tuple[str, str]]:
        """Paths and diffs of what a call changed just now; of large files only that they changed.

        Only the journal that is being written is looked through.
        """
        disk = Disk(self._files)
        ours = {"call": call, "session": self._session.id}
        lines = [line for line in self.archive.latest() if ours.items() <= line.items()]
        contents = Contents(self.archive, lines, disk)
        for change in (change for step in steps_of(lines) for change in step.changes):
            size = max(change.before.identity[2], change.after.identity[2])
            if disk.closed(change.path, Effect.READ):
                continue
            large = f"{change.verb} {change.path} ({size:,} bytes)" if size > LARGEST_SHOWN else ""
            yield change.path, large or diff_of_change(change, contents)

    def checkpoint(self, name: str = "") -> str:
        """Remember how the files are now; returns the checkpoint's id, for `undo(to=...)`."""
        with call.changed(step=(step := call.new_step())):
            try:
                self.recorder.append([{"checkpoint": name}])
            except OSError as error:
                reason = os.strerror(error.errno or errno.EIO)
                raise WriteFailed(
                    f"The checkpoint could not be kept ({reason}).",
                    hint=f"Make room in {error.filename or self.archive.folder}.",
                ) from error
        return step

    def checkpoints(self, name: str = "") -> list[StepChange]:
        """Those of every session whose name begins so, the first one first."""
        return self._marks(self.archive.lines(_json(checkpoint=name)[:-1]))

    def _marks(self, lines: list[JournalLine]) -> list[StepChange]:
        steps = [step for step in steps_of(lines) if step.kind == "checkpoint"]
        contents = Contents(self.archive, lines, Disk(self._files))
        return list(step_changes(steps, contents, set()))

    def diff(self, since: str = "", *, everybody: bool = False) -> str:
        """What changed since a checkpoint or step, default since the first step, as unified diffs.

        Of the paths that the session changed, as they are now; everybody: that any session did.
        Raises `Missing`.
        """
        view = self._view(everybody=everybody)
        steps = view.since(view.mark(since)) if since else view.timeline.steps
        first: dict[str, Transition] = {}
        for change in (change for step in steps for change in view.visible(step).changes):
            first.setdefault(change.path, change)
        return "\n".join(filter(None, (_since(one, view.contents) for one in first.values())))

    def undo(
        self,
        steps: int = 1,
        *,
        to: str | None = None,
        paths: Iterable[str] | None = None,
        dry_run: bool = False,
        everybody: bool = False,
    ) -> TakenBack:
        """Take back the last `steps`, or all since the checkpoint or step `to`.

        paths: of these files and directories only, from the root or absolute. dry_run: only say
        what would happen. everybody: steps of every session count. Where a file changed since, the
        lines that the session changed are put back among the others' if no line is in doubt. Where
        nothing was changed since `to`, nothing is taken back, and no step is made. Raises
        `Conflict`, nothing then changed, for lines in doubt; `Missing` where there are no steps, or
        no `to`; `OutsideWorkspace` for a path that is not beneath the root.
        """
        if not isinstance(steps, int):
            raise InvalidArguments(f"steps is a number, not {steps!r}.")
        given = [] if paths is None else [*paths]
        if isinstance(paths, str) or not all(isinstance(path, str) for path in given):
            raise InvalidArguments(f"paths is several paths, not {paths!r}.")
        beneath = None if paths is None else [*map(self._from_root, given)]
        if "commands" in vars(self):
            self.commands.catch_up()
        view = self._view(everybody=everybody)
        about: dict[str, object]
        if to is not None:
            mark = view.mark(to)
            wanted, about = view.since(mark), {"to": mark.at}
        else:
            wanted = view.timeline.last(max(steps, 0))[::-1]
            about = {"of": [step.id for step in wanted]}
        if to is None and not wanted:
            raise Missing("There is nothing to take back.")
        if not any(step.changes or step.lost for step in wanted):
            return TakenBack((), ())
        return self._undo.run("undo", about, wanted, paths=beneath, dry_run=dry_run)

    def _from_root(self, path: str) -> str:
        """As the journal has it."""
        for top in (self.archive.root.absolute(), os.path.realpath(self.archive.root)):
            if os.path.isabs(path) and Path(path).is_relative_to(top):
                path = str(Path(path).relative_to(top))
        plain = os.path.normpath(path)
        if os.path.isabs(plain) or plain.partition("/")[0] == "..":
            raise outside(path)
        return plain

    def redo(self, *, dry_run: bool = False, everybody: bool = False) -> TakenBack:
        """Take back the last undo, if nothing was changed after it; several, one after the other.

        Raises as `undo` does.
        """
        view = self._view(everybody=everybody)
        last = view.timeline.undone
        if last is None:
            raise Missing("There is no undo to take back.")
        return self._undo.run("redo", {"of": last.id}, [last], dry_run=dry_run)

    @property
    def transactions(self) -> Transactions:
        """Changes that all happen or none."""
        return Transactions(self.recorder, self._session, self._undo)

    @property
    def _undo(self) -> Undo:
        return Undo(self._files, self.recorder, self._session, self._contents, self._diff_of)

    def _contents(self) -> Contents:
        return Contents(self.archive, self.archive.lines(), Disk(self._files))

    def _view(self, *, everybody: bool) -> HistoryView:
        return HistoryView(
            self.archive, Disk(self._files), (lambda _: True) if everybody else self._own
        )

    def _diff_of(self, step: str) -> str:
        view = self._view(everybody=True)
        found = [view.visible(one) for one in view.timeline.steps if one.id == step]
        return "\n".join(one.diff() for one in step_changes(found, view.contents, set()))

    def _own(self, step: Step) -> bool:
        """Whether the step is of the session in whose name this call runs."""
        if thread := call.current.get().ids.get("session"):
            return step.thread == thread
        return step.session == self._session.id

    def close(self) -> None:
        self._files.close()


def _since(first: Transition, contents: Contents) -> str:
    now = contents.disk.state(first.path)
    unchanged = contents.same(first.before, now)
    return "" if unchanged else diff_of(first.path, first.before, now, contents)


def _json(**field: str) -> bytes:
    """A field as a line of the journal has it."""
    return json.dumps(field, separators=(",", ":"))[1:-1].encode()
