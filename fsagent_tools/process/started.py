"""A running program, whoever holds it, its streams, and what wakes a thread that waits for it."""

import os
import threading
from typing import Self

from fsagent_tools.sandbox.connections import NOWHERE


class Started:
    """What is known of it.

    exit_code: minus a signal's number, as `subprocess` has it; None while it runs. left: names of
    processes that it left behind. gone: nothing more is to be heard. is_alone: it ended and left
    nothing. tried: how far something tried to get beyond a private network.
    """

    def __init__(self) -> None:
        self.exit_code: int | None = None
        self.left: list[str] = []
        self.gone = self.is_alone = False
        self.tried = NOWHERE

    @property
    def exited(self) -> bool:
        return self.exit_code is not None or self.gone


class Pipes:
    """The standard streams of a program that starts inside the block, in their order.

    Behind it its ends are closed, and ours as well where it did not start. Raises `OSError`.
    """

    def __init__(self) -> None:
        self.ours, self.theirs = list[int](), list[int]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        for fd in (*self.theirs, *(self.ours if failed else ())):
            os.close(fd)

    @property
    def streams(self) -> tuple[int, int, int]:
        """Input, output and errors; two may be one."""
        return self.theirs[0], self.theirs[1], self.theirs[-1]

    def nothing(self) -> None:
        """An empty input."""
        self.theirs.append(os.open(os.devnull, os.O_RDONLY))

    def reading(self) -> int:
        """Our end of what it writes."""
        return self._add(*os.pipe())

    def writing(self) -> int:
        """Our end of what it reads."""
        return self._add(*reversed(os.pipe()))

    def _add(self, ours: int, theirs: int) -> int:
        self.ours.append(ours)
        self.theirs.append(theirs)
        return ours


class Bell:
    """Wakes a thread that waits: `fileno()` is readable once it was rung.

    It is -1 where the system has no eventfd. Raises `OSError` without a descriptor to spare.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fd = -1
        if hasattr(os, "eventfd"):
            self._fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def fileno(self) -> int:
        return self._fd

    def ring(self) -> None:
        """From any thread, at any time."""
        with self._lock:
            if self._fd >= 0:
                os.eventfd_write(self._fd, 1)

    def hear(self) -> None:
        """It is silent again."""
        os.eventfd_read(self._fd)

    def close(self) -> None:
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
            self._fd = -1
