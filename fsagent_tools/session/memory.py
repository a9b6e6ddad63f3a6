"""The files of one session: each as it is now, with the IDs its lines had before."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from fsagent_tools.encoding import Assumed, check_head
from fsagent_tools.files.base import Version
from fsagent_tools.files.guarded import LockedFile, ReadableFile
from fsagent_tools.lines.document import Document, Seen
from fsagent_tools.lines.ids import STYLES, Style
from fsagent_tools.lines.index import LineIndex
from fsagent_tools.runtime import owned
from fsagent_tools.session.index_store import WITH_WORDS, IndexStore
from fsagent_tools.session.texts import (
    HASHED,
    Stamp,
    Text,
    Unverified,
    Whole,
    Windowed,
    carried,
    is_of,
    open_text,
    taken_away,
    whole_text,
)
from fsagent_tools.text import newline_of

_KEPT = 192 << 20  # bytes of files that one session keeps in memory
_NEVER = object()
_T = TypeVar("_T", bound=Text)


@dataclass
class Record:
    """What a session knows of one file; use it while holding `lock`.

    text: None before the first read, and after it was freed. held: bytes of it, for the session.
    shown: identity of the content that the model saw last. stored: version of the stored index that
    `index` has taken in. lost: lines that were there when it read the file, and that others have
    changed or taken away since.
    """

    lock: threading.RLock = field(default_factory=threading.RLock)
    text: Text | None = None
    held: int = 0
    stamp: Stamp = field(default_factory=Stamp)
    index: LineIndex = field(default_factory=lambda: LineIndex(0))
    seen: Seen = field(default_factory=Seen)
    shown: str = ""
    stored: object = _NEVER
    lost: set[bytes] = field(default_factory=set)

    def read(self, file: ReadableFile, encoding: str | None, assumed: Assumed) -> Text:
        """The text of the open file. Raises a `ToolError`."""
        if self.text and self._current(file.version, encoding):
            if isinstance(self.text, Windowed):
                self.text = self.text.through(file)
            return self.text
        stamp = Stamp(file.version, encoding, assumed)
        return self._take(open_text(file, stamp, self._as(encoding)), stamp)

    def read_whole(
        self, target: LockedFile, version: Version, encoding: str | None, assumed: Assumed
    ) -> Whole:
        """All text of the locked file. Raises a `ToolError`."""
        name = target.place.told
        if isinstance(self.text, Whole | Unverified) and self._current(version, encoding):
            self.text = text = self.text.verified(name, assumed)
            return text
        stamp = Stamp(version, encoding, assumed)
        return self._take(
            whole_text(target.read(check_head), name, stamp, self._as(encoding)), stamp
        )

    def advance(self, text: Whole, version: Version) -> Whole:
        """The file was just written: it holds `text`, and the model knows. `index` follows it."""
        if newline_of(text.decoded.utf8) != text.lines.newline:  # the last line feed went, or the
            fresh = Whole.of(text.raw, text.decoded, text.version)  # first came
            self.index = carried(self.index, text, fresh)
            text = fresh
        # As of no moment: until it is read again, others may have written in the same clock tick.
        self.text, self.stamp = text, replace(self.stamp, version=version, checked_ns=0)
        self.shown = text.identity
        return text

    def document(self, name: str, text: Text, style: Style) -> Document:
        """The file's lines and IDs, for showing or changing them while its lock is held."""
        return Document(name, text.lines, self.index, self.seen, style, text.note)

    def _current(self, version: Version, encoding: str | None) -> bool:
        """Whether the file surely reads as it did."""
        stamp = self.stamp
        same = stamp.version == version and stamp.encoding == encoding
        return same and not version.racy(stamp.checked_ns)

    def _as(self, encoding: str | None) -> Text | None:
        return self.text if self.stamp.encoding == encoding else None

    def _take(self, text: _T, stamp: Stamp) -> _T:
        if text is not self.text:
            self.index = carried(self.index, self.text, text)
            self.lost |= taken_away(self.text, text)
        self.text, self.stamp = text, stamp
        return text

    def free(self) -> None:
        """Give up the text, unless the file is in use; the index, with its line hashes, stays."""
        if self.lock.acquire(blocking=False):
            self.text, self.held = None, 0
            self.lock.release()


