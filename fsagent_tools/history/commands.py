"""What commands change: the tree is looked at before each and after it."""

import time
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import closing, suppress
from contextvars import Context, copy_context
from pathlib import Path
from threading import Lock
from typing import Any

from fsagent_tools.call import current
from fsagent_tools.effects import Effect
from fsagent_tools.errors import NotConfigured
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.history.descent import Descent
from fsagent_tools.history.git.data import LARGEST_OBJECT
from fsagent_tools.history.git.entries import IndexEntry, IndexFolders
from fsagent_tools.history.git.objects import blob_name
from fsagent_tools.history.git.repository import Repository
from fsagent_tools.history.glances import Glance, Moves, Stamps
from fsagent_tools.history.known import KnownCopies
from fsagent_tools.history.live import Disk
from fsagent_tools.history.look import look
from fsagent_tools.history.plan import by_path
from fsagent_tools.history.recorder import JournalWriter
from fsagent_tools.history.rules import WatchRules
from fsagent_tools.history.states import Identity, State
from fsagent_tools.history.timeline import Transition, steps_of
from fsagent_tools.history.tree import GRAIN, WatchedTree, joined

_LOW = 0xFFFFFFFF  # what an index has of inodes and sizes
TOO_LARGE = "more files than are watched"


class CommandWatch:
    """The commands of one session.

    What changes while one runs is taken for its change, if no session's door made it.
    """

    def __init__(self, root: Path, files: LocalFiles, recorder: JournalWriter) -> None:
        self._disk, self._recorder = Disk(files), recorder
        self._tree, self._repository = WatchedTree(str(root)), Repository.of(root)
        self._policy = files.policy
        self._known = KnownCopies(recorder.archive.folder, files.policy)
        self._entries: IndexFolders = {}
        self._equal: set[Identity] = set()  # files that were compared with their blobs
        self._lock = Lock()
        self._running: list[Context] = []
        self._begun = self._overflowed = self._converts = False
        self._written_ns = 0
        self._looked_ns = self._looked_before_ns = 0  # the last look, and the one before it
        self._lost: tuple[str, ...] = ()  # not told yet

    def before(self) -> Callable[[], tuple[str, ...]]:
        """A command is about to run. Returns what to call after it, see `_after`."""
        context = copy_context()
        with self._lock:
            if not self._running:
                self._recorder.written = {}  # from the look on, and not from after it
            if not self._overflowed:
                if self._known.gone:
                    self._make_again()
                self._note(self._look())
            self._running.append(context)
        return lambda: self._after(context)

    def _after(self, context: Context) -> tuple[str, ...]:
        """Record what changed; paths whose old content is not known, so that no undo has it."""
        with self._lock:
            if context not in self._running:
                return ()
            if not self._overflowed:
                self._note(self._look(), context)
            self._running.remove(context)
            if not self._running:
                self._recorder.written = None
            lost, self._lost = self._lost, ()
            return (TOO_LARGE,) if self._overflowed else lost

    def catch_up(self) -> None:
        """Record what commands that still run have changed by now."""
        with self._lock:
            if self._running and not self._overflowed:
                written = self._recorder.written or {}
                before = dict(written)
                self._note(self._look())
                for path, state in before.items():  # and not what was written meanwhile
                    if written.get(path) is state:
                        del written[path]

    def _note(self, moved: Moves, context: Context | None = None) -> None:
        """Record it as of the command of `context`, default the last one that runs, and keep what
        is there now.
        """
        if context or self._running:
            self._lost += (context or self._running[-1]).run(self._record, moved)
        with suppress(OSError):  # what has no copy is lost once it changes, and told then
            self._refresh(moved)

    def _make_again(self) -> None:
        """Somebody removed the history with all copies."""
        with suppress(OSError, NotConfigured):
            _ = self._recorder.part  # makes its place
            self._known = KnownCopies(self._recorder.archive.folder, self._policy)
            self._begun = False

    def _look(self) -> Moves:
        if self._repository and self._repository.refresh():
            rules = WatchRules.tracking(self._repository.entries)
            if self._tree.rules != rules:
                self._tree.rules = rules
        self._looked_before_ns, self._looked_ns = self._looked_ns, time.time_ns() - GRAIN
        try:
            return look(self._tree)
        except OverflowError:
            self._overflowed, self._tree = True, WatchedTree(self._tree.root)
            return {}

    def _record(self, moved: Moves) -> tuple[str, ...]:
        """One step of all that no session's door wrote; without room for it, all is lost."""
        changes = list(self._by_commands(moved))
        try:
            return self._record_step(changes, {was.state.identity for was, _ in moved.values()})
        except (OSError, NotConfigured):
            return tuple(path for path, _, _ in changes)

    def _record_step(
        self, changes: Iterable[tuple[str, Glance, State]], known: Set[Identity]
    ) -> tuple[str, ...]:
        lines, lost = list[Mapping[str, Any]](), list[str]()
        sources = dict[Identity, Mapping[str, str]]()
        for path, was, after in changes:
            before = was.state
            if self._reads_the_same(path, was, after):  # the same content by another name
                lines.append({"path": path, "new": after.to_json(), "was": before.identity})
                continue
            if before.kind == "file" and before.identity != after.identity:
                source = sources.get(before.identity) or self._source(path, was)
                if not source:
                    lost.append(path)
                    continue
                sources[before.identity] = source  # its other names want it, too
                before = before.kept(**source)
            older = after.identity not in known and self._is_older(before, after)
            lines.append(self._recorder.line(path, before, after) | ({"older": 1} if older else {}))
        if lost:
            lines.append({"lost": lost, "tool": current.get().tool})
        if lines:
            self._recorder.append(lines)
        return tuple(lost)

    def _by_commands(self, moved: Moves) -> Iterable[tuple[str, Glance, State]]:
        theirs = self._theirs() if moved else {}
        for path, (was, now) in sorted(moved.items()):
            before, after = was.state, now.state
            if self._disk.closed(path, Effect.READ) or before.same(after):
                continue
            if not self._is_ours(path, after) and not _lead(theirs.get(path, ()), before, after):
                yield path, was, after

    def _is_older(self, before: State, after: State) -> bool:
        """Whether what came since the look before this one is a file that is older than that."""
        came = not before.kind and after.kind == "file"
        return came and after.identity[1] < self._looked_before_ns

    def _is_ours(self, path: str, now: State) -> bool:
        mine = (self._recorder.written or {}).get(path)
        return mine is not None and _is_left(mine, now)

    def _theirs(self) -> Mapping[str, list[Transition]]:
        """What other sessions noted of each path since the look before this one."""
        lines = self._recorder.archive.since(self._looked_before_ns)
        others = [line for line in lines if line.get("session") != self._recorder.session]
        return by_path(change for step in steps_of(others) for change in step.changes)

    def _reads_the_same(self, path: str, was: Glance, now: State) -> bool:
        """Whether only stamps moved."""
        before = was.state
        if not (before.kind == now.kind == "file") or before.mode != now.mode:
            return False
        if before.identity[2] != now.identity[2]:
            return False
        old = self._known.read(before)
        if old is None and (sha := self._blob_of(path, was)) and self._repository:
            old = self._repository.blob(sha)
        return old is not None and old == self._disk.read(path)

    def _source(self, path: str, was: Glance) -> Mapping[str, str]:
        """Where the content is, empty if it is nowhere."""
        if sha := self._blob_of(path, was):
            return {"git": sha}
        part = self._recorder.part
        if name := self._known.take(was.state, part):
            return {"copy": part.reference(name), "sum": part.checksum(name)}
        return {}

    def _blob_of(self, path: str, seen: Glance, *, look: bool = False) -> str:
        """The name of the blob that holds exactly what the file did, "" if none surely does.

        look: the file is still so, and may be compared with its blob.
        """
        folder, _, name = path.rpartition("/")
        entry = self._entries.get(folder, {}).get(name)
        if entry is None or seen.stamps is None or not seen.settled:
            return ""
        _, mtime, inode, size, _ = seen.stamps
        if size > LARGEST_OBJECT or not _fits(seen.stamps, entry):
            return ""
        sha, identity = entry[4].hex(), (inode, mtime, size)
        if (self._converts or mtime >= self._written_ns) and identity not in self._equal:
            if not look or blob_name(self._disk.read(path)) != sha:
                return ""
            self._equal.add(identity)
        return sha

    def _doubtful(self) -> list[str]:
        """The files but those that git plainly has, which are most."""
        written, none = 0 if self._converts else self._written_ns, (0, 0, 0, 0, b"")
        found = [*self._tree.young]
        for path, folder in self._tree.folders.items():
            get = self._entries.get(path, {}).get
            names = [
                name
                for name, stamps in folder.files.items()
                if stamps[:4] != get(name, none)[:4] or stamps[1] >= written
            ]
            found += [joined(path, name) for name in names]
        return found

    def _refresh(self, moved: Moves) -> None:
        """Keep what git could not give back, as it is now."""
        first = not self._begun
        self._begun = True
        changed = any(path.endswith(".gitattributes") for path in moved)
        if self._repository and self._entries is not self._repository.entries:
            self._entries, changed = self._repository.entries, True
            self._written_ns = self._repository.written_ns
        if changed and self._repository:
            self._converts = self._repository.converts(self._tree.attributes)
        for was, now in moved.values():
            if was.state.kind == "file" and was.state.identity != now.state.identity:
                self._known.drop(was.state)
        with closing(Descent(self._tree.root)) as down:
            for path in self._doubtful() if first or changed else moved:
                seen = self._tree.glance(path)
                state = seen.state
                if state.kind == "file" and not self._blob_of(path, seen, look=True):
                    self._known.keep(path, state, down)
        if first and self._known.sizes:
            self._known.sweep(self._tree.states())


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


def _fits(stamps: Stamps, entry: IndexEntry) -> bool:
    """Whether the index says the same of a file."""
    ctime, mtime, inode, size, _ = stamps
    return (ctime, mtime, inode & _LOW, size & _LOW) == entry[:4]
