"""The files of one session: each as it is now, with the IDs its lines had before."""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fsagent_tools.files.port import LockedFile, ReadableFile, Version
from fsagent_tools.lines.document import Document
from fsagent_tools.lines.ids import Style
from fsagent_tools.lines.index import LineIndex
from fsagent_tools.session.index_store import IndexStore
from fsagent_tools.session.tracked import HASHED, Tracked

_KEPT = 192 << 20  # bytes of files that one session keeps in memory


class Session:
    """Files by their real path. Thread-safe; a file's state is used under its own lock."""

    def __init__(self, store: IndexStore, style: Style) -> None:
        self.style = style
        self._store = store
        self._files: OrderedDict[str, Tracked] = OrderedDict()
        self._lock = threading.Lock()
        self._seen: set[str] = set()

    @contextmanager
    def reading(self, file: ReadableFile, encoding: str | None = None) -> Iterator[Tracked]:
        """The open file as it is now; what is shown of it is remembered on the way out.

        encoding: overrides detection. Raises a `ToolError`.
        """
        tracked = self._tracked(file.place.relative)
        with tracked.lock:
            self._refresh(tracked, file, file.version, encoding, whole=bool(encoding))
            yield tracked
            if tracked.index and not tracked.shown_now():
                tracked.index.changed = True
            tracked.shown = tracked.raw or tracked.identity
            self._save(tracked)
            self.saw(tracked.relative)

    @contextmanager
    def editing(self, target: LockedFile, encoding: str | None = None) -> Iterator[Tracked]:
        """The locked, existing file's whole text; `written` must follow a change."""
        assert target.version is not None
        tracked = self._tracked(target.place.relative)
        with tracked.lock:
            self._refresh(tracked, target, target.version, encoding, whole=True)
            tracked.verify(encoding)
            try:
                yield tracked
            finally:
                self._save(tracked)  # a refusal shows lines, too

    def document(self, tracked: Tracked) -> Document:
        """The file's lines and IDs, for showing or changing them while its lock is held."""
        assert tracked.lines is not None
        assert tracked.index is not None
        return Document(tracked.relative, tracked.lines, tracked.index, tracked.seen, self.style)

    def forget(self, relative: str) -> None:
        """Drop the file's index, here and on disk: the next edit by ID needs a read before."""
        with self._lock:
            self._files.pop(relative, None)
        self._store.forget(relative)

    def saw(self, relative: str) -> None:
        """Remember that this session read or wrote the file."""
        self._seen.add(relative)

    def has_seen(self, relative: str) -> bool:
        return relative in self._seen

    def move(self, old: str, new: str) -> None:
        """A renamed file takes its IDs along; what had the new name loses its own."""
        with self._lock:
            if old in self._seen:
                self._seen.add(new)
            self._files.pop(new, None)
            tracked = self._files.pop(old, None)
            if tracked:
                tracked.relative = new
                self._files[new] = tracked
        stored = self._store.load(old)
        self._store.forget(old)
        if stored is None:
            self._store.forget(new)
        else:
            self._store.save(new, stored)
        if tracked:
            tracked.token = self._store.version(new)

    def known(self, relative: str) -> bool:
        """Whether the file has a line index, of this session or an earlier one."""
        return self._store.version(relative) is not None

    def _tracked(self, relative: str) -> Tracked:
        with self._lock:
            tracked = self._files.setdefault(relative, Tracked(relative))
            self._files.move_to_end(relative)
            kept = 0
            for other in reversed(self._files.values()):
                kept += len(other.raw or b"")
                if kept > _KEPT and other is not tracked:
                    other.drop()
            return tracked

    def _refresh(
        self, tracked: Tracked, file: Any, now: Version, encoding: str | None, *, whole: bool
    ) -> None:
        token = self._store.version(tracked.relative)
        if tracked.current(now, encoding, whole=whole):
            tracked.rebind(file)
        else:
            tracked.load(file, now, encoding, whole=whole)
        if tracked.index is None or token != tracked.token:
            self._adopt_stored(tracked)
            tracked.token = token

    def _adopt_stored(self, tracked: Tracked) -> None:
        """Take the index that another process, or an earlier one, saved; keep what only we know."""
        assert tracked.lines is not None
        mine = tracked.index
        tracked.index = LineIndex(tracked.lines.count)
        stored = self._store.load(tracked.relative) or {}
        try:
            index = LineIndex.from_json(stored)
            same = _is_of(stored, tracked) and index.count == tracked.lines.count
            if mine is None:
                tracked.seen.shows = [run.ids for run in index.runs]
                tracked.shown = str(stored["shown"])
                if same and tracked.shown == stored["content_hash"]:
                    tracked.shown = tracked.raw or tracked.identity
            tracked.index = index if same else tracked.settle(index)
        except (KeyError, TypeError, ValueError, OverflowError):
            pass  # none, corrupt, or of another version: it is rebuilt as lines are shown
        if mine is not None:
            tracked.index.adopt(mine)

    def _save(self, tracked: Tracked) -> None:
        index, now = tracked.index, tracked.signature
        if index is None or now is None or index.empty or not index.changed:
            return
        index.changed = False
        facts = {
            "content_hash": tracked.identity,
            "shown": tracked.identity if tracked.shown_now() else "",
            "last_modified": tracked.modified,
            "size": now.size,
            "signature": str(now),
            "checked_ns": tracked.checked_ns,
        }
        self._store.save(tracked.relative, {**facts, **index.to_json()})
        tracked.token = self._store.version(tracked.relative)


def _is_of(stored: dict[str, Any], tracked: Tracked) -> bool:
    now = tracked.signature
    if now and stored["signature"] == str(now) and not now.racy(stored["checked_ns"]):
        return True
    by_content = str(stored["content_hash"]).startswith(HASHED)
    return by_content and bool(stored["content_hash"] == tracked.identity)