class Session:
    """Files by their real path. Thread-safe; a file's record is used under its own lock.

    IDs that are words and IDs that are digits have a record each: to either, a change that was made
    through the other is one from outside.
    """

    def __init__(self, store: IndexStore, assumed: Callable[[str], str] = lambda _: "") -> None:
        """assumed: the encoding that a host or a project has for a file, "" for none."""
        self.assumed = assumed
        self.id = os.urandom(8).hex()
        self.store = store
        self._files: OrderedDict[tuple[str, bool], Record] = OrderedDict()
        self._lock, self._held = threading.Lock(), 0
        self.seen = dict[str, str]()  # files that it read or wrote: identity of their text then
        self._doubted = dict[str, tuple[str, bool]]()  # file: refused text, and whether read since
        self._glimpsed = dict[str, set[bytes]]()
        self.outside: dict[str, None] = {}  # tools whose answers others may have written, in order
        owned(self)

    def disown(self) -> None:
        """A forked process goes on as a session of its own, and knows what was shown; but not of
        files that were in use by a thread, which may have been anywhere.
        """
        self.id, self._lock = os.urandom(8).hex(), threading.Lock()
        self.store.disown()
        for name, record in [*self._files.items()]:
            if record.lock.acquire(blocking=False):
                record.lock.release()
            else:
                del self._files[name]

    @contextmanager
    def reading(
        self,
        file: ReadableFile,
        style: Style,
        encoding: str | None = None,
        *,
        glimpse: bool = False,
    ) -> Iterator[Document]:
        """The open file as it is now; what is shown of it is remembered on the way out.

        style: of its IDs. encoding: overrides detection. glimpse: single lines are shown, which
        does not count as having read the file. Raises a `ToolError`.
        """
        name = file.place.relative
        record = self._record(name, style)
        with record.lock, file.unless_replaced(record.stamp.version) as now:
            text = record.read(now, encoding, partial(self.assumed, name))
            self._adopt_stored(name, record, text, style)
            first = record.index.empty  # nothing older was shown that could be stale
            yield record.document(file.place.told, text, style)
            if record.shown != text.identity and (first or not glimpse):
                record.shown, record.index.changed = text.identity, True
            self._save(name, record, text)
            if not glimpse:
                record.lost.clear()
                self.saw(name, text.identity)

    @contextmanager
    def editing(
        self, target: LockedFile, version: Version, style: Style, encoding: str | None = None
    ) -> Iterator[tuple[Record, Whole]]:
        """The locked, existing file's whole text; a change is to be noted in the record."""
        name = target.place.relative
        record = self._record(name, style)
        with record.lock:
            text = record.read_whole(target, version, encoding, partial(self.assumed, name))
            self._adopt_stored(name, record, text, style)
            try:
                yield record, text
            finally:
                self._save(name, record, record.text or text)  # a refusal shows lines, too

    def forget(self, relative: str, *, gone: bool = False) -> None:
        """Drop the file's index, here and on disk. gone: what has its name next was never seen."""
        if gone:
            self.seen.pop(relative, None)
            self._glimpsed.pop(relative, None)
        with self._lock:
            for words in WITH_WORDS:
                self._files.pop((relative, words), None)
        self.store.forget(relative)

    def saw(self, relative: str, identity: str = "") -> None:
        """Remember a file that was read or written; "" where its text has no identity."""
        self.seen[relative] = identity
        if relative in self._doubted:
            self._doubted[relative] = (self._doubted[relative][0], True)

    def changed_since(self, relative: str, identity: str) -> bool:
        """Whether the file, which has this text now, had another when it was read or written."""
        return self.seen.get(relative, "") not in ("", identity)

    def confirms(self, relative: str, new: str, *, read: bool = True) -> bool:
        """Whether a write of this new text was refused before, and the file read since if that is
        asked for; else the write is refused now.
        """
        before, since = self._doubted.get(relative, ("", False))
        if before == new and (since or not read):
            return True
        self._doubted[relative] = (new, False)
        return False

    def glimpsed(self, relative: str, lines: Iterable[bytes]) -> None:
        """Remember single lines that were shown of a file that may never have been read."""
        self._glimpsed.setdefault(relative, set()).update(lines)

    def has_glimpsed(self, relative: str, line: bytes) -> bool:
        return line in self._glimpsed.get(relative, ())

    def copied(self, old: str, new: str) -> None:
        """The new file has the text of the old one, of which as much was seen."""
        self.seen.pop(new, None)
        if (identity := self.seen.get(old)) is not None:
            self.seen[new] = identity if identity.startswith(HASHED) else ""
        self._glimpsed[new] = {*self._glimpsed.get(old, ())}

    def move(self, old: str, new: str) -> None:
        """A renamed file takes its IDs along; what had the new name loses its own."""
        self.copied(old, new)
        self.seen.pop(old, None)
        self._glimpsed.pop(old, None)
        self.store.move(old, new)
        with self._lock:
            for words in WITH_WORDS:
                self._files.pop((new, words), None)
                if record := self._files.pop((old, words), None):
                    record.stored = self.store.version(new, words=words)
                    self._files[new, words] = record

    def restore(self, file: ReadableFile, stored: dict[str, Any]) -> None:
        """The open file has a text again that had this index; lines without an ID keep a newer one.

        Raises `ValueError`, `KeyError`, `TypeError` for one that cannot be used, or a `ToolError`.
        """
        name = file.place.relative
        style = STYLES["words" if stored.get("words") else "tag"]
        LineIndex.from_json(stored, style)
        record = self._record(name, style)
        with record.lock:
            with suppress(KeyError, TypeError, ValueError):
                now = LineIndex.from_json(self.store.load(name, words=style.quoted) or {}, style)
                record.index = now if record.index.empty else record.index
                record.index.outlive(now)
            record.stored = _NEVER
            self.store.save(name, stored)
            with self.reading(file, style, glimpse=True):
                pass  # takes both in

    def free(self, most: int = 0) -> None:
        """Give up texts until `most` bytes are held: what was used last stays, and all IDs do."""
        with self._lock:
            self._held = 0
            for record in reversed(self._files.values()):
                if self._held + record.held > most:
                    record.free()
                self._held += record.held

    def _record(self, name: str, style: Style) -> Record:
        key = name, style.quoted
        with self._lock:
            record = self._files.setdefault(key, Record())
            self._files.move_to_end(key)
            return record

    def _adopt_stored(self, name: str, record: Record, text: Text, style: Style) -> None:
        """Take the index that another process, or an earlier one, saved; keep what only we know."""
        version = self.store.version(name, words=style.quoted)
        first = record.stored is _NEVER
        if version == record.stored:
            return
        stored = (version is not None and self.store.load(name, words=style.quoted)) or {}
        record.stored = version
        mine, record.index = record.index, LineIndex(text.lines.count, style=style)
        try:
            index = LineIndex.from_json(stored, style)
            same = is_of(stored, record.stamp, text) and index.count == text.lines.count
            if same and isinstance(text, Whole):
                text.known_as(str(stored["content_hash"]))
            if first:
                record.seen.shows = [run.ids for run in index.runs]
                shown = str(stored["shown"])
                record.shown = text.identity if same and shown == stored["content_hash"] else shown
            record.index = index if same else carried(index, None, text)
        except (KeyError, TypeError, ValueError, OverflowError):
            pass  # none, corrupt, or of another version: it is rebuilt as lines are shown
        record.index.adopt(mine)

    def _save(self, name: str, record: Record, text: Text) -> None:
        with self._lock:
            self._held += len(text.raw) - record.held
            record.held = len(text.raw)
        if self._held > _KEPT:
            self.free(max(_KEPT * 3 // 4, record.held))  # not to look at all in the next call, too
        index, version = record.index, record.stamp.version
        if version is None or index.empty or not index.changed:
            return
        index.changed = False
        facts = {
            "content_hash": text.identity,
            "shown": text.identity if record.shown == text.identity else "",
            "last_modified": version.mtime_ns / 1e9,
            "size": version.size,
            "signature": str(version),
            "checked_ns": record.stamp.checked_ns,
        }
        self.store.save(name, {**facts, **index.to_json()})
        record.stored = self.store.version(name, words=index.style.quoted)
