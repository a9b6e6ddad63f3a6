"""The tree before and after a command: a walk compares what the file system says of each entry, and
only what differs is read.
"""

import os
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import Context, copy_context
from itertools import groupby
from operator import itemgetter
from threading import Condition

from fsagent_tools.call import CallContext, current
from fsagent_tools.effects import Effect
from fsagent_tools.errors import Denied
from fsagent_tools.files.base import TEMP_PREFIX, NotKept
from fsagent_tools.files.resolve import AT_CWD, DIRECTORY, opened, path_of
from fsagent_tools.history.diffs import not_kept
from fsagent_tools.history.entries import MAX_FILE, UNKEPT, PathEntry, file_content
from fsagent_tools.history.store import HistoryStore, RecordedChange
from fsagent_tools.policy import Policy
from fsagent_tools.runtime import owned

MAX_ENTRIES, MAX_READ, MAX_SECONDS = 100_000, 1 << 30, 30.0  # of what one command may cost
_MAX_LEVELS = 250  # directories below each other; what is deeper is not looked into
OPAQUE = frozenset({".git", "node_modules", ".venv", "venv"})  # only known by their inodes
IGNORED = frozenset(  # no part of what an undo is about
    "__pycache__ .tox .mypy_cache .ruff_cache .pytest_cache .hypothesis".split()  # noqa: SIM905
)
NOT_COVERED = "all that it changed, as "  # begins what is said of a tree that is not kept
_CLOSED = -2  # in place of the time of a directory that cannot be listed
_MOST_WALKS = 50  # after a command, while others record changes
_RACY_NS = 50_000_000  # a change so soon after another may bear the same time
_MARGIN_NS = 2_000_000_000  # a tool may note its change so long before it happens

_Stamp = tuple[int, int, int, int, int, int]  # mode, uid, gid, inode, ctime, size
Tree = dict[str, tuple[_Stamp, PathEntry]]  # by path from the root
After = Callable[[], tuple[str, ...]]


class TooMuchError(Exception):
    """The tree is not kept, so what a command does in it cannot be undone: says why."""


