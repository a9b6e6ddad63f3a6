"""What has begun and may not run twice, kept outside the root so that no call runs twice."""

import errno
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from weakref import finalize

from fsagent_tools.approval.records import DirectoryState, leases
from fsagent_tools.errors import NotConfigured, OutcomeUnknown
from fsagent_tools.runtime.once import once
from fsagent_tools.runtime.state import state_folder

KEPT = 30 * 24 * 3600  # seconds


class CallRecord:
    """One call: nothing yet, begun, or ended with what it answered. Leased while it is open.

    asks: what the call asks for. other: whether another one has begun under its name.
    """

    def __init__(self, store: DirectoryState, key: str, asks: str) -> None:
        self._store, self._key, held = store, key, store.get(key)
        self._mark = f"begun {asks}\n".encode()
        self.begun, self._tag = held is not None, held and held.tag
        begun, end, answer = held.data.partition(b"\n") if held else (b"", b"", b"")
        known = end and begun != b"begun"  # neither cut off, nor an earlier version's
        self.other = bool(known and begun + end != self._mark)
        self.answer: dict[str, Any] | None = None
        with suppress(ValueError):  # cut off: its end is not known
            self.answer = json.loads(answer)

    def begin(self) -> None:
        """Before the effect: from here on the call is never run again. Raises `OutcomeUnknown` if
        another process was first.
        """
        if not self.begun:
            with writable(self._store):
                self._tag = self._store.create(self._key, self._mark)
            if self._tag is None:
                raise OutcomeUnknown(
                    "This call was begun by another process meanwhile.",
                    hint="It was not run again: check what it did before you go on.",
                )
            self.begun = True

    def end(self, answer: Mapping[str, Any]) -> None:
        """What is to be told when the call is run again; else its end is not known."""
        with suppress(OSError):
            ended = self._mark + json.dumps(answer).encode() + b"\n"
            self._store.replace(self._key, ended, self._tag)


class Ledger:
    """Records of calls and short notes, by key, for 30 days; they survive this process.

    root: whose calls. state: the directory where they are, "" for
    `$XDG_STATE_HOME/fsagent` (default `~/.local/state/fsagent`), readable by this user only; where
    that cannot be, or is inside the root, and for None, they are in a temporary directory that goes
    with the ledger.
    """

    def __init__(self, root: Path | None, state: str = "") -> None:
        self._root, self._state = str(root.resolve()) if root else "/", state

    @contextmanager
    def record(self, key: str, asks: str) -> Iterator[CallRecord]:
        """The call's record, once every other run of the same call has ended. asks: see there.

        Raises `NotConfigured` if a later version wrote it, or it has no place.
        """
        name = _name(key)
        with ExitStack() as leased:
            with writable(self._place):
                leased.enter_context(self._store.lease(name))
                record = CallRecord(self._store, name, asks)
            yield record

    def note(self, key: str, value: object) -> None:
        """Keep a JSON-able value, in place of an earlier one."""
        with writable(self._place):
            self._store.put(_name(key), json.dumps(value).encode())

    def noted(self, key: str) -> Any:
        """The value kept last, or None."""
        with suppress(OSError, ValueError):
            held = self._store.get(_name(key))
            return held and json.loads(held.data)
        return None

    @property
    def _place(self) -> object:
        return self._state or "the state directory"

    @once
    def _store(self) -> DirectoryState:
        store = DirectoryState(self._folder)
        with suppress(OSError):
            _prune(store)
        return store

    @once
    def _folder(self) -> Path:
        folder = state_folder(self._root, "calls", self._state)
        if folder is None and self._state:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self._state)
        return Path(folder) if folder else self._passing

    @once
    def _passing(self) -> Path:
        from tempfile import mkdtemp  # takes a fiftieth of a start, and is seldom needed

        folder = Path(mkdtemp(prefix="fsagent-calls-"))
        finalize(self, _remove, folder, os.getpid())
        return folder


@contextmanager
def writable(place: object) -> Iterator[None]:
    """Raises `NotConfigured` for the `OSError` of a place that cannot be written."""
    try:
        yield
    except OSError as error:
        raise NotConfigured(
            f"Records of calls cannot be written to {place} ({error}). Nothing was done.",
            hint="Make it writable, or mount it.",
        ) from error


def _name(key: str) -> str:
    return sha256(key.encode(errors="surrogatepass")).hexdigest()[:32]


def _remove(folder: Path, maker: int) -> None:
    if os.getpid() == maker:  # one that was forked from it uses it, too
        for path in (*folder.iterdir(), leases(folder)):
            path.unlink(missing_ok=True)
        folder.rmdir()


def _prune(store: DirectoryState) -> None:
    listed = [*store.written()]
    now = min(time.time(), max((written for _, written in listed), default=0))  # of two clocks
    for key, written in listed:
        if now - written > KEPT:
            store.delete(key)
