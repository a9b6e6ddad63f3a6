"""The history of one root on disk: parts that processes write, one at a time each."""

import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import ref

from fsagent_tools.errors import NotConfigured
from fsagent_tools.files.syscalls import birth_ns
from fsagent_tools.history.part import IDS_ENDING, JOURNAL, KEPT, Part
from fsagent_tools.history.places import history_folder
from fsagent_tools.history.prune import mend, prune
from fsagent_tools.history.states import COPIES, Identity, JournalLine, known_name

_HERE = -100  # AT_FDCWD of linux/fcntl.h
MOST_HELD = 8  # parts that a process keeps open, each with a descriptor
_held: OrderedDict[str, Part] = OrderedDict()
_holding = threading.Lock()


class Archive:
    """Lines and old files, of every process that changed something beneath `root`. Thread-safe."""

    def __init__(self, root: Path) -> None:
        """Does no IO."""
        self.root = root
        self._lock = threading.Lock()
        self._part: ref[Part] | None = None
        self._last = ""  # the name of the part that this session wrote
        self._read: dict[str, tuple[int, list[JournalLine]]] = {}

    @cached_property
    def folder(self) -> Path:
        """Raises `NotConfigured` where nothing can be kept."""
        folder = history_folder(self.root)
        if folder is None:
            raise NotConfigured(
                "There is no place for the history of this workspace.",
                hint="Set XDG_STATE_HOME to a directory outside it, or turn the history off.",
            )
        return folder

    @property
    def part(self) -> Part:
        """The part that this process writes. Raises `OSError`."""
        part = self._part() if self._part else None
        if part is None or part.full or part.gone:
            with self._lock:
                part = self._part() if self._part else None
                if part is None or part.full or part.gone:
                    if again := part is not None:
                        self._done(part)
                    part = None  # free to be dropped
                    part = self._begin(again=again)
                    self._part = ref(part)
                    _hold(part)
        return part

    def disown(self) -> None:
        """In a forked process: the part stays with the process that was forked."""
        self._lock, self._part = threading.Lock(), None

    def _begin(self, *, again: bool) -> Part:
        """The part that was written last, if no other process writes it; else a new one."""
        vars(self).pop("folder", None)  # made again if somebody removed it
        names = [] if again else [name for name in (self._last, self._newest()) if name]
        for name in names:
            if (held := _held.get(f"{self.folder}/{name}")) and not (held.full or held.gone):
                self._last = name  # another session of this process writes it, too
                return held
            with suppress(OSError):
                found = Part(f"{self.folder}/{name}")
                mend(self.folder / name)
                if not found.full:
                    self._last = name
                    return found
        prune(self.folder)
        self._last = f"{time.time_ns():016x}-{os.getpid()}"
        (self.folder / self._last / KEPT).mkdir(mode=0o700, parents=True)
        return Part(f"{self.folder}/{self._last}")

    def _done(self, part: Part) -> None:
        """It is full, or somebody removed the history: begin anew."""
        _let_go(part)
        if part.gone:
            import logging  # needed for nothing else

            logging.getLogger("fsagent_tools").warning("The history in %s is gone.", self.folder)
            self._read.clear()

    def _newest(self) -> str:
        with suppress(OSError):
            return max((name for name in os.listdir(self.folder) if name[0] != "."), default="")
        return ""

    def lines(self, *having: bytes, newest: bool = False) -> list[JournalLine]:
        """All that can be read and have these bytes in them, in the order of time.

        newest: of each part the last one only.
        """
        found: list[JournalLine] = []
        for folder in self._folders():
            with suppress(OSError):
                some = self._lines_of(folder) if not having else _having(folder, having)
                found += some[-1:] if newest else some
        return self._in_order(found)

    def newest(self) -> list[JournalLine]:
        """Those of the part that this session wrote last."""
        with suppress(OSError):
            return self._in_order(self._lines_of(self.folder / self._last)) if self._last else []
        return []

    def since(self, moment: int) -> list[JournalLine]:
        """Those of that moment or later, in the order of time; older parts are not read."""
        found: list[JournalLine] = []
        for folder in self._folders():
            with suppress(OSError):
                if (folder / JOURNAL).stat().st_mtime_ns >= moment:
                    found += [line for line in self._lines_of(folder) if line["at"] >= moment]
        return self._in_order(found)

    def _in_order(self, lines: list[JournalLine]) -> list[JournalLine]:
        """Those of this directory, in the order of time, and of none that had its path before."""
        born = birth_ns(_HERE, os.path.realpath(self.root)) or 0
        first = born if born <= time.time_ns() else 0  # by a clock of another machine
        some = [line for line in lines if line["at"] >= first]
        return sorted(some, key=lambda line: int(line["at"]))

    def _lines_of(self, folder: Path) -> list[JournalLine]:
        """Those of one part; only what was added since the last look is read."""
        at, known = self._read.get(folder.name, (0, []))
        with (folder / JOURNAL).open("rb") as file:
            file.seek(at)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        new = [line for raw in whole.splitlines() if (line := _parsed(raw))]
        self._read[folder.name] = at + len(whole), [*known, *new]
        return self._read[folder.name][1]

    def kept(self) -> dict[Identity, str]:
        """Paths of the old files by what they are now, whatever the lines say."""
        found: dict[Identity, str] = {}
        for folder in self._folders():
            with suppress(OSError), os.scandir(folder / KEPT) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    found[status.st_ino, status.st_mtime_ns, status.st_size] = entry.path
        return found

    def drop_names(self, status: os.stat_result) -> None:
        """Drop the kept names of a file that still has its own, and whose directory is locked.

        So no other process is changing it: the one that gave them was killed before the rename.
        """
        for folder in self._folders():
            with suppress(OSError), os.scandir(folder / KEPT) as entries:
                for entry in entries:
                    if entry.inode() != status.st_ino or entry.name.endswith(IDS_ENDING):
                        continue
                    if os.path.samestat(entry.stat(follow_symlinks=False), status):
                        os.unlink(entry.path)

    def known(self, identity: Identity) -> Path:
        """Where a copy of a file would be that commands may change."""
        return self.folder / COPIES / known_name(identity)

    def file(self, reference: str) -> Path:
        """A kept file, by what a line calls it."""
        part, _, name = reference.partition("/")
        return self.folder / Path(part).name / KEPT / Path(name).name

    def _folders(self) -> list[Path]:
        with suppress(OSError):
            return sorted(path for path in self.folder.iterdir() if path.name[:1].isalnum())
        return []

    def close(self) -> None:
        """The part that was written is free for others; the next change opens one again."""
        with self._lock:
            if self._part and (part := self._part()):
                _let_go(part)
            self._part = None


def _having(folder: Path, parts: Sequence[bytes]) -> list[JournalLine]:
    """The lines of one part that have these bytes in them; no others are parsed."""
    text = (folder / JOURNAL).read_bytes()
    some = [raw for raw in text.splitlines() if all(part in raw for part in parts)]
    return [line for raw in some if (line := _parsed(raw))]


def _hold(part: Part) -> None:
    """Keep it open until others are needed more; who is writing into it holds it, too."""
    with _holding:
        _held[part.folder] = part
        while len(_held) > MOST_HELD:
            _held.popitem(last=False)


def _let_go(part: Part) -> None:
    with _holding:
        _held.pop(part.folder, None)


def _forget_holding() -> None:
    """In a forked child: the parts are the parent's, and no thread would give the lock back."""
    global _holding
    _holding = threading.Lock()
    _held.clear()


os.register_at_fork(after_in_child=_forget_holding)


def _parsed(raw: bytes) -> dict[str, Any] | None:
    with suppress(ValueError):
        line = json.loads(raw)
        if isinstance(line, dict) and isinstance(line.get("at"), int):
            return line
    return None
