"""Carries out what was planned, each entry under its lock and noted before it changes."""

import os
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from fsagent_tools.errors import Conflict
from fsagent_tools.files.keeping import EntrySlot
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.files.open_file import READ
from fsagent_tools.files.syscalls import exchange_names, rename_new
from fsagent_tools.files.target import Target
from fsagent_tools.files.tree import opened
from fsagent_tools.history.contents import Contents
from fsagent_tools.history.plan import Restoration
from fsagent_tools.history.recorder import JournalWriter
from fsagent_tools.history.states import ABSENT, State


@dataclass
class Restorer:
    """One undo while it happens. contents: made anew where old files were moved."""

    files: LocalFiles
    writer: JournalWriter
    look: Callable[[], Contents]
    left: list[str] = field(default_factory=list)  # directories that hold something of others

    def run(self, plans: Sequence[Restoration]) -> None:
        """Raises a `ToolError` for the first entry that is not as it was planned for."""
        goes = [one for one in plans if not one.target.kind]
        comes = [one for one in plans if one.target.kind]
        folders = [one for one in goes if one.now.kind == "directory"]
        moved = self._lent(comes)
        self._each([one for one in goes if one.now.kind != "directory"], self._take)
        self._each([one for one in comes if one.path in moved], self._take)
        for one in sorted(folders, key=lambda one: one.path, reverse=True):
            self._each([one], self._leave)
        for one in sorted(comes, key=lambda one: one.path):
            if one.target.kind == "directory":
                self._each([one], self._folder)
        self._contents = self.look()
        others = [one for one in comes if one.target.kind != "directory"]
        self._each(
            [replace(one, now=ABSENT) if one.path in moved else one for one in others], self._put
        )

    def _lent(self, comes: Iterable[Restoration]) -> set[str]:
        """Paths that hold what another one is to get back."""
        contents = self.look()
        wanted = {
            contents.first(one.target.identity): one.path
            for one in comes
            if one.target.kind == "file" and one.data is None
        }
        return {
            one.path
            for one in comes
            if one.now.kind == "file"
            and wanted.get(contents.first(one.now.identity), one.path) != one.path
        }

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
            raise Conflict(
                f"{one.path} changed while it was taken back.", hint="Look at it, then try again."
            )

    def _take(self, slot: EntrySlot, _: Restoration) -> None:
        if status := slot.status():
            self.writer.takes(slot, status)

    def _leave(self, slot: EntrySlot, one: Restoration) -> None:
        with opened(slot.fd, slot.name) as directory:
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
            self._link(slot, one)
        elif one.data is not None:
            self._write(slot, one, one.data)
        elif self._contents.same_content(one.now, one.target) and one.now.kind == "file":
            after = replace(one.now, mode=one.target.mode)
            self.writer.append([self.writer.line(one.path, one.now, after)])
            self._set_mode(slot, one.target)
        else:
            self._bring(slot, one)

    def _link(self, slot: EntrySlot, one: Restoration) -> None:
        self._take(slot, one)
        self.writer.append([self.writer.line(one.path, ABSENT, one.target)])
        os.symlink(one.target.target, slot.name, dir_fd=slot.fd)

    def _bring(self, slot: EntrySlot, one: Restoration) -> None:
        """Give the kept file its name back; what has the name takes the place of the kept one."""
        kept = self._contents.kept_file(one.target)
        if kept is None:
            raise Conflict(f"The old content of {one.path} is not kept any more.")
        status, elsewhere = slot.status(), kept.lstat().st_dev != os.fstat(slot.fd).st_dev
        if status and not stat.S_ISREG(status.st_mode):
            self.writer.takes(slot, status)
            status = None
        if elsewhere or (status and status.st_nlink > 1):  # its other names must see the change
            self._write(slot, one, kept.read_bytes())
            return
        os.chmod(kept, one.target.mode)
        inode, now, size = os.lstat(kept).st_ino, time.time_ns(), os.lstat(kept).st_size
        after = State("file", one.target.mode, (inode, now, size))
        line = self.writer.line(one.path, one.now if status else ABSENT, after)
        self.writer.append([line | {"was": self._contents.first(one.target.identity)}])
        os.utime(kept, ns=(now, now))  # build tools go by this time; noted first, as it is a name
        with opened(-100, str(kept.parent)) as folder:
            try:
                if status:
                    exchange_names(folder, kept.name, slot.fd, slot.name)
                else:
                    rename_new(folder, kept.name, slot.fd, slot.name)
            except FileExistsError:
                raise Conflict(f"{one.path} was made by somebody else.") from None
            except OSError:  # a mount point, or another file system
                self._write(slot, one, kept.read_bytes())

    def _write(self, slot: EntrySlot, one: Restoration, data: bytes) -> None:
        """As any write: the file keeps what is its own, and its other names see the change."""
        durable = self.files.durable
        target = Target(slot, self.files.policy, durable=durable, recorded=lambda: self.writer)
        try:
            target.write(data, expect=target.version)
        finally:
            target.close()
        before = State.at(slot, slot.status())
        line = self.writer.line(one.path, before, replace(before, mode=one.target.mode))
        if one.data is None:
            line["was"] = self._contents.first(one.target.identity)
        self.writer.append([line])
        if before.mode != one.target.mode:
            self._set_mode(slot, one.target)

    def _set_mode(self, slot: EntrySlot, state: State) -> None:
        fd = os.open(slot.name, READ | os.O_NOFOLLOW, dir_fd=slot.fd)
        try:
            os.fchmod(fd, state.mode)
        finally:
            os.close(fd)
