"""Runs of a thread that go on beside each other, in this process and in others."""

import fcntl
import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from weakref import WeakSet, finalize

from fsagent_tools.runtime.forked import owned
from fsagent_tools.runtime.state import state_folder

__all__ = ["ThreadRun"]


class ThreadRun:
    """One run of a thread, held by its framework until the run ends.

    Args:
        lasting: Whether the framework holds it. Otherwise it is known to go on only while it is
            `working`.
    """

    def __init__(self, *, lasting: bool = True) -> None:
        self.step, self.last, self.beside = "", "", False
        self._lasting, self._steps = lasting, list[None]()
        self._place = self._name = ""
        self._end: Callable[[], object] = lambda: None

    @contextmanager
    def working(self) -> Iterator[None]:
        """Around a step."""
        self._steps.append(None)  # atomic, as counting is not
        try:
            yield
        finally:
            self._steps.pop()

    @property
    def is_working(self) -> bool:
        return bool(self._steps)

    def begin(self, root: str, thread: str, home: str = "") -> None:
        """From now on others see it go on. home: see `state_folder`."""
        name = sha256(f"{root}\0{thread}".encode(errors="surrogatepass")).hexdigest()[:16]
        self._name = f"{name}-{os.urandom(8).hex()}"
        place = state_folder(os.path.realpath(root), "runs", home) if self._lasting else None
        if place:
            file = Path(place, self._name)
            self._place, self._end = place, finalize(self, _end, _locked(file), file, os.getpid())
            owned(self)
        _runs.add(self)

    def end(self) -> None:
        """It does not go on, or, in a forked process, does so in the other one."""
        self._end()
        _runs.discard(self)

    disown = end

    def others(self) -> tuple[bool, bool]:
        """Whether other runs of the thread go on, and whether one may be at a step."""
        here = self._here()
        if here and not any(here.values()):
            gc.collect()  # one that ended by an error is in a cycle with its frames
            here = self._here()
        known, files = {self._name, *here}, Path(self._place or os.devnull).glob(f"{self._thread}*")
        elsewhere = any(_goes_on(file) for file in files if file.name not in known)
        return elsewhere or bool(here), elsewhere or any(here.values())

    @property
    def _thread(self) -> str:
        return self._name.partition("-")[0]

    def _here(self) -> dict[str, bool]:
        """Names of those in this process, and whether they are working."""
        same = [run for run in [*_runs] if run._thread == self._thread and run is not self]
        return {run._name: run.is_working for run in same if run._lasting or run.is_working}


def _locked(file: Path) -> int:
    """A new locked file; it has its name once it is locked."""
    hidden = file.with_name(f".{file.name}")
    lock = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    hidden.rename(file)
    return lock


def _end(lock: int, file: Path, process: int) -> None:
    if os.getpid() == process:
        with suppress(OSError):
            file.unlink()
    os.close(lock)


def _goes_on(file: Path) -> bool:
    """Whether a process has locked the file; one that nobody does is removed."""
    with suppress(OSError):
        lock = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            file.unlink()
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
    return False


_runs = WeakSet[ThreadRun]()
