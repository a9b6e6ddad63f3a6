"""What there was before a command, for who comes after a host that was killed while it ran."""

import contextlib
import marshal
import os
import weakref
from collections.abc import Iterator
from typing import BinaryIO

from fsagent_tools.policy import Policy
from fsagent_tools.process.putback import Remembered
from fsagent_tools.runtime.state import state_folder

_IDLE, _RUNS = b"0", b"1"
# root, write_denied, since when a command may have closed directories, what there was
Left = tuple[str, tuple[str, ...], int, dict[str, Remembered]]


class Standing:
    """A file of this process for one root, outside of it. It is locked while a command runs, and
    its first byte says that one does.
    """

    def __init__(self, root: str, policy: Policy, since: int) -> None:
        self._root, self._rules, self._since = root, tuple(policy.write_denied), since
        self._kept: object = None
        self._fd, self._running = -1, 0
        folder = state_folder(root or "/", "standing")
        self.others = [f"{folder}/{name}" for name in os.listdir(folder)] if folder else []
        self.path = f"{folder}/{os.getpid()}-{os.urandom(4).hex()}" if folder else ""
        weakref.finalize(self, _remove, self.path, os.getpid())

    def begin(self, before: dict[str, Remembered]) -> None:
        self._running += 1
        if not self.path:
            return
        with contextlib.suppress(OSError):
            if self._fd < 0:
                import fcntl

                self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._fd, fcntl.LOCK_EX)
            if self._kept != before or os.fstat(self._fd).st_size <= 1:
                record = self._root, self._rules, self._since, {p: (*e,) for p, e in before.items()}
                os.ftruncate(self._fd, 0)
                os.pwrite(self._fd, marshal.dumps(record), 1)
                self._kept = dict(before)
            os.pwrite(self._fd, _RUNS, 0)

    def of_others(self, seen: dict[str, Remembered]) -> dict[str, Remembered]:
        """What there was before commands of others that run in the root now, else `seen`."""
        folder, own = os.path.split(self.path)
        names = list[str]()
        with contextlib.suppress(OSError):  # somebody removed it
            names = os.listdir(folder) if folder else []
        for name in names:
            with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
                if name == own:
                    continue
                with open(f"{folder}/{name}", "rb") as file:
                    if left := _read(file):
                        _, rules, _, theirs = left
                        return theirs if rules == self._rules else {**seen, **theirs}
        return seen

    def end(self) -> None:
        self._running -= 1
        if self._fd >= 0 and not self._running:
            with contextlib.suppress(OSError):
                os.pwrite(self._fd, _IDLE, 0)
            os.close(self._fd)
            self._fd = -1


def _remove(path: str, maker: int) -> None:
    if os.getpid() == maker:  # and not one that was forked from it
        with contextlib.suppress(OSError):
            os.unlink(path)


def left_by(path: str) -> Iterator[Left]:
    """What stood in such a file, if its host was killed while a command ran; the file goes after
    that. Raises `OSError` while its host works.
    """
    import fcntl

    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        left = _read(file)
        if left:
            yield left
        if left or not _is_alive(int(os.path.basename(path).partition("-")[0])):
            os.unlink(path)


def _read(file: BinaryIO) -> Left | None:
    """What stands in it, None where no command runs or ran."""
    if file.read(1) != _RUNS:
        return None
    root, rules, since, before = marshal.loads(file.read())
    return root, rules, since, {path: Remembered(*entry) for path, entry in before.items()}


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
