"""What the door to files tells its changes to: keeps old files and writes the journal."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from fsagent_tools.call import current, new_step
from fsagent_tools.errors import Conflict, TooLarge
from fsagent_tools.files.base import EntrySlot, Members, NotKept
from fsagent_tools.history.archive import Archive
from fsagent_tools.history.states import ABSENT, JournalLine, State, delta_of
from fsagent_tools.session.memory import Session

Cancel = Callable[[], None]
_IDS = {"thread": "session", "call": "call"}
_COMPARED = 1 << 18  # bytes of an old file that is compared with the new one


class JournalWriter:
    """The `Recorder` of one session."""

    def __init__(self, archive: Archive, session: Session) -> None:
        self.archive, self._session = archive, session
        self._unindexed = ""  # a step in which no line index was saved

    def overwrites(
        self, slot: EntrySlot, old: int | None, new: int, data: bytes, *, in_place: bool
    ) -> Cancel:
        after, path = State.of(os.fstat(new)), slot.place.relative
        if old is None:
            return self.noted([self.line(path, ABSENT, after)])
        status = os.fstat(old)
        before = State.of(status)
        if not self.archive.has_room(status.st_size):
            return self.noted([self.lost([path])])
        self._check_way_back(path, before, several_names=in_place)
        cancel = self.keep(slot, before, copied=in_place)
        if in_place:  # which stamps it will have is not known
            summed = blake2b(data, digest_size=16).hexdigest()
            after = State(
                "file", before.mode, (status.st_ino, 0, len(data)), source={"sum": summed}
            )
        line = self.line(path, before, after)
        if status.st_size <= _COMPARED:
            line["delta"] = delta_of(os.pread(old, _COMPARED, 0), data)
        return self.noted([line], cancel)

    def releases(self, status: os.stat_result) -> None:
        self.archive.further_names(status)

    def takes(self, slot: EntrySlot, status: os.stat_result, *, back: bool = False) -> None:
        """back: of an undo, which may still need it, however large it is."""
        before, path = State.at(slot, status), slot.place.relative
        further = self.archive.further_names(status)
        self._check_way_back(path, before, several_names=further)
        if back or self.archive.has_room(status.st_size):
            cancel = self.keep(slot, before, copied=further, back=back)
            forget = self.noted([self.line(path, before, ABSENT)], cancel)
        else:
            forget = self.noted([self.lost([path])])
        try:
            (os.rmdir if before.kind == "directory" else os.unlink)(slot.name, dir_fd=slot.fd)
        except OSError:
            forget()
            raise

    def places(
        self, slot: EntrySlot, made: Members, now: EntrySlot | None = None, *, moved: bool = False
    ) -> Cancel:
        replaced, lines = ABSENT, list[JournalLine]()
        cancel: Cancel | None = None
        if now and (status := slot.status()):
            if self.archive.has_room(status.st_size):
                replaced = State.at(slot, status)
                cancel = self.keep(slot, replaced, copied=self.archive.further_names(status))
            else:
                lines.append(self.lost([slot.place.relative]))
        for inner, status in made:
            state = _inside(now or slot, inner, status)
            path = slot.place.inside(inner).relative
            self._check_way_back(path, state, several_names=self.archive.further_names(status))
            if now and moved:
                source = now.place.inside(inner).relative
                lines.append(self.line(source, state, ABSENT) | {"to": path})
            lines.append(self.line(path, ABSENT if inner else replaced, state))
        return self.noted(lines, cancel)

    def line(self, path: str, before: State, after: State) -> dict[str, Any]:
        """A line for one change of the call in progress; the line index of the old file is kept."""
        line: dict[str, Any] = {"path": path, "old": before.to_json(), "new": after.to_json()}
        call = current.get()
        if before.kind == "file" and (not call.step or call.step != self._unindexed):
            if index := self._session.store.file(path):
                self.archive.keep_index(*index, before.identity)
            else:
                self._unindexed = call.step  # to ask for each of a thousand files takes its time
        return line | {"tool": call.tool} if call.tool else line

    def _check_way_back(self, path: str, state: State, *, several_names: bool) -> None:
        """Raise `Conflict` in a transaction for what it could not take back."""
        within = current.get().transaction
        if not within or not within.takes(self._session):
            return
        within.kept += state.identity[2]
        if state.kind == "other":
            why = "is a device, socket or pipe"
        elif state.kind == "file" and several_names:
            why = "has further names (hard links)"
        elif not self.archive.has_room(within.kept):
            why = "is more than is kept of one transaction"
        else:
            return
        raise Conflict(
            f"{path} {why}, and a transaction could not take it back. It was not changed.",
            hint="Change it in a call of its own, outside the transaction.",
        )

    def lost(self, paths: Iterable[str]) -> JournalLine:
        """A line for what the call in progress changed, and no undo has.

        Raises `TooLarge` in a transaction, which has to be able to take back everything.
        """
        call = current.get()
        if call.transaction and call.transaction.takes(self._session):
            raise TooLarge(
                f"{', '.join(sorted(paths))} is too large to be taken back. It was not changed.",
                hint="Change it outside the transaction.",
            )
        return {"lost": sorted(paths), "tool": call.tool}

    def noted(self, lines: Sequence[JournalLine], cancel: Cancel | None = None) -> Cancel:
        """Write the lines; returns what to call when the change did not happen."""
        at = self.append(lines)

        def forget() -> None:
            if cancel:
                cancel()
            self.append([{"void": at}])

        return forget

    def append(self, lines: Sequence[JournalLine]) -> int:
        """Write lines that happen at once: of one step, the one of the call in progress.

        Returns their time.
        """
        if not lines:
            return 0
        call = current.get()
        about = {
            "step": call.step or new_step(),
            "session": self._session.id,
            **{name: call.ids[own] for name, own in _IDS.items() if own in call.ids},
        }
        try:
            return self.archive.append(about, lines)
        except OSError as error:
            raise self._not_kept(error) from error

    def keep(
        self, slot: EntrySlot, state: State, *, copied: bool, back: bool = False
    ) -> Cancel | None:
        """Keep a file, by a further name where that is enough; what drops it again."""
        if state.kind != "file":
            return None
        try:
            path = self.archive.keep(slot, state, copied=copied, back=back)
        except OSError as error:
            raise self._not_kept(error) from error

        def drop() -> None:
            with suppress(OSError):
                os.unlink(path)

        return drop

    def _not_kept(self, error: OSError) -> NotKept:
        return NotKept(error.errno, error.strerror, str(self.archive.folder))


def _inside(top: EntrySlot, inner: str, status: os.stat_result) -> State:
    """The state of a tree's member."""
    name = f"{top.name}/{inner}" if inner else top.name
    return State.at(EntrySlot(top.fd, name, top.place), status)
