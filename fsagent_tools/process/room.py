"""The host's side of a first process (see `keeper.py`): ready for program after program."""

import contextlib
import marshal
import os
import signal
import socket
import struct
import time
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from fsagent_tools.process.started import Started
from fsagent_tools.sandbox import processes
from fsagent_tools.sandbox.first import END, LONGEST, TERM

Terms = Mapping[str, Any]
_CREDENTIALS = struct.Struct("3i")
MESSAGE = 1 << 16  # bytes; the longest names of 20 processes are far below
_CLOSED = ("read_only", "hidden")
ANSWER = 20.0  # seconds for a keeper or a first process to answer, on the slowest machine
_STOPPED = 0.5  # seconds until one that has not answered is told to go on


class KeeperGone(Exception):
    """The keeper ended before it took a program; nothing was run."""


class Room:
    """terms: what is told to the first process, a room of `keeper.py`. namespaces: whether all in
    it ends with that process; elsewhere it is the keeper that ends what that leaves.
    """

    def __init__(self, terms: Terms, control: socket.socket, *, namespaces: bool) -> None:
        self.control = control
        self.first = -1  # pidfd of the first process, once it has answered
        self.namespaces = namespaces
        self._terms = terms
        self._places = _places(terms)
        control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST)
        control.settimeout(ANSWER)

    def fits(self, terms: Terms) -> bool:
        """Whether it is as one that would be made now: the rules are about files, not names."""
        return self._terms == terms and self._places == _places(terms)

    def start(self, order: dict[str, Any], streams: tuple[int, int, int]) -> None:
        """Raises `KeeperGone`, or `OSError` when the program cannot be started."""
        try:
            socket.send_fds(self.control, [marshal.dumps(order)], streams)
            kind, *failure = self._met() if self.first < 0 else self._begun()
        except ConnectionError as error:  # the order is unread
            raise KeeperGone from error
        if kind == "failed":
            raise OSError(*failure)

    def _met(self) -> tuple[Any, ...]:
        """What became of its first program: who tells it is not known before."""
        size = socket.CMSG_SPACE(_CREDENTIALS.size)
        data, ancillary, _, _ = self.control.recvmsg(MESSAGE, size)
        if not data:
            raise KeeperGone
        answer: tuple[Any, ...] = marshal.loads(data)
        if answer[0] == "failed":  # told by the keeper: there is no first process
            return answer
        with contextlib.suppress(ProcessLookupError):  # it has ended
            self.first = os.pidfd_open(_CREDENTIALS.unpack(ancillary[0][2])[0])
        return self._begun()

    def _begun(self) -> tuple[Any, ...]:
        """What became of the program, which may end or stop the process that would tell."""
        wait, until = processes.readable((self.control.fileno(),)), time.monotonic() + ANSWER
        while not (ready := wait(_STOPPED)) and time.monotonic() < until:
            self._signal(signal.SIGCONT)
        data = self.control.recv(MESSAGE) if ready else b""
        return marshal.loads(data) if data else ("started",)

    def tell(self, word: bytes) -> None:
        """A word to its first process, which a program may have stopped."""
        with contextlib.suppress(OSError):
            self.control.send(word)
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self.first >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self.first, number)

    def close(self) -> None:
        """Its first process ends, and be it that a program has stopped it."""
        self.kill()
        self.disown()

    def disown(self) -> None:
        """Close what this process has of it; it ends when no process has it any more."""
        self.control.close()
        first, self.first = self.first, -1
        if first >= 0:
            os.close(first)


class InRoom(Started):
    """`fileno()` is readable when `hear` has something to take. free: gets the room when another
    program may follow in it.
    """

    def __init__(self, room: Room, free: Callable[[Room], None]) -> None:
        super().__init__()
        self._room, self._free = room, free
        self._clean = False  # another program may follow

    def fileno(self) -> int:
        return self._room.control.fileno()

    def hear(self) -> None:
        """Take one message."""
        try:
            data = self._room.control.recv(MESSAGE)
        except OSError:
            data = b""
        if not data:
            self.gone, self._clean = True, False
            return
        kind, *rest = marshal.loads(data)
        if kind == "exited":
            status, self.is_alone, self._clean, self.tried = rest
            code = os.waitstatus_to_exitcode(status)
            self.exit_code = code if code >= 0 else 128 - code
        elif kind == "left":
            self.left = rest[0]

    def terminate(self) -> None:
        """SIGTERM to all its processes."""
        self._room.tell(TERM)

    def end(self) -> None:
        """Name in `left` what is there besides the program, and end all; `hear` until `gone`."""
        self._clean = False
        self._room.tell(END)

    def kill(self) -> None:
        """End all its processes at once: those of a PID namespace end with its first."""
        if self._room.namespaces:
            self._clean = False
            self._room.kill()
        else:
            self.end()

    def wait_gone(self, seconds: float) -> bool:
        """Whether all its processes have ended, awaited for `seconds`."""
        fd = self._room.first if self._room.first >= 0 else self.fileno()
        return bool(processes.readable((fd,))(max(0.0, seconds)))  # less would mean for ever

    def close(self) -> None:
        (self._free if self._clean else Room.close)(self._room)


def file_of(message: Mapping[str, Any]) -> BinaryIO:
    """A file in memory, to be sent: it may be longer than a socket takes."""
    file = open(os.memfd_create("message"), "w+b", buffering=0)  # noqa: SIM115  the caller closes
    file.write(marshal.dumps(dict(message)))
    file.seek(0)
    return file


def _places(terms: Terms) -> list[tuple[int, ...] | None]:
    """Which file every rule is about; None where there is none. A new one may have the inode of one
    that was removed, but not its time of change.
    """
    profile = terms["profile"]
    only = (terms["only"],) if terms["only"] else ()
    opened = (profile["writable"], profile["readable"], terms["pinned"], only)
    return [
        *(_place(path) for paths in opened for path in paths or ()),
        *(_place(path, changed=True) for name in _CLOSED for path in terms[name]),
    ]


def _place(path: str, *, changed: bool = False) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_ctime_ns if changed else 0