class Snapshots:
    """Of the tree beneath a root. One for a process, used by many threads."""

    def __init__(self, store: HistoryStore, policy: Policy, session: str) -> None:
        self._store, self._policy, self._session = store, policy, session
        self._tree: Tree | None = None
        self._newest = Tree(), 0  # and when its walk began
        self._generation = -1
        self._problem = ""
        self._turn, self._begun, self._ended = Condition(), 0, 0  # walks
        owned(self)

    def disown(self) -> None:
        self._turn, self._begun, self._ended, self._tree = Condition(), 0, 0, None

    def forget(self) -> None:
        """Give up the memory; the store has it, too."""
        self._tree = None

    def before(self, *, job: bool = False) -> After:
        """A command is about to run. Returns what to call after it, see `_after`.

        job: others work meanwhile, so not all that changes is its doing.
        """
        context, began = _context_of_job() if job else copy_context(), time.time_ns()
        try:
            tree, _ = self._take()
        except (TooMuchError, NotKept, OSError) as error:
            reason = _not_covered(error)
            return lambda: (reason,)
        return lambda: context.run(self._after, tree, began, "job" if job else "change")

    def _after(self, before: Tree, began: int, kind: str) -> tuple[str, ...]:
        """Record what changed; the paths whose old content is not kept, or why nothing is."""
        try:
            found = self._recorded(before, began, kind)
        except (TooMuchError, NotKept, OSError) as error:
            return (_not_covered(error),)
        return not_kept(found)

    def _recorded(self, before: Tree, began: int, kind: str) -> list[RecordedChange]:
        for _ in range(_MOST_WALKS):
            tree, walked = self._take()
            found = sorted(_changes(before, tree), key=lambda change: change.path)
            paths = {change.path for change in found}
            with self._store.writing():
                since = self._store.changes("at >= ?", walked) if found else ()
                if any(change.path in paths for change in since):
                    continue  # somebody has recorded what that walk may not have seen
                # Other commands may have seen the same, and the first one has recorded it.
                found = self._of_commands(found, began)
                if found:
                    self._store.record(self._session, found, kind)
                return found
        raise TooMuchError("others change it all the time")

    def _of_commands(self, found: list[RecordedChange], began: int) -> list[RecordedChange]:
        """Without what the store has of tools, or of other commands."""
        recorded = defaultdict[str, list[RecordedChange]](list)
        early = dict[str, tuple[object, ...]]()  # noted by a tool before the walk, done after it
        for change in self._store.changes("at >= ?", began - _MARGIN_NS) if found else ():
            if change.at < began:
                early[change.path] = change[:3]
            else:
                recorded[change.path].append(change)
        rest = []
        for one in found:
            before, after, others = one.before, one.after, recorded[one.path]
            while others and (others[0].began < began or others[0].before == before):
                before = others.pop(0).after  # a command goes on from there
            while others and others[-1].after == after:  # or they went on from what it did
                after = others.pop().before
            if before != after and (one.path, before, after) != early.get(one.path):
                rest.append(one._replace(before=before, after=after, began=began))
        return rest

    def _take(self) -> tuple[Tree, int]:
        """The tree as it is now, and when its walk began. Who asks while a walk goes on shares the
        next one with others.
        """
        with self._turn:
            wanted = self._begun + 1
            while self._begun != self._ended and self._ended < wanted:
                self._turn.wait()
            if self._problem:
                raise TooMuchError(self._problem)
            if self._ended >= wanted and self._tree is not None:
                return self._newest
            self._begun += 1
        try:
            began = time.time_ns()
            self._tree = tree = self._walked(self._known())
            self._newest = tree, began
            return self._newest
        except Exception as error:
            self._tree = None
            self._problem = str(error) if isinstance(error, TooMuchError) else ""
            raise
        finally:
            with self._turn:
                self._ended = self._begun
                self._turn.notify_all()

    def _known(self) -> Tree:
        ((generation,),) = self._store.rows("SELECT value FROM fact WHERE name = 'generation'")
        if self._tree is None or generation != self._generation:
            self._generation, self._tree = generation, Tree()
            for path, *stamp, digest in self._store.rows("SELECT * FROM known"):
                mode, uid, gid, _, _, _ = known = tuple(stamp)
                self._tree[os.fsdecode(path)] = known, PathEntry(mode, uid, gid, digest)
        return self._tree

    def _walked(self, known: Tree) -> Tree:
        root, until = self._store.root, time.monotonic() + MAX_SECONDS
        walk = _Walk(root, known)
        if sum(min(stamp[5], MAX_FILE) for _, _, stamp in walk.unread) > MAX_READ:
            raise TooMuchError(f"more than {MAX_READ >> 30} GB would have to be read before it")
        for folder, files in groupby(walk.unread, itemgetter(0)):
            if time.monotonic() > until:
                raise TooMuchError(f"reading the tree takes more than {MAX_SECONDS:.0f} s")
            place = f"{root}/{folder}".rstrip("/")
            with suppress(FileNotFoundError), opened(AT_CWD, place) as fd:
                if path_of(fd) == place:  # else a link leads elsewhere now
                    for _, path, stamp in files:
                        self._read(walk, fd, path, stamp)
        self._save(walk, known)
        return walk.tree

    def _read(self, walk: "_Walk", fd: int, path: str, stamp: _Stamp) -> None:
        name = path.rpartition("/")[2]
        with suppress(FileNotFoundError):
            status = os.stat(name, dir_fd=fd, follow_symlinks=False)
            data = None if self._is_denied(path) else file_content(fd, name, status, MAX_FILE)
            if data is None:
                entry = PathEntry.unkept(fd, name, status)
            else:
                entry = PathEntry.of(status, self._store.add(data))
            if time.time_ns() - status.st_ctime_ns < _RACY_NS:
                stamp = (*stamp[:4], -1, stamp[5])
            walk.add(path, stamp, entry)

    def _is_denied(self, path: str) -> bool:
        try:
            self._policy.check_path(path, f"{self._store.root}/{path}", Effect.READ)
        except Denied:
            return True
        return False

    def _save(self, walk: "_Walk", known: Tree) -> None:
        tree, fresh = walk.tree, walk.fresh
        gone = known.keys() - tree.keys() if fresh or len(known) != len(tree) else ()
        if fresh or gone:
            rows = [(os.fsencode(path), *tree[path][0], tree[path][1].hash) for path in fresh]
            with self._store.writing() as database:
                query = "INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                database.executemany(query, rows)
                each = [(os.fsencode(path),) for path in gone]
                database.executemany("DELETE FROM known WHERE path = ?", each)


