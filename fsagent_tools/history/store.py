"""The store of one root in sqlite3: contents by hash, steps, and what each did to which path."""

import errno
import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from fsagent_tools import call
from fsagent_tools.errors import NotConfigured
from fsagent_tools.files.base import NotKept
from fsagent_tools.files.resolve import AT_CWD, birth_ns, is_overlay
from fsagent_tools.history.entries import PathEntry, entry_of, hash_of
from fsagent_tools.history.retention import NAME, ROOT, prune, shrink
from fsagent_tools.runtime import owned
from fsagent_tools.runtime.state import state_folder
from fsagent_tools.session.index_store import check_format

FORMAT = 2  # of what later versions have to understand
_PRUNE_EVERY = 64 << 20  # bytes that are added before all roots are looked at again
_PORTION, _MOST_PENDING = 8 << 20, 2000  # bytes, and contents, that are written together
_ATTEMPTS, _PAUSE = 250, 0.02  # to make the store a write-ahead log, and seconds between them
_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
INSERT OR IGNORE INTO fact VALUES ('generation', 0);
CREATE TABLE IF NOT EXISTS content (
    hash TEXT PRIMARY KEY, data BLOB NOT NULL, used INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS known (
    path BLOB PRIMARY KEY, mode INTEGER, uid INTEGER, gid INTEGER, inode INTEGER, ctime INTEGER,
    size INTEGER, hash TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS step (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, session TEXT, at INTEGER, kind TEXT,
    name TEXT, thread TEXT, user TEXT, tool TEXT, call TEXT, undone INTEGER DEFAULT 0,
    UNIQUE (id, session));
CREATE TABLE IF NOT EXISTS change (
    number INTEGER PRIMARY KEY AUTOINCREMENT, step INTEGER, began INTEGER, at INTEGER, path BLOB,
    before TEXT, after TEXT, line_ids TEXT, undone INTEGER DEFAULT 0);
CREATE INDEX IF NOT EXISTS change_step ON change (step);
CREATE INDEX IF NOT EXISTS change_at ON change (at);
COMMIT;
"""


class RecordedChange(NamedTuple):
    """What became of one path. line_ids: hash of the index of the lines that it had before.

    began: when the command did that saw it happen, 0 for a tool's change. undone: the number of
    the step that undid it, or 0.
    """

    path: str
    before: PathEntry | None
    after: PathEntry | None
    line_ids: str | None = None
    began: int = 0
    number: int = 0
    step: int = 0
    at: int = 0
    undone: int = 0


class Step(NamedTuple):
    """What one call changed, or a checkpoint. kind: "change", "job", "undo", "redo", "checkpoint".

    thread, user, call: see `identified`. undone: whether it is an undo that a redo took back.
    """

    number: int
    id: str
    session: str
    at: int
    kind: str
    name: str
    thread: str
    user: str
    tool: str
    call: str
    undone: int


class HistoryStore:
    """The history of `root`, for all threads and processes.

    What fails raises `NotKept`, or `NotConfigured` where there is no place for it.
    """

    def __init__(self, root: Path, home: str = "") -> None:
        """Does no IO. home: see `state_folder`."""
        self.given, self._home, self._folder = root.absolute(), home, ""
        self._database: sqlite3.Connection | None = None
        self._lock, self._inode, self._added = RLock(), -1, 0
        self._pending, self._pending_bytes = dict[str, bytes](), 0
        owned(self)

    @property
    def root(self) -> str:
        return os.path.realpath(self.given)

    def disown(self) -> None:
        """In a forked process: the connection stays the parent's, and is not closed here either."""
        _inherited.append(self._database)
        self._lock, self._database = RLock(), None

    def close(self) -> None:
        with self._lock:
            if self._database:
                self._database.close()
            self._database = None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """What is written inside is there as a whole or not at all; contents that wait as well."""
        with self._lock, self._reporting():
            database = self._opened()
            if database.in_transaction:  # it is a part of that one
                yield database
                return
            database.execute("BEGIN IMMEDIATE")
            try:
                self._flush(database)
                yield database
                database.execute("COMMIT")
            finally:
                if database.in_transaction:
                    database.execute("ROLLBACK")
            if self._added > _PRUNE_EVERY:
                self.prune()

    def rows(self, query: str, *values: object) -> list[Any]:
        with self._lock, self._reporting():
            return self._opened().execute(query, values).fetchall()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = errno.ENOSPC if "full" in str(error) else errno.EIO
            raise NotKept(code, str(error), self._folder) from error

    def _opened(self) -> sqlite3.Connection:
        """The connection, made anew if somebody removed the store."""
        path = f"{self._folder}/{NAME}"
        if self._database:
            with suppress(OSError):
                if os.stat(path).st_ino == self._inode:
                    return self._database
            self._database.close()
            logging.getLogger("fsagent_tools").warning("The history in %s is gone.", path)
        if not (folder := state_folder(self.root, "history", self._home)):
            hint = "Set XDG_STATE_HOME to a directory outside the root."
            hint = f"Check {self._home}." if self._home else hint
            raise NotConfigured("History is off: no directory for it outside the root.", hint=hint)
        _check_format(Path(folder))
        self._folder, path = folder, f"{folder}/{NAME}"
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        Path(folder, ROOT).write_bytes(os.fsencode(self.root))
        self._database = database = self._connected(path)
        self._inode = os.stat(path).st_ino
        born = 0 if is_overlay(self.root) else birth_ns(AT_CWD, self.root) or 0
        known = database.execute("SELECT value FROM fact WHERE name = 'born'").fetchone()
        if known and born and known[0] != born:  # these are steps of another directory
            database.executescript("DELETE FROM step; DELETE FROM change; DELETE FROM known;")
        database.execute("INSERT OR REPLACE INTO fact VALUES ('born', ?)", (born,))
        if prune(folder):
            shrink(database)
        return database

    def _connected(self, path: str) -> sqlite3.Connection:
        database = sqlite3.connect(path, timeout=30, check_same_thread=False, isolation_level=None)
        # Machines that share a directory share no memory, which a write-ahead log needs.
        mode = "TRUNCATE" if self._home else "WAL"
        for attempt in range(_ATTEMPTS):
            try:
                database.execute("PRAGMA auto_vacuum = INCREMENTAL")
                database.execute(f"PRAGMA journal_mode = {mode}")
                database.execute("PRAGMA synchronous = NORMAL")
                database.execute(f"PRAGMA journal_size_limit = {_PORTION}")
                database.executescript(_SCHEMA)
                break
            except sqlite3.OperationalError as error:
                # Another process that does the same is not waited for, whatever the timeout.
                if database.in_transaction:
                    database.execute("ROLLBACK")
                if attempt == _ATTEMPTS - 1 or "locked" not in str(error):
                    database.close()
                    raise
                time.sleep(_PAUSE)
        return database

    def prune(self) -> None:
        """Keep all roots within their bounds now."""
        with self._lock, self._reporting():
            database, self._added = self._opened(), 0
            prune(self._folder, at_once=True)
            shrink(database)

    def add(self, data: bytes) -> str:
        """Keep a content, which is written with what is written next; returns its hash."""
        with self._lock:
            self._pending[digest := hash_of(data)] = data
            self._pending_bytes += len(data)
            if self._pending_bytes > _PORTION or len(self._pending) > _MOST_PENDING:
                with self.writing():
                    pass
        return digest

    def _flush(self, database: sqlite3.Connection) -> None:
        now = int(time.time())
        for digest, data in self._pending.items():
            query = "UPDATE content SET used = ? WHERE hash = ?"
            if not database.execute(query, (now, digest)).rowcount:
                packed = zlib.compress(data, 1)
                self._added += len(packed)
                database.execute("INSERT INTO content VALUES (?, ?, ?)", (digest, packed, now))
        self._pending, self._pending_bytes = {}, 0

    def content(self, digest: str) -> bytes | None:
        """None if it was not kept, is kept no more, or is damaged."""
        with self._lock:
            if digest in self._pending:
                return self._pending[digest]
        for (packed,) in self.rows("SELECT data FROM content WHERE hash = ?", digest):
            with suppress(zlib.error):
                data = zlib.decompress(packed)
                return data if hash_of(data) == digest else None
        return None

    def record(
        self, session: str, changes: Iterable[RecordedChange], kind: str = "change", name: str = ""
    ) -> tuple[int, list[int]]:
        """Add changes to the step of the call in progress; its number, and theirs."""
        context, now = call.current.get(), time.time_ns()
        identity, ids = (context.step or call.new_step(), session), context.ids
        about = (ids.get("session", ""), ids.get("user", ""), context.tool, ids.get("call", ""))
        with self.writing() as database:
            database.execute(
                "INSERT OR IGNORE INTO step (id, session, at, kind, name, thread, user, tool, call)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*identity, now, kind, name, *about),
            )
            query = "SELECT number FROM step WHERE id = ? AND session = ?"
            ((step,),) = database.execute(query, identity)
            query = "INSERT INTO change (step, began, at, path, before, after, line_ids)"
            numbers = [
                database.execute(
                    f"{query} VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (
                        *(step, one.began or now, now, os.fsencode(one.path)),
                        *(side and str(side) for side in (one.before, one.after)),
                        one.line_ids,
                    ),
                ).lastrowid
                for one in changes
            ]
        return step, [number or 0 for number in numbers]

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop changes that did not happen, and steps that have no others."""
        with self.writing() as database:
            for number in numbers:
                database.execute("DELETE FROM change WHERE number = ?", (number,))
            query = "DELETE FROM step WHERE kind != 'checkpoint' AND number NOT IN"
            database.execute(f"{query} (SELECT step FROM change)")

    def steps(self, where: str = "1", *values: object) -> list[Step]:
        """In the order of time."""
        columns = ", ".join(Step._fields)
        query = f"SELECT {columns} FROM step WHERE {where} ORDER BY number"
        return [Step(*row) for row in self.rows(query, *values)]

    def changes(self, where: str, *values: object) -> list[RecordedChange]:
        """In the order of time."""
        query = (
            f"SELECT {', '.join(RecordedChange._fields)} FROM change WHERE {where} ORDER BY number"
        )
        return [
            RecordedChange(os.fsdecode(path), entry_of(before), entry_of(after), *rest)
            for path, before, after, *rest in self.rows(query, *values)
        ]


_inherited: list[object] = []  # connections of a parent process: closing one would end its locks


def _check_format(folder: Path) -> None:
    """Beside the folder stands its format, which a later version raises."""
    mark, found = folder.with_suffix(".format"), 0
    with suppress(FileNotFoundError, ValueError):
        found = int(mark.read_text())
    check_format(f"What is kept in {folder}", found, FORMAT, str(folder))
    if found < FORMAT:
        with suppress(OSError):
            mark.write_text(f"{FORMAT}\n")
