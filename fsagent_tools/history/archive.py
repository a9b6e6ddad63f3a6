"""The history of one root on disk: journals that all processes append to, and old files.

An old file is called by what it was (`kept_name`), so that no line has to say where it is.
"""

import fcntl
import json
import os
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from fsagent_tools.call import new_step
from fsagent_tools.errors import NotConfigured
from fsagent_tools.files.atomic import write_all
from fsagent_tools.files.base import EntrySlot
from fsagent_tools.files.open_file import AT_CWD, READ, birth_ns, is_overlay, opened
from fsagent_tools.history.copying import copy_file, is_whole
from fsagent_tools.history.prune import JOURNAL, KEPT, KNOWN, prune, prune_all
from fsagent_tools.history.states import Identity, JournalLine, State, kept_name
from fsagent_tools.runtime.state import state_folder

FULL = 4 << 20  # bytes of a journal; then another one is begun
MOST_OF_ONE = 512 << 20  # bytes of the old files of one root
LARGE = 64 << 20  # bytes that may be added before somebody looks again
_APPENDING = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW
REMOVED = "what was kept before was removed"  # how the log tells of it
IDS_ENDING = ".ids"  # ends the name of a line index that belongs to a kept file
_room = dict[str, int]()  # bytes that this process may add to a folder before it looks again


