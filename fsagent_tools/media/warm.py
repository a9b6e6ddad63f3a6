"""Children that read documents, one at a time each; the last one is kept for the next document."""

import json
import os
import select
import socket
import threading
import time
import weakref
from collections.abc import Callable

from fsagent_tools.call import current
from fsagent_tools.errors import TimedOut
from fsagent_tools.runtime import owned
from fsagent_tools.shell.launch import start
from fsagent_tools.shell.profile import Launch
from fsagent_tools.shell.runner import Wakeup

LOST = 255  # the exit code of a child that ended before it told one
_PATIENCE = 2.0  # seconds for a child to end


class Readers:
    """May be asked from any thread. launch: what a child is started as, see `child.py`."""

    def __init__(self, launch: Callable[[], Launch]) -> None:
        self._launch = launch
        self._lock = threading.Lock()
        self._idle: list[_Reader] = []
        weakref.finalize(self, _end, self._idle)
        owned(self)

    def ask(self, question: bytes, document: int, answer: int, seconds: float) -> int:
        """The exit code of who read `document` and wrote `answer`, `LOST` without one.

        Raises `TimedOut` after `seconds`, `Cancelled` with the call; both end the child.
        """
        files, until = (document, answer), time.monotonic() + seconds
        launch = self._launch()
        with self._lock:
            warm = self._idle.pop() if self._idle else None
        if warm and warm.launch == launch:
            code = self._asked(warm, question, files, until)
            if code is not None:  # else it had ended, since nobody asked for so long
                return code
        elif warm:
            warm.end()
        code = self._asked(_Reader(launch), question, files, until)
        return LOST if code is None else code

    def disown(self) -> None:
        """The children are those of the process that was forked."""
        self._lock = threading.Lock()
        self._idle.clear()

    def _asked(
        self, reader: "_Reader", question: bytes, files: tuple[int, int], until: float
    ) -> int | None:
        code = None
        try:
            code = reader.ask(question, files, until)
        finally:
            with self._lock:
                keep = code is not None and not self._idle
                if keep:
                    self._idle.append(reader)
            if not keep:
                reader.end()
        return code


class _Reader:
    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self._sock, theirs = socket.socketpair()
        try:
            with theirs, open(os.devnull, "r+b") as nothing:
                streams = theirs.fileno(), nothing.fileno(), nothing.fileno()
                self._child = start(launch, streams)
        except BaseException:
            self._sock.close()
            raise

    def ask(self, question: bytes, files: tuple[int, int], until: float) -> int | None:
        """The exit code, None if the child has ended."""
        try:
            socket.send_fds(self._sock, [question], files)
            self._wait(until)
            reply = self._sock.recv(64)
        except ConnectionError:
            return None
        return int(json.loads(reply)) if reply else None

    def _wait(self, until: float) -> None:
        call, bell, poll = current.get(), Wakeup(), select.poll()
        poll.register(self._sock, select.POLLIN)
        poll.register(bell, select.POLLIN)
        try:
            with call.cancelled.waking(bell.ring):
                while True:
                    call.check()
                    left = until - time.monotonic()
                    if left <= 0:
                        raise TimedOut("Reading the document took too long.")
                    if self._sock.fileno() in dict(poll.poll(1000 * left)):
                        return
        finally:
            bell.close()

    def end(self) -> None:
        self._child.kill()
        self._child.wait_gone(_PATIENCE)
        self._child.close()
        self._sock.close()


def _end(idle: list[_Reader]) -> None:
    while idle:
        idle.pop().end()
