"""What commands change: the tree is looked at before each and after it."""

from collections.abc import Callable, Mapping
from contextvars import Context, copy_context
from pathlib import Path
from threading import Lock
from typing import Any

from fsagent_tools.effects import Effect
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.history.git.entries import IndexEntry
from fsagent_tools.history.git.objects import blob_name
from fsagent_tools.history.git.repository import Repository
from fsagent_tools.history.known import KnownCopies
from fsagent_tools.history.live import Disk
from fsagent_tools.history.recorder import JournalWriter
from fsagent_tools.history.states import Identity, State
from fsagent_tools.history.tree import Glance, Moves, Stamps, WatchedTree

_LOW = 0xFFFFFFFF  # what an index has of inodes and sizes
TOO_LARGE = "more files than are watched"


class CommandWatch:
    """The commands of one session. What changes while one runs is taken for its change."""

    def __init__(self, root: Path, files: LocalFiles, recorder: JournalWriter) -> None:
        self._disk, self._recorder = Disk(files), recorder
        self._tree, self._repository = WatchedTree(str(root)), Repository.of(root)
        self._files = files
        self._known = KnownCopies(recorder.archive.folder, files)
        self._entries: Mapping[str, IndexEntry] = {}
        self._equal: set[Identity] = set()  # files that were compared with their blobs
        self._lock = Lock()
        self._running: list[Context] = []
        self._begun = self._overflowed = self._converts = False
        self._written_ns = 0

    def before(self) -> Callable[[], tuple[str, ...]]:
        """A command is about to run. Returns what to call after it, see `_after`."""
        context = copy_context()
        with self._lock:
            if not self._overflowed:
                if self._known.gone:
                    _ = self._recorder.part  # makes its place again
                    self._known = KnownCopies(self._recorder.archive.folder, self._files)
                    self._begun = False
                moved = self._look()
                if self._running:
                    self._running[-1].run(self._record, moved)
                self._refresh(moved)
            if not self._running:
                self._recorder.written = {}
            self._running.append(context)
        return lambda: self._after(context)

    def _after(self, context: Context) -> tuple[str, ...]:
        """Record what changed; paths whose old content is not known, so that no undo has it."""
        with self._lock:
            if context not in self._running:
                return ()
            self._running.remove(context)
            if self._overflowed:
                return (TOO_LARGE,)
            moved = self._look()
            lost = context.run(self._record, moved)
            self._refresh(moved)
            if not self._running:
                self._recorder.written = None
            return lost

    def catch_up(self) -> None:
        """Record what commands that still run have changed by now."""
        with self._lock:
            if self._running and not self._overflowed:
                moved = self._look()
                self._running[-1].run(self._record, moved)
                self._refresh(moved)
                self._recorder.written = {}

    def _look(self) -> Moves:
        if self._repository:
            self._repository.refresh()
            if self._tree.tracked is not self._repository.entries:
                self._tree.tracked = self._repository.entries
                self._tree.tracked_folders = _folders_of(self._repository.entries)
        try:
            return self._tree.look()
        except OverflowError:
            self._overflowed, self._tree = True, WatchedTree(self._tree.root)
            return {}

    def _record(self, moved: Moves) -> tuple[str, ...]:
        """One step of all that the door of this session did not write itself."""
        lines, lost = list[Mapping[str, Any]](), list[str]()
        for path, (was, now) in sorted(moved.items()):
            before, after = was.state, now.state
            if self._is_ours(path, after) or self._disk.closed(path, Effect.READ):
                continue
            if before.same(after) or self._reads_the_same(path, was, after):
                continue
            if before.kind == "file" and before.identity != after.identity:
                before = self._sourced(path, was)
                if not before.source:
                    lost.append(path)
                    continue
            lines.append(self._recorder.line(path, before, after))
        if lost:
            lines.append({"lost": lost})
        if lines:
            self._recorder.append(lines)
        return tuple(lost)

    def _is_ours(self, path: str, now: State) -> bool:
        mine = (self._recorder.written or {}).get(path)
        if mine is None or mine.kind != now.kind:
            return False
        if mine.kind == "file" and not mine.identity[1]:  # written in place
            return (mine.identity[0], mine.identity[2]) == (now.identity[0], now.identity[2])
        return mine.same(now)

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

    def _sourced(self, path: str, was: Glance) -> State:
        """The state with where its content is."""
        if sha := self._blob_of(path, was):
            return was.state.kept(git=sha)
        part = self._recorder.part
        if name := self._known.take(was.state, part):
            return was.state.kept(copy=part.reference(name), sum=part.checksum(name))
        return was.state

    def _blob_of(self, path: str, seen: Glance, *, look: bool = False) -> str:
        """The name of the blob that holds exactly what the file did, "" if none surely does.

        look: the file is still so, and may be compared with its blob.
        """
        entry = self._entries.get(path)
        if entry is None or seen.stamps is None or not seen.settled:
            return ""
        _, mtime, inode, size, _ = seen.stamps
        if not _fits(seen.stamps, entry):
            return ""
        sha, identity = entry[4].hex(), (inode, mtime, size)
        if (self._converts or mtime >= self._written_ns) and identity not in self._equal:
            if not look or blob_name(self._disk.read(path)) != sha:
                return ""
            self._equal.add(identity)
        return sha

    def _doubtful(self) -> list[str]:
        """The files but those that git plainly has, which are most."""
        get, written = self._entries.get, 0 if self._converts else self._written_ns
        none = (0, 0, 0, 0, b"")
        found = [
            path
            for path, stamps in self._tree.files.items()
            if stamps[:4] != get(path, none)[:4] or stamps[1] >= written
        ]
        return [*self._tree.young, *found]

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
        for path in self._doubtful() if first or changed else moved:
            seen = self._tree.glance(path)
            if not self._blob_of(path, seen, look=True) and seen.state.kind == "file":
                self._known.keep(path, seen.state)
        if first and self._known.sizes:
            self._known.sweep(self._tree.glance(path).state for path in self._tree.files)


def _fits(stamps: Stamps, entry: IndexEntry) -> bool:
    """Whether the index says the same of a file."""
    ctime, mtime, inode, size, _ = stamps
    return (ctime, mtime, inode & _LOW, size & _LOW) == entry[:4]


def _folders_of(entries: Mapping[str, IndexEntry]) -> set[str]:
    """The directories that tracked files are in."""
    found = {path.rpartition("/")[0] for path in entries}
    for path in [*found]:
        while (path := path.rpartition("/")[0]) and path not in found:
            found.add(path)
    return found
