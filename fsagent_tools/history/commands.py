"""What commands change: the tree is looked at before each and after it."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from contextvars import Context, copy_context
from pathlib import Path
from threading import Lock
from typing import Any

from fsagent_tools.effects import Effect
from fsagent_tools.errors import NotConfigured
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.history.blobs import Blobs
from fsagent_tools.history.contents import Contents
from fsagent_tools.history.descent import Descent
from fsagent_tools.history.git.objects import blob_name
from fsagent_tools.history.glances import Glance, Moves
from fsagent_tools.history.known import KnownCopies
from fsagent_tools.history.live import Disk
from fsagent_tools.history.look import GRAIN, Look
from fsagent_tools.history.plan import by_path
from fsagent_tools.history.recorder import JournalWriter
from fsagent_tools.history.states import State
from fsagent_tools.history.timeline import Transition, steps_of

TOO_LARGE = "more files than are watched"
LARGEST_IGNORED = 1 << 20  # bytes of a file that `.gitignore` names and that is kept


class CommandWatch:
    """The commands of one session.

    What changes while one runs is taken for its change, if no journal says otherwise.
    """

    def __init__(self, root: Path, files: LocalFiles, recorder: JournalWriter) -> None:
        self._disk, self._recorder = Disk(files), recorder
        self._look, self._blobs = Look(str(root)), Blobs(root, self._disk)
        self._policy = files.policy
        self._known: KnownCopies | None = None
        self._lock = Lock()
        self._running: list[Context] = []
        self._overflowed = False
        self._lost: tuple[str, ...] = ()  # not told yet

    def before(self) -> Callable[[], tuple[str, ...]]:
        """A command is about to run. Returns what to call after it, see `_after`."""
        context = copy_context()
        with self._lock:
            self._note()
            self._running.append(context)
        return lambda: self._after(context)

    def _after(self, context: Context) -> tuple[str, ...]:
        """Record what changed; paths whose old content is not known, so that no undo has it."""
        with self._lock:
            if context not in self._running:
                return ()
            self._note(context)
            self._running.remove(context)
            lost, self._lost = self._lost, ()
            return (TOO_LARGE,) if self._overflowed else lost

    def catch_up(self) -> None:
        """Record what commands that still run have changed by now."""
        with self._lock:
            if self._running:
                self._note()

    def _note(self, context: Context | None = None) -> None:
        """Record what changed as of the command of `context`, default the last one that runs, and
        keep what is there now.
        """
        if self._overflowed:
            return
        then = self._look
        try:
            self._look = then.again(self._blobs.refresh())
        except OverflowError:
            self._overflowed, self._look = True, Look(then.root)
            return
        moved, gone = then.moves(self._look) if then.folders else (Moves(), [])
        if context or self._running:
            record = (context or self._running[-1]).run
            self._lost += record(self._record, moved, gone, then.began - GRAIN)
        with suppress(OSError, NotConfigured):  # what has no copy is lost once it changes
            self._refresh(moved)

    def _record(self, moved: Moves, gone: list[str], since: int) -> tuple[str, ...]:
        """One step of all that no tool wrote; without room for it, all is lost."""
        changes = [*self._by_commands(moved, since)] if moved else []
        try:
            return self._record_step(changes, gone)
        except (OSError, NotConfigured):
            return (*(path for path, _, _ in changes), *gone)

    def _record_step(
        self, changes: Iterable[tuple[str, Glance, State]], lost: list[str]
    ) -> tuple[str, ...]:
        lines = list[Mapping[str, Any]]()
        moved_to = {after.identity for _, _, after in changes}
        taken = dict[tuple[int, int, int], State]()  # its other names want it, too
        for path, was, after in changes:
            before = was.state
            if self._reads_the_same(path, was, after):  # the same content by another name
                lines.append({"path": path, "new": after.to_json(), "was": before.identity})
                continue
            if before.kind == "file" and before.identity not in moved_to:
                kept = taken.get(before.identity) or self._kept(path, was)
                if kept is None:
                    lost.append(path)
                    continue
                before = taken[before.identity] = kept
            lines.append(self._recorder.line(path, before, after))
        if lost:
            lines.append(self._recorder.lost(lost))
        self._recorder.append(lines)
        return tuple(sorted(lost))

    def _by_commands(self, moved: Moves, since: int) -> Iterable[tuple[str, Glance, State]]:
        lines = self._recorder.archive.lines(since=since)
        by_tools = by_path(change for step in steps_of(lines) for change in step.changes)
        for path, (was, now) in sorted(moved.items()):
            before, after = was.state, now.state
            if before.same(after) or self._disk.closed(path, Effect.READ):
                continue
            if not _lead(by_tools.get(path, ()), before, after):
                yield path, was, after

    def _reads_the_same(self, path: str, was: Glance, now: State) -> bool:
        """Whether only stamps moved."""
        before = was.state
        if not (before.kind == now.kind == "file") or before.mode != now.mode:
            return False
        if before.identity[2] != now.identity[2]:
            return False
        if sha := self._blobs.name(path, was):
            return blob_name(self._disk.read(path)) == sha
        old = Contents(self._recorder.archive, (), self._disk).read(before)
        return old is not None and old == self._disk.read(path)

    def _kept(self, path: str, was: Glance) -> State | None:
        """The state with what says where its content is, None if it is nowhere."""
        if sha := self._blobs.name(path, was):
            return was.state.kept(git=sha)
        return was.state if self._known and self._known.take(was.state.identity) else None

    def _refresh(self, moved: Moves) -> None:
        """Keep what git could not give back, as it is now."""
        known, current = self._copies(), self._look
        first, self._known = known is not self._known, known
        present = {now.state.identity for _, now in moved.values()}
        for was, _ in moved.values():
            if was.state.kind == "file" and was.state.identity not in present:
                known.take(was.state.identity)
        changed = first or any(path.endswith(".gitattributes") for path in moved)
        with closing(Descent(current.root)) as down:
            for path in self._blobs.doubtful(current, down, anew=changed) or moved:
                seen = current.glance(path)
                small = not seen.ignored or seen.state.identity[2] <= LARGEST_IGNORED
                if (
                    seen.state.kind == "file"
                    and small
                    and not self._blobs.name(path, seen, compared=True)
                ):
                    known.keep(path, seen.state.identity, down)
        if first:
            known.sweep(
                (inode, mtime, size)
                for folder in current.folders.values()
                for _, mtime, inode, size, _ in folder.files.values()
            )

    def _copies(self) -> KnownCopies:
        """Made anew if somebody removed all. Raises `OSError`."""
        if self._known and os.path.exists(self._known.folder):
            return self._known
        self._recorder.archive.begin()
        return KnownCopies(self._recorder.archive, self._policy)


def _lead(changes: Iterable[Transition], before: State, now: State) -> bool:
    """Whether these changes made one state the other, with nothing else in between."""
    at = before
    for change in changes:
        if _is_left(at, change.before):
            at = change.after
    return at is not before and _is_left(at, now)


def _is_left(state: State, now: State) -> bool:
    """Whether an entry is as the door left it; when it wrote in place, the time was not noted."""
    if state.kind == now.kind == "file" and not state.identity[1]:
        return (state.identity[0], state.identity[2]) == (now.identity[0], now.identity[2])
    return state.same(now)
