"""Carries out what was planned, each entry under its lock and noted before it changes."""

import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fsagent_tools.errors import Conflict
from fsagent_tools.files.atomic import IN_PLACE, rename_new
from fsagent_tools.files.base import TIMEOUT, EntrySlot
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.files.locks import locked, sweep
from fsagent_tools.files.open_file import AT_CWD, READ, opened
from fsagent_tools.history.contents import Contents
from fsagent_tools.history.plan import Restoration
from fsagent_tools.history.recorder import JournalWriter
from fsagent_tools.history.states import ABSENT, Identity, State


class ChangedMeanwhile(Conflict):
    """Somebody changed an entry between the plan and its turn."""


@dataclass
class Restorer:
    """One undo while it happens."""

    files: LocalFiles
    writer: JournalWriter
    contents: Contents
    left: list[str] = field(default_factory=list)  # directories that hold something of others
    _wanted: Counter[Identity] = field(default_factory=Counter)  # kept, for how many paths

    def run(self, plans: Sequence[Restoration]) -> None:
        """Raises a `ToolError` for the first entry that is not as it was planned for."""
        goes = [one for one in plans if not one.target.kind]
        comes = [one for one in plans if one.target.kind]
        lent = self._lent(comes)
        self._each([one for one in goes if one.now.kind != "directory"], self._take)
        self._each([one for one in comes if one.path in lent], self._take)
        comes = [replace(one, now=ABSENT) if one.path in lent else one for one in comes]
        folders = [one for one in goes if one.now.kind == "directory"]
        for one in sorted(folders, key=lambda one: one.path, reverse=True):
            self._each([one], self._leave)
        for one in sorted(comes, key=lambda one: one.path):
            if one.target.kind == "directory":
                self._each([one], self._folder)
        others = [one for one in comes if one.target.kind != "directory"]
        self._wanted = Counter(
            self.contents.first(one.target.identity) for one in others if self._is_kept(one)
        )
        self._each(others, self._put)

    def _is_kept(self, one: Restoration) -> bool:
        """Whether the old file itself is to come back."""
        if one.target.kind != "file":
            return False
        return one.now.kind != "file" or not self.contents.same_content(one.now, one.target)

    def _lent(self, comes: Iterable[Restoration]) -> set[str]:
        """Paths that hold what another one is to get back."""
        first = self.contents.first
        some = [one for one in comes if one.target.kind == "file"]
        wanted = {first(one.target.identity): one.path for one in some}
        files = [one for one in comes if one.now.kind == "file"]
        return {o.path for o in files if wanted.get(first(o.now.identity), o.path) != o.path}

    def _each(
        self, plans: Sequence[Restoration], do: Callable[[EntrySlot, Restoration], None]
    ) -> None:
        """Directory by directory, so that each is found and locked once."""
        groups: dict[str, list[Restoration]] = {}
        for one in plans:
            groups.setdefault(one.path.rpartition("/")[0], []).append(one)
        for directory, group in groups.items():
            names = [one.path.rpartition("/")[2] for one in group]
            with self.files.slots(directory, names) as slots:
                for slot, one in zip(slots, group, strict=True):
                    self._check(slot, one)
                for slot, one in zip(slots, group, strict=True):
                    do(slot, one)

    def _check(self, slot: EntrySlot, one: Restoration) -> None:
        if not State.at(slot, slot.status()).same(one.now):
            raise ChangedMeanwhile(
                f"{one.path} changed while it was taken back.", hint="Look at it, then try again."
            )

    def _take(self, slot: EntrySlot, _: Restoration) -> None:
        if status := slot.status():
            self.writer.takes(slot, status, back=True)

    def _leave(self, slot: EntrySlot, one: Restoration) -> None:
        with opened(slot.fd, slot.name) as directory, locked(directory, "", TIMEOUT, one.path):
            sweep(directory)  # what a process left that was killed while it wrote there
            others = os.listdir(directory)
        if others:
            self.left.append(one.path)
        else:
            self._take(slot, one)

    def _folder(self, slot: EntrySlot, one: Restoration) -> None:
        if one.now.kind and one.now.kind != "directory":
            self._take(slot, one)
        before = one.now if one.now.kind == "directory" else ABSENT
        self.writer.append([self.writer.line(one.path, before, one.target)])
        if not before.kind:
            os.mkdir(slot.name, dir_fd=slot.fd)
        self._set_mode(slot, one.target)

    def _put(self, slot: EntrySlot, one: Restoration) -> None:
        if one.target.kind == "link":
            self._take(slot, one)
            self.writer.append([self.writer.line(one.path, ABSENT, one.target)])
            os.symlink(one.target.target, slot.name, dir_fd=slot.fd)
        elif self._is_kept(one):
            self._bring(slot, one)
        elif one.target.kind == "other":
            self.left.append(one.path)  # nobody can make it anew
        else:
            after = replace(one.now, mode=one.target.mode)
            self.writer.append([self.writer.line(one.path, one.now, after)])
            self._set_mode(slot, one.target)

    def _bring(self, slot: EntrySlot, one: Restoration) -> None:
        """Give a kept file its name back."""
        if not (kept := self.contents.kept_file(one.target)):
            raise Conflict(f"The old content of {one.path} is not kept any more.")
        status, old = slot.status(), os.lstat(kept)
        if status and not stat.S_ISREG(status.st_mode):
            self.writer.takes(slot, status, back=True)
            status = None
        name = self.contents.first(one.target.identity)
        self._wanted[name] -= 1
        # Its other names must see the change, and others of these paths may want the same content.
        apart = old.st_dev != os.fstat(slot.fd).st_dev
        shared = apart or (status and status.st_nlink > 1) or self._wanted[name] > 0
        if shared or not self._renamed(slot, one, kept, status):
            self._write(slot, one, Path(kept).read_bytes())

    def _renamed(
        self, slot: EntrySlot, one: Restoration, kept: str, status: os.stat_result | None
    ) -> bool:
        """False where that is refused, and the file itself may be written."""
        before, old, now = State.of(status), os.lstat(kept), time.time_ns()
        cancel = self.writer.keep(slot, before, copied=False, back=True)
        after = State("file", one.target.mode, (old.st_ino, now, old.st_size))
        line = self.writer.line(one.path, before, after)
        line["was"] = self.contents.first(one.target.identity)
        forget = self.writer.noted([line], cancel)
        try:
            if stat.S_IMODE(old.st_mode) != one.target.mode:
                os.chmod(kept, one.target.mode)
            if status:
                os.rename(kept, slot.name, dst_dir_fd=slot.fd)
            else:
                rename_new(AT_CWD, kept, slot.fd, slot.name)
        except OSError as error:
            forget()
            if error.errno not in IN_PLACE:
                raise
            return False
        os.utime(slot.name, ns=(now, now), dir_fd=slot.fd)  # build tools go by this time
        return True

    def _write(self, slot: EntrySlot, one: Restoration, data: bytes) -> None:
        """As any write: the file keeps what is its own, and its other names see the change."""
        target = self.files.target(slot)
        target.write(data, expect=target.version)
        before = State.at(slot, slot.status())
        line = self.writer.line(one.path, before, replace(before, mode=one.target.mode))
        line["was"] = self.contents.first(one.target.identity)
        self.writer.append([line])
        if before.mode != one.target.mode:
            self._set_mode(slot, one.target)

    def _set_mode(self, slot: EntrySlot, state: State) -> None:
        with opened(slot.fd, slot.name, READ | os.O_NOFOLLOW) as fd:
            os.fchmod(fd, state.mode)
