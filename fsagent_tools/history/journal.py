"""What tools change: kept and noted right before it happens, under the locks of the files."""

import os
from collections.abc import Callable, Iterable, Iterator

from fsagent_tools.files.base import EntrySlot, Members
from fsagent_tools.history.entries import MAX_FILE_OF_TOOL, PathEntry, file_content, hash_of
from fsagent_tools.history.snapshots import MAX_READ, OPAQUE
from fsagent_tools.history.store import HistoryStore, RecordedChange
from fsagent_tools.session.memory import Session

_MAX_INDEX = 1 << 20  # bytes of an index of line IDs that is kept


class Journal:
    """The `Recorder` of one session."""

    def __init__(self, store: HistoryStore, session: Session) -> None:
        self._store, self._session = store, session

    def overwrites(
        self, slot: EntrySlot, old: int | None, new: int, data: bytes, *, in_place: bool
    ) -> Callable[[], None]:
        before = None if old is None else self._entry(slot.fd, slot.name, os.fstat(old))
        kept = len(data) <= MAX_FILE_OF_TOOL
        after = PathEntry.of(os.fstat(new), self._store.add(data) if kept else hash_of(data))
        if in_place and before:
            after = before._replace(hash=after.hash)
        return self._note([self._change(slot.place.relative, before, after)])

    def removes(self, slot: EntrySlot, members: Members) -> Callable[[], None]:
        found = self._entries(slot, members)
        places = ((slot.place.inside(path).relative, entry) for path, entry in found)
        return self._note(self._change(path, entry, None) for path, entry in places)

    def places(
        self, slot: EntrySlot, made: Members, now: EntrySlot | None = None, *, moved: bool = False
    ) -> Callable[[], None]:
        status = slot.status() if now else None
        replaced = self._entry(slot.fd, slot.name, status) if status else None
        changes = list[RecordedChange]()
        for path, entry in self._entries(now or slot, made):
            if now and moved:
                changes.append(self._change(now.place.inside(path).relative, entry, None))
            before = None if path else replaced
            changes.append(self._change(slot.place.inside(path).relative, before, entry))
        return self._note(changes)

    def _entries(self, top: EntrySlot, members: Members) -> Iterator[tuple[str, PathEntry]]:
        """Without what is in directories that are not looked into."""
        left = MAX_READ
        for path, status in members:
            if OPAQUE.isdisjoint(path.split("/")[:-1]):
                left -= status.st_size
                name = f"{top.name}/{path}" if path else top.name
                yield path, self._entry(top.fd, name, status, min(left, MAX_FILE_OF_TOOL))

    def _entry(
        self, fd: int, name: str, status: os.stat_result, most: int = MAX_FILE_OF_TOOL
    ) -> PathEntry:
        entry = PathEntry.of(status, "")
        if entry.is_directory:
            return PathEntry.unkept(fd, name, status) if name.split("/")[-1] in OPAQUE else entry
        data = file_content(fd, name, status, most)
        return (
            PathEntry.unkept(fd, name, status)
            if data is None
            else entry._replace(hash=self._store.add(data))
        )

    def _change(
        self, path: str, before: PathEntry | None, after: PathEntry | None
    ) -> RecordedChange:
        is_file = before and before.kind == "file"
        ids = line_ids_of(self._store, self._session, path) if is_file else None
        return RecordedChange(path, before, after, ids)

    def _note(self, changes: Iterable[RecordedChange]) -> Callable[[], None]:
        """Returns what to call if nothing came of it."""
        _, numbers = self._store.record(self._session.id, [*changes])
        return lambda: self._store.forget(numbers)


def line_ids_of(store: HistoryStore, session: Session, path: str) -> str | None:
    """Keep the index of the lines that a file has now; returns its hash."""
    folder, names = session.store.file(path) or (-1, [])
    for name in names:
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            continue
        if data := file_content(folder, name, status, _MAX_INDEX):
            return store.add(data)
    return None