class Archive:
    """Lines and old files, of every process that changed something beneath `root`. Thread-safe.

    No descriptor stays open; who appends holds a lock of the journal for that moment.
    """

    def __init__(self, root: Path, home: str = "") -> None:
        """Does no IO. home: see `state_folder`."""
        self.root, self._home = root, home
        self._journal = ""  # the path of the one that is written
        self._last_ns = 0
        self._first: list[JournalLine] = []  # to be written before anything else
        self._read: dict[str, tuple[int, list[JournalLine]]] = {}

    @cached_property
    def folder(self) -> str:
        """Raises `NotConfigured` where nothing can be kept."""
        folder = state_folder(os.path.realpath(self.root), "history", self._home)
        if folder is None:
            raise NotConfigured(
                "There is no place for the history of this workspace.",
                hint=f"Look at {self._home}, where it has to be."
                if self._home
                else "Set XDG_STATE_HOME to a directory outside it, or turn the history off.",
            )
        return folder

    def begin(self) -> None:
        """Make sure that there is a journal with room: somebody may have removed the whole history.

        Raises `OSError`.
        """
        with suppress(OSError):
            if os.stat(self._journal).st_size <= FULL:
                return
        gone = self._journal and not os.path.exists(self._journal)
        vars(self).pop("folder", None)  # made again if it is not there
        os.makedirs(f"{self.folder}/{KEPT}", 0o700, exist_ok=True)
        newest = max(self._journals(), default="")
        if not newest or os.stat(newest).st_size > FULL:
            newest = f"{self.folder}/{time.time_ns():016x}{JOURNAL}"
            os.close(os.open(newest, os.O_WRONLY | os.O_CREAT, 0o600))
        self._journal = newest
        prune_all(self.folder)
        if gone:
            import logging  # needed for nothing else

            logging.getLogger("fsagent_tools").warning("The history in %s is gone.", self.folder)
            self._read.clear()
            self._first = [{"step": new_step(), "checkpoint": REMOVED}]

    def append(self, about: JournalLine, lines: Sequence[JournalLine]) -> int:
        """Lines of one moment, in one write, so that they are there or not. Returns the moment.

        about: what all of them say. Raises `OSError`.
        """
        self.begin()
        with opened(AT_CWD, self._journal, _APPENDING) as fd:
            fcntl.flock(fd, fcntl.LOCK_EX)
            found = [{**about, **line} for line in (*self._first, *lines)]
            now = self._last_ns = max(time.time_ns(), self._last_ns + 1)
            text = "".join(
                json.dumps({"at": now, **line}, separators=(",", ":")) + "\n" for line in found
            )
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":
                text = f"\n{text}"  # after a line that was cut off
            try:
                write_all(fd, text.encode())
            except OSError:
                os.ftruncate(fd, size)
                raise
            self._first = []
        return now

    def keep(self, slot: EntrySlot, state: State, *, copied: bool, back: bool) -> str:
        """Keep the file in the slot, by a further name where that is enough, else as a copy.

        back: others that are kept have to stay until an undo has brought them back. Returns the
        path. Raises `OSError`.
        """
        self.begin()
        path = self._kept(state.identity)
        self._make_room(state.identity[2], back=back)
        if not copied:
            try:
                os.link(slot.name, path, src_dir_fd=slot.fd, follow_symlinks=False)
                return path
            except FileExistsError:  # the same, left by who was killed
                return path
            except OSError:  # another file system, or one without further names
                pass
        with opened(slot.fd, slot.name, READ | os.O_NOFOLLOW) as source:
            copy_file(source, path, state.identity)
        return path

    def add(self, identity: Identity, data: bytes) -> str:
        """Keep a content that a file had; returns its path."""
        path = self._kept(identity)
        with opened(AT_CWD, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as out:
            write_all(out, data)
            os.utime(out, ns=(identity[1], identity[1]))
        return path

    def take(self, known: str, identity: Identity) -> None:
        """Make a copy for commands one of the kept files, unless there is one. Raises `OSError`."""
        self.begin()
        if self.find(identity, KEPT):
            return os.unlink(known)
        os.rename(known, self._kept(identity))
        return self._make_room(identity[2])

    def keep_index(self, folder: int, names: Iterable[str], identity: Identity) -> None:
        """Keep the first line index of a kept file, which has another name for a while yet.

        An undo brought the file back before, and more of it was shown since: the newer one counts.
        """
        path = self._kept(identity) + IDS_ENDING
        with suppress(OSError):
            os.unlink(path)
        for name in names:
            with suppress(OSError):
                os.link(name, path, src_dir_fd=folder)
                break

    def index(self, identity: Identity) -> dict[str, Any] | None:
        """The line index of a kept file, None if there is none."""
        with suppress(OSError, ValueError), open(self._kept(identity) + IDS_ENDING, "rb") as file:
            return dict(json.load(file))
        return None

    def further_names(self, status: os.stat_result) -> bool:
        """Whether a file that still has its name, and whose directory is locked, has others.

        Its kept name goes: no other process is changing the file, so the one that gave it was
        killed before the rename.
        """
        names = status.st_nlink
        if names > 1 and stat.S_ISREG(status.st_mode):
            path = self._kept((status.st_ino, status.st_mtime_ns, status.st_size))
            with suppress(OSError):
                if os.path.samestat(os.lstat(path), status):
                    os.unlink(path)
                    names -= 1
        return names > 1

    def find(self, identity: Identity, *folders: str) -> str:
        """The path of what a file held, if it is unchanged; "" if it is not there.

        folders: default all, where it may only be read: a copy in `KNOWN` is of another file, too.
        """
        for folder in folders or (KEPT, KNOWN):
            path = f"{self.folder}/{folder}/{kept_name(identity)}"
            with suppress(OSError):
                if is_whole(os.lstat(path), identity):
                    return path
        return ""

    def _kept(self, identity: Identity) -> str:
        return f"{self.folder}/{KEPT}/{kept_name(identity)}"

    def has_room(self, size: int) -> bool:
        """Whether an old file of that many bytes leaves some of the bound to the others."""
        return size <= MOST_OF_ONE - LARGE

    def _make_room(self, size: int, *, back: bool = False) -> None:
        room = _room.get(self.folder, 0) - size
        if room < 0 and not back:
            room = LARGE - size
            prune([self.folder], MOST_OF_ONE - max(LARGE, size))
        _room[self.folder] = room

    def lines(self, *having: bytes, since: int = 0) -> list[JournalLine]:
        """All that can be read and have these bytes in them, in the order of time.

        since: of that moment or later. Of those of a directory that had the path before, none.
        """
        first = max(since, self._born())
        found: list[JournalLine] = []
        for path in sorted(self._journals()):
            with suppress(OSError):
                if os.stat(path).st_mtime_ns < since:
                    continue
                found += _having(path, having) if having else self._lines_of(path)
        return sorted((one for one in found if one["at"] >= first), key=_moment)

    def _born(self) -> int:
        """When the directory was made, in ns since 1970; 0 where that cannot be told."""
        root = os.path.realpath(self.root)
        if is_overlay(root):  # the first change gives it a new birth
            return 0
        born = birth_ns(AT_CWD, root) or 0
        return born if born <= time.time_ns() else 0  # by a clock of another machine

    def latest(self) -> list[JournalLine]:
        """Those of the journal that this session wrote last."""
        with suppress(OSError):
            return self._lines_of(self._journal)
        return []

    def _journals(self) -> list[str]:
        with suppress(OSError):
            names = os.listdir(self.folder)
            return [f"{self.folder}/{name}" for name in names if name.endswith(JOURNAL)]
        return []

    def _lines_of(self, path: str) -> list[JournalLine]:
        """Those of one journal; only what was added since the last look is read."""
        at, known = self._read.get(path, (0, []))
        with open(path, "rb") as file:
            file.seek(at)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._read[path] = at + len(whole), [*known, *_parsed(whole.splitlines())]
        return self._read[path][1]


def _having(path: str, parts: Sequence[bytes]) -> list[JournalLine]:
    """The lines of one journal that have these bytes in them; no others are parsed."""
    text = Path(path).read_bytes().splitlines()
    return _parsed([raw for raw in text if all(part in raw for part in parts)])


def _parsed(raws: Sequence[bytes]) -> list[JournalLine]:
    found: list[JournalLine] = []
    for raw in raws:
        with suppress(ValueError):
            line = json.loads(raw)
            if isinstance(line, dict) and isinstance(line.get("at"), int):
                found.append(line)
    return found


def _moment(line: JournalLine) -> int:
    return int(line["at"])
