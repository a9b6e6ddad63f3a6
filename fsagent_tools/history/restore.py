"""Carries out what was planned, each entry under its lock and noted before it changes."""

import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

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

_AT_ONCE = 128  # files whose lines are written together
_Held = Sequence[tuple[EntrySlot, Restoration]]


class _Swap(NamedTuple):
    """A kept file that is about to get its name back. over: from a file that has the name now."""

    slot: EntrySlot
    one: Restoration
    kept: str
    after: State
    over: bool


class ChangedMeanwhile(Conflict):
    """Somebody changed an entry between the plan and its turn."""


@dataclass
class Restorer:
    """One undo while it happens. look: the contents as they are after old files were moved."""

    files: LocalFiles
    writer: JournalWriter
    look: Callable[[], Contents]
    contents: Contents
    left: list[str] = field(default_factory=list)  # directories that hold something of others
    _wanted: Counter[str | None] = field(
        default_factory=Counter
    )  # kept files, and for how many paths

    def run(self, plans: Sequence[Restoration]) -> None:
        """Raises a `ToolError` for the first entry that is not as it was planned for."""
        goes = [one for one in plans if not one.target.kind]
        comes = [one for one in plans if one.target.kind]
        folders = [one for one in goes if one.now.kind == "directory"]
        moved = self._lent(comes)
        taken = [one for one in goes if one.now.kind != "directory"]
        taken += [one for one in comes if one.path in moved]
        self._each(taken, self._take)
        comes = [replace(one, now=ABSENT) if one.path in moved else one for one in comes]
        for one in sorted(folders, key=lambda one: one.path, reverse=True):
            self._each([one], self._leave)
        for one in sorted(comes, key=lambda one: one.path):
            if one.target.kind == "directory":
                self._each([one], self._folder)
        if taken or any(one.now.kind and one.target.kind == "directory" for one in comes):
            self.contents = self.look()
        kept, others = list[Restoration](), list[Restoration]()
        for one in comes:
            if one.target.kind != "directory":
                (kept if self._is_kept(one) else others).append(one)
        self._wanted = Counter(self.contents.kept_file(one.target) for one in kept)
        self._all_of(kept, self._bring)
        self._each(others, self._put)

    def _is_kept(self, one: Restoration) -> bool:
        """Whether the old file itself is to come back."""
        if one.target.kind != "file" or one.data is not None:
            return False
        return one.now.kind != "file" or not self.contents.same_content(one.now, one.target)

    def _lent(self, comes: Iterable[Restoration]) -> set[str]:
        """Paths that hold what another one is to get back."""
        contents = self.contents
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
        def one_by_one(held: _Held) -> None:
            for slot, one in held:
                do(slot, one)

        self._all_of(plans, one_by_one)

    def _all_of(self, plans: Sequence[Restoration], do: Callable[[_Held], None]) -> None:
        """Directory by directory, so that each is found and locked once."""
        groups: dict[str, list[Restoration]] = {}
        for one in plans:
            groups.setdefault(one.path.rpartition("/")[0], []).append(one)
        for directory, group in groups.items():
            names = [one.path.rpartition("/")[2] for one in group]
            with self.files.slots(directory, names) as slots:
                held = [*zip(slots, group, strict=True)]
                for slot, one in held:
                    self._check(slot, one)
                do(held)

    def _check(self, slot: EntrySlot, one: Restoration) -> None:
        if not State.at(slot, slot.status()).same(one.now):
            raise ChangedMeanwhile(
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
        else:
            after = replace(one.now, mode=one.target.mode)
            self.writer.append([self.writer.line(one.path, one.now, after)])
            self._set_mode(slot, one.target)

    def _link(self, slot: EntrySlot, one: Restoration) -> None:
        self._take(slot, one)
        self.writer.append([self.writer.line(one.path, ABSENT, one.target)])
        os.symlink(one.target.target, slot.name, dir_fd=slot.fd)

    def _bring(self, held: _Held) -> None:
        """Give kept files of one directory their names back; a line of each is written before."""
        device, indexed = os.fstat(held[0][0].fd).st_dev, self.writer.has_indexes
        with ExitStack() as stack:
            folders: dict[str, int] = {}
            for start in range(0, len(held), _AT_ONCE):
                some = [self._ready(*one, device) for one in held[start : start + _AT_ONCE]]
                swaps = [swap for swap in some if swap]
                self.writer.append([self._line(swap, indexed=indexed) for swap in swaps])
                for swap in swaps:
                    folder = swap.kept.rpartition("/")[0]
                    if folder not in folders:
                        folders[folder] = stack.enter_context(opened(-100, folder))
                    self._swap(swap, folders[folder])

    def _ready(self, slot: EntrySlot, one: Restoration, device: int) -> _Swap | None:
        """What is left to do; None where it was done by writing the content."""
        kept = self.contents.kept_file(one.target)
        if kept is None:
            raise Conflict(f"The old content of {one.path} is not kept any more.")
        status, old = slot.status(), os.lstat(kept)
        if status and not stat.S_ISREG(status.st_mode):
            self.writer.takes(slot, status)
            status = None
        self._wanted[kept] -= 1
        # Its other names must see the change, and others of these paths may want the same content.
        if old.st_dev != device or (status and status.st_nlink > 1) or self._wanted[kept] > 0:
            self._write(slot, one, Path(kept).read_bytes())
            return None
        if stat.S_IMODE(old.st_mode) != one.target.mode:
            os.chmod(kept, one.target.mode)
        after = State("file", one.target.mode, (old.st_ino, time.time_ns(), old.st_size))
        return _Swap(slot, one, kept, after, over=bool(status))

    def _line(self, swap: _Swap, *, indexed: bool) -> dict[str, Any]:
        one = swap.one
        before = one.now if swap.over else ABSENT
        line = self.writer.line(one.path, before, swap.after, indexed=indexed)
        return line | {"was": self.contents.first(one.target.identity)}

    def _swap(self, swap: _Swap, folder: int) -> None:
        """What has the name takes the place of the kept file."""
        slot, name, now = swap.slot, swap.kept.rpartition("/")[2], swap.after.identity[1]
        # Build tools go by this time; noted first, as it is a name.
        os.utime(name, ns=(now, now), dir_fd=folder)
        try:
            (exchange_names if swap.over else rename_new)(folder, name, slot.fd, slot.name)
        except FileExistsError:
            raise Conflict(f"{swap.one.path} was made by somebody else.") from None
        except OSError:  # a mount point, or another file system
            self._write(slot, swap.one, Path(swap.kept).read_bytes())

    def _write(self, slot: EntrySlot, one: Restoration, data: bytes) -> None:
        """As any write: the file keeps what is its own, and its other names see the change."""
        durable = self.files.durable
        target = Target(slot, self.files.policy, durable=durable, recorded=lambda: self.writer)
        try:
            target.write(data, expect=target.version)
        finally:
            target.close()
        before = State.at(slot, slot.status())
        if one.data is not None and before.mode == one.target.mode:
            return
        line = self.writer.line(one.path, before, replace(before, mode=one.target.mode))
        if one.data is None:
            line["was"] = self.contents.first(one.target.identity)
        self.writer.append([line])
        if before.mode != one.target.mode:
            self._set_mode(slot, one.target)

    def _set_mode(self, slot: EntrySlot, state: State) -> None:
        fd = os.open(slot.name, READ | os.O_NOFOLLOW, dir_fd=slot.fd)
        try:
            os.fchmod(fd, state.mode)
        finally:
            os.close(fd)
