"""What has begun and may not run twice, kept outside the root so that no call runs twice."""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from threading import get_ident
from typing import Any
from weakref import finalize

from fsagent_tools.call import current
from fsagent_tools.errors import NotConfigured
from fsagent_tools.runtime.once import once
from fsagent_tools.runtime.state import state_folder

KEPT = 30 * 24 * 3600  # seconds
_LOOK = 0.05  # seconds between two looks whether a run of the same call has ended


class CallRecord:
    """One call: nothing yet, begun, or ended with what it answered. Locked while it is open."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        lines = os.pread(descriptor, os.fstat(descriptor).st_size, 0).splitlines()
        self.begun = bool(lines)
        self.answer: dict[str, Any] | None = None
        with suppress(ValueError, IndexError):  # cut off: its end is not known
            self.answer = json.loads(lines[1])

    def begin(self) -> None:
        """Before the effect: from here on the call is never run again."""
        if not self.begun:
            self.begun = True
            self._append(b"begun\n")

    def end(self, answer: Mapping[str, Any]) -> None:
        """What is to be told when the call is run again."""
        self._append(json.dumps(answer).encode() + b"\n")

    def _append(self, line: bytes) -> None:
        while line:
            line = line[os.write(self._descriptor, line) :]
        os.fsync(self._descriptor)


class Ledger:
    """Records of calls and short notes, by key, for 30 days; they survive this process.

    root: whose calls. They are in `home`, or for "" in `$XDG_STATE_HOME/fsagent` (default
    `~/.local/state/fsagent`), readable by this user only; where that cannot be, or is inside the
    root, and for None, they are in a temporary directory that goes with the ledger.
    """

    def __init__(self, root: Path | None, home: str = "") -> None:
        self._root, self._home = root, home

    def check(self) -> None:
        """Raises `NotConfigured` if a later version wrote it, or it has no place."""
        _ = self._folder

    @contextmanager
    def record(self, key: str) -> Iterator[CallRecord]:
        """The call's record, once every other run of the same call has ended."""
        descriptor = os.open(self._path(key), os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            while not _locked(descriptor):
                current.get().check()
                time.sleep(_LOOK)
            yield CallRecord(descriptor)
        finally:
            os.close(descriptor)

    def note(self, key: str, value: object) -> None:
        """Keep a JSON-able value, in place of an earlier one."""
        path = self._path(key)
        new = path.with_suffix(f".{os.getpid()}-{get_ident()}")
        new.write_text(json.dumps(value))
        new.replace(path)

    def noted(self, key: str) -> Any:
        """The value kept last, or None."""
        try:
            return json.loads(self._path(key).read_text())
        except (OSError, ValueError):
            return None

    def _path(self, key: str) -> Path:
        return self._folder / sha256(key.encode(errors="surrogatepass")).hexdigest()[:32]

    @once
    def _folder(self) -> Path:
        root = str(self._root.resolve()) if self._root else "/"
        folder = state_folder(root, "calls", self._home)
        if folder is None and self._home:
            raise NotConfigured(
                f"Records of calls cannot be written to {self._home}. Nothing was done.",
                hint="It is the `state` of this workspace: make it writable, or mount it.",
            )
        if folder is None:
            return self._passing
        with suppress(OSError):
            _prune(Path(folder))
        return Path(folder)

    @once
    def _passing(self) -> Path:
        from tempfile import mkdtemp  # takes a fiftieth of a start, and is seldom needed

        folder = Path(mkdtemp(prefix="fsagent-calls-"))
        finalize(self, _remove, folder, os.getpid())
        return folder


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove(folder: Path, maker: int) -> None:
    if os.getpid() == maker:  # one that was forked from it uses it, too
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


def _prune(folder: Path) -> None:
    oldest = time.time() - KEPT
    for path in folder.iterdir():
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
