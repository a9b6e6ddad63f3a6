"""Wakes a thread that waits for a command."""

import os
import threading


class Bell:
    """`fileno()` is readable once it was rung; -1 where the system has no eventfd.

    Raises `OSError` without a descriptor to spare.
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
