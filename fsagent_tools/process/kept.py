"""The host's side of the keeper: starts it, gives it programs, hears how they end."""

import contextlib
import marshal
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fsagent_tools.process import keeper
from fsagent_tools.process.keeper import END, TERM

_CREDENTIALS = struct.Struct("3i")
_MESSAGE = 1 << 16  # bytes; the longest names of 20 processes are far below
_ANSWER = 20.0  # seconds for a keeper or an init to answer, on the slowest machine


class KeeperGone(Exception):
    """The keeper ended before it took a program; nothing was run."""


@dataclass(frozen=True)
class View:
    """What all programs of one keeper share. writable: absolute paths that may change."""

    writable: tuple[str, ...] = ()
    network: bool = False
    namespaces: bool = False
    processes: int = 1 << 22


class Keeper:
    """One keeper process. `start` may be called from any thread."""

    def __init__(self, view: View) -> None:
        """Start it and wait until it is ready. Raises `OSError` when the view is not possible."""
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        self._view = view
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", keeper.__file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={},
                start_new_session=True,
            )
        try:
            self._socket.send(marshal.dumps(vars(view)))
            self._socket.settimeout(_ANSWER)
            answer = self._socket.recv(_MESSAGE)
            failure = marshal.loads(answer) if answer else "the keeper ended at its start"
            if failure:
                raise OSError(0, failure)
        except OSError:
            self.close()
            raise

    def start(self, request: Mapping[str, Any], streams: tuple[int, int, int]) -> "Kept":
        """Start a program, see `keeper.Order`, whose standard streams are the three descriptors.

        Raises `KeeperGone`, or `OSError` when the program cannot be started.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        file = os.memfd_create("request")
        try:
            with theirs, open(file, "wb") as writer:
                marshal.dump(dict(request), writer)
                writer.flush()
                os.lseek(file, 0, os.SEEK_SET)
                with self._lock:
                    socket.send_fds(self._socket, [b"r"], [theirs.fileno(), file, *streams])
        except OSError as error:
            ours.close()
            raise KeeperGone from error
        kept = Kept(ours, self._view.namespaces)
        try:
            kept.await_start()
        except BaseException:
            kept.close()
            raise
        return kept

    def close(self) -> None:
        """End it and with it everything it started."""
        self._socket.close()
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Kept:
    """A running program. `fileno()` is readable when `hear` has something to take."""

    def __init__(self, control: socket.socket, namespaces: bool) -> None:
        self.exit_code: int | None = None  # minus a signal's number, as `subprocess` has it
        self.left: list[str] = []  # names of processes that it left behind
        self.gone = False  # nothing more is to be heard
        self.is_alone = False  # it ended and left nothing
        self._control = control
        self._namespaces = namespaces
        self._init = -1  # pidfd of the first process of its PID namespace

    def fileno(self) -> int:
        return self._control.fileno()

    def await_start(self) -> None:
        self._control.settimeout(_ANSWER)
        try:
            data, ancillary, _, _ = self._control.recvmsg(
                _MESSAGE, socket.CMSG_SPACE(_CREDENTIALS.size)
            )
        except ConnectionError as error:
            raise KeeperGone from error
        if not data:
            raise KeeperGone
        message = marshal.loads(data)
        if message[0] == "failed":
            raise OSError(message[1], message[2])
        if self._namespaces:
            with contextlib.suppress(ProcessLookupError):  # it has ended, and all with it
                self._init = os.pidfd_open(_CREDENTIALS.unpack(ancillary[0][2])[0])

    def hear(self) -> None:
        """Take one message."""
        try:
            data = self._control.recv(_MESSAGE)
        except OSError:
            data = b""
        if not data:
            self.gone = True
            return
        kind, value, *rest = marshal.loads(data)
        if kind == "exited":
            self.exit_code, self.is_alone = os.waitstatus_to_exitcode(value), rest[0]
        elif kind == "left":
            self.left = value

    def terminate(self) -> None:
        """SIGTERM to all its processes."""
        self._tell(TERM)

    def end(self) -> None:
        """Name in `left` what is there besides the program, and end all; `hear` until `gone`."""
        self._tell(END)

    def kill(self) -> None:
        """End all its processes at once: those of a PID namespace end with its first."""
        if self._init >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
        else:
            self._tell(END)

    def wait_gone(self, seconds: float) -> bool:
        """Whether all its processes have ended, awaited for `seconds`."""
        fd = self._init if self._init >= 0 else self._control.fileno()
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return bool(poll.poll(1000 * seconds))

    def close(self) -> None:
        self._control.close()
        if self._init >= 0:
            os.close(self._init)
            self._init = -1

    def _tell(self, word: bytes) -> None:
        with contextlib.suppress(OSError):
            self._control.send(word)
