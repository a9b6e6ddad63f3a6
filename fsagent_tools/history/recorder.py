"""What the door to files tells its changes to: keeps old files and writes the journal."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Any
from weakref import ref

from fsagent_tools.call import changed, current, new_step
from fsagent_tools.files.keeping import EntrySlot, Members, NotKept
from fsagent_tools.files.open_file import READ
from fsagent_tools.history.archive import Archive
from fsagent_tools.history.deltas import delta_of
from fsagent_tools.history.part import IDS_ENDING, Part
from fsagent_tools.history.states import ABSENT, JournalLine, State
from fsagent_tools.session.memory import Session

Cancel = Callable[[], None]
_IDS = {"thread": "session", "call": "call"}
REMOVED = "what was kept before was removed"  # how the log tells of it
_COMPARED = 1 << 18  # bytes of an old file that is compared with the new one


class JournalWriter:
    """The `Recorder` of one session.

    written: path -> what the door put there last, while commands run; else None.
    """

    def __init__(self, archive: Archive, session: Session) -> None:
        self.archive, self._session = archive, session
        self.written: dict[str, State] | None = None
        self._part: ref[Part] | None = None

    @property
    def session(self) -> str:
        """The id of the session."""
        return self._session.id

    def disown(self) -> None:
        """In a forked process: it writes a part of its own."""
        self._part = self.written = None
        self.archive.disown()

    @property
    def part(self) -> Part:
        """Where it is written now."""
        part = self._part() if self._part else None
        if part is None or part.full or part.gone:
            lost = part is not None and part.gone
            part = self.archive.part
            self._part = ref(part)  # the archive decides how many are open
            if lost:
                with changed(step=new_step()):
                    self.append([{"checkpoint": REMOVED}])
        return part

    def close(self) -> None:
        """The part is free for other processes; the next change opens one again."""
        self._part = None
        self.archive.close()

    def overwrites(
        self, slot: EntrySlot, old: int | None, new: int, data: bytes, *, in_place: bool
    ) -> Cancel:
        after, path = State.of(os.fstat(new)), slot.place.relative
        if old is None:
            return self._undoing(self.append([self.line(path, ABSENT, after)]), _nothing)
        status = os.fstat(old)
        before, cancel = self._kept(slot, State.of(status), old, copied=in_place)
        if in_place:  # which stamps it will have is not known
            summed = blake2b(data, digest_size=16).hexdigest()
            after = State(
                "file", before.mode, (status.st_ino, 0, len(data)), source={"sum": summed}
            )
        line = self.line(path, before, after)
        if status.st_size <= _COMPARED:
            line["delta"] = delta_of(os.pread(old, _COMPARED, 0), data)
        return self._undoing(self.append([line]), cancel)

    def releases(self, status: os.stat_result) -> None:
        self.archive.drop_names(status)

    def takes(self, slot: EntrySlot, status: os.stat_result) -> None:
        before = State.at(slot, status)
        taken = before.kind == "file" and self._is_ours(status)
        if before.kind == "file" and not taken:
            before, _ = self._kept(slot, before, None, copied=True)
        self.append([self.line(slot.place.relative, before, ABSENT)])
        if taken:
            self.part.take(slot.fd, slot.name, status.st_size)
        else:
            (os.rmdir if before.kind == "directory" else os.unlink)(slot.name, dir_fd=slot.fd)

    def places(
        self, slot: EntrySlot, made: Members, now: EntrySlot | None = None, *, moved: bool = False
    ) -> Cancel:
        replaced, cancel = ABSENT, _nothing
        if now and (status := slot.status()):
            copied = not self._is_ours(status)
            replaced, cancel = self._kept(slot, State.at(slot, status), None, copied=copied)
        lines = []
        for inner, status in made:
            state = _inside(now or slot, inner, status)
            path = slot.place.inside(inner).relative
            if now and moved:
                source = now.place.inside(inner).relative
                lines.append(self.line(source, state, ABSENT) | {"to": path})
            lines.append(self.line(path, ABSENT if inner else replaced, state))
        return self._undoing(self.append(lines), cancel)

    @property
    def has_indexes(self) -> bool:
        """Whether any line index is saved here."""
        return self._session.index_file("") is not None

    def line(
        self, path: str, before: State, after: State, *, indexed: bool = True
    ) -> dict[str, Any]:
        """A line for one change of the call in progress; indexed: see `has_indexes`."""
        call = current.get()
        line: dict[str, Any] = {"path": path, "old": before.to_json(), "new": after.to_json()}
        if indexed and before.kind == "file" and (kept := self._keep_index(path)):
            line["ids"] = kept
        if (written := self.written) is not None:  # a command may be ending
            written[path] = after
        return line | {"tool": call.tool} if call.tool else line

    def _undoing(self, at: int, cancel: Cancel) -> Cancel:
        """What is called when the change of that moment did not happen."""

        def forget() -> None:
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
            "session": self.session,
            **{name: call.ids[own] for name, own in _IDS.items() if own in call.ids},
        }
        try:
            return self.part.append([{**about, **line} for line in lines])
        except OSError as error:
            raise self._not_kept(error) from error

    def _kept(
        self, slot: EntrySlot, state: State, fd: int | None, *, copied: bool
    ) -> tuple[State, Cancel]:
        """Keep the file in the slot, by a further name where that is enough, else as a copy."""
        part = self.part
        if not copied:
            try:
                name = part.keep(slot.fd, slot.name, state.identity[2])
                return state, lambda: part.drop(name)
            except OSError:  # another file system, or one without further names
                pass
        opened = os.open(slot.name, READ | os.O_NOFOLLOW, dir_fd=slot.fd) if fd is None else fd
        try:
            name, summed = part.copy(opened)
        except OSError as error:
            raise self._not_kept(error) from error
        finally:
            if fd is None:
                os.close(opened)
        return state.kept(copy=part.reference(name), sum=summed), lambda: part.drop(name)

    def _not_kept(self, error: OSError) -> NotKept:
        return NotKept(error.errno, error.strerror, str(self.archive.folder))

    def _is_ours(self, status: os.stat_result | None) -> bool:
        """Whether the file has one name only and can be renamed into the history."""
        here = self.part.device
        return status is not None and status.st_nlink == 1 and status.st_dev == here

    def _keep_index(self, path: str) -> str:
        """The line index that belongs to what goes, "" if there is none."""
        if found := self._session.index_file(path):
            with suppress(OSError):
                part = self.part
                return part.reference(part.keep(*found, 0, IDS_ENDING))
        return ""


def _nothing() -> None:
    """There is nothing to take back."""


def _inside(top: EntrySlot, inner: str, status: os.stat_result) -> State:
    """The state of a tree's member."""
    name = f"{top.name}/{inner}" if inner else top.name
    return State.at(EntrySlot(top.fd, name, top.place), status)