class _Walk:
    """One walk. fresh: paths that differ from what was known. unread: directory, path and stamp of
    files that have to be read.
    """

    def __init__(self, root: str, known: Tree) -> None:
        self._known = known
        self.tree, self.fresh, self.unread = Tree(), list[str](), list[tuple[str, str, _Stamp]]()
        # A directory that is not looked into stays so by whatever name it is given.
        unkept = (one for one in known.values() if one[1].hash[:1] == UNKEPT)
        self._opaque = {one[0][3]: one[1].hash for one in unkept if one[0][4] != _CLOSED}
        with opened(AT_CWD, root, DIRECTORY) as fd:
            self._list(fd, "", _MAX_LEVELS)

    def add(self, path: str, stamp: _Stamp, entry: PathEntry) -> None:
        """The same entry as last time, if it is the same."""
        last = self._known.get(path)
        self.tree[path] = stamp, last[1] if last and last[1] == entry else entry
        self.fresh.append(path)

    def _list(self, fd: int, above: str, depth: int) -> None:
        """Take in what is in a directory; each is opened from the one above, through no link."""
        tree, known, inner = self.tree, self._known, list[str]()
        with os.scandir(fd) as entries:
            for one in entries:
                try:
                    status = one.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                name, mode, inode = one.name, status.st_mode, status.st_ino
                path, owner, group = above + name, status.st_uid, status.st_gid
                if mode & 0o170000 == stat.S_IFDIR:
                    if not is_ignored(fd, path) and not name.startswith(TEMP_PREFIX):
                        stamp = (mode, owner, group, inode, 0, 0)
                        if self._add_directory(fd, path, stamp, status):
                            inner.append(name)
                    continue
                stamp = (mode, owner, group, inode, status.st_ctime_ns, status.st_size)
                last = known.get(path)
                if last and last[0] == stamp:
                    tree[path] = last
                elif not name.startswith(TEMP_PREFIX):
                    self.unread.append((above, path, stamp))
        if len(tree) + len(self.unread) > MAX_ENTRIES:
            raise TooMuchError(f"the tree has more than {MAX_ENTRIES:,} entries")
        for name in inner:
            self._enter(fd, name, above + name, depth - 1)

    def _enter(self, fd: int, name: str, path: str, depth: int) -> None:
        try:
            if not depth:
                return self._add_closed(path)
            folder = os.open(name, DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return self._add_closed(path)
        try:
            return self._list(folder, f"{path}/", depth)
        finally:
            os.close(folder)

    def _add_directory(self, fd: int, path: str, stamp: _Stamp, status: os.stat_result) -> bool:
        """Returns whether it is looked into."""
        entry, last, name = PathEntry.of(status, ""), self._known.get(path), path.rpartition("/")[2]
        if name in OPAQUE or stamp[3] in self._opaque:
            unkept = PathEntry.unkept(fd, name, status)
            if name in OPAQUE or unkept.hash == self._opaque[stamp[3]]:
                entry = unkept
        if last and last[0] == stamp and last[1] == entry:
            self.tree[path] = last
        else:
            self.add(path, stamp, entry)
        return entry.is_kept

    def _add_closed(self, path: str) -> None:
        """A directory that cannot be listed; what is in it is what was there before."""
        (mode, owner, group, inode, _, _), entry = self.tree[path]
        self.add(
            path,
            (mode, owner, group, inode, _CLOSED, 0),
            entry._replace(hash=f"{UNKEPT}{inode}:closed"),
        )
        known = self._known
        self.tree |= {inner: known[inner] for inner in known if inner.startswith(f"{path}/")}


def is_ignored(fd: int, path: str) -> bool:
    """fd: the directory above it. Of `.ai` only our own cache is no part of what an undo is about,
    and the directory itself while it holds nothing else.
    """
    name = path.rpartition("/")[2]
    if name != ".ai":
        return name in IGNORED or f"/{path}".endswith("/.ai/cache")
    with suppress(OSError), opened(fd, name, DIRECTORY | os.O_NOFOLLOW) as inside:
        return os.listdir(inside) == ["cache"]
    return False


def _context_of_job() -> Context:
    """What is recorded of the call, and nothing that keeps its run and workspace in memory."""
    call, context = current.get(), Context()
    context.run(current.set, CallContext(ids=call.ids, tool=call.tool, step=call.step))
    return context


def _changes(before: Tree, after: Tree) -> Iterator[RecordedChange]:
    """What differs. What only came into view was there before."""
    for path, (_, entry) in before.items():
        now = after.get(path)
        if now is None:
            yield RecordedChange(path, entry, None)
        elif now[1] is not entry and now[1] != entry:
            yield RecordedChange(path, entry, now[1])
    for path, (_, entry) in after.items():
        if path not in before and not _was_hidden(path, before):
            yield RecordedChange(path, None, entry)


def _was_hidden(path: str, before: Tree) -> bool:
    above = path.rpartition("/")[0]
    while above and above not in before:
        above = above.rpartition("/")[0]
    return bool(above) and before[above][1].is_directory and not before[above][1].is_kept


def _not_covered(error: Exception) -> str:
    why = (
        f"files cannot be read ({error.strerror})"
        if isinstance(error, OSError) and not isinstance(error, NotKept)
        else str(error)
    )
    return f"{NOT_COVERED}{why}"
