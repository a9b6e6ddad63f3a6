"""The host's side of the keeper: starts it, gives it programs, hears how they end."""

import contextlib
import marshal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import Any

from fsagent_tools.process import keeper
from fsagent_tools.process.room import ANSWER, MESSAGE, InRoom, KeeperGone, Room, Terms, file_of

_FREE = 2  # rooms that wait for their next program


@dataclass(frozen=True)
class View:
    """What all programs of one keeper share.

    writable: absolute paths that may change. processes: how many there may be at the same time, in
    all. unused: seconds without a program after which it ends. temporary: a directory that goes
    with the host, however that ends, and is on /tmp and /var/tmp, too; "" for none. shown: what
    else there is in these two. standing: a file of `Standing`, which is asked after a killed host.
    """

    writable: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    network: bool = False
    namespaces: bool = False
    processes: int = 1 << 22
    unused: float = 600.0
    temporary: str = ""
    standing: str = ""


class Keeper:
    """One keeper process. `start` may be called from any thread."""

    def __init__(self, view: View) -> None:
        """Start it and wait until it is ready. Raises `OSError` when the view is not possible."""
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        self._view = view
        self._rooms: list[Room] = []  # without a program
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", keeper.__file__, str(theirs.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={},
                start_new_session=True,
            )
        try:
            self._socket.send(marshal.dumps(vars(view)))
            self._socket.settimeout(ANSWER)
            answer = self._socket.recv(MESSAGE)
            failure = marshal.loads(answer) if answer else "the keeper ended at its start"
            if failure:
                raise OSError(0, failure)
        except OSError:
            self.close()
            raise

    def start(self, terms: Terms, order: dict[str, Any], streams: tuple[int, int, int]) -> InRoom:
        """Start a program whose standard streams are the three descriptors: in a room that has
        become free, or in a new one.

        Raises `KeeperGone`, or `OSError` when the program cannot be started.
        """
        while room := self._free(terms):
            with contextlib.suppress(KeeperGone):  # it was unused for too long
                return self._begin(room, order, streams)
        return self._begin(self._new(terms), order, streams)

    def _free(self, terms: Terms) -> Room | None:
        with self._lock:
            while self._rooms:
                room = self._rooms.pop()
                if room.fits(terms):
                    return room
                room.close()
        return None

    def _new(self, terms: Terms) -> Room:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        room = Room(terms, ours, namespaces=self._view.namespaces)
        try:
            with theirs, file_of(terms) as file, self._lock:
                socket.send_fds(self._socket, [b"r"], [theirs.fileno(), file.fileno()])
        except OSError as error:
            room.close()
            raise KeeperGone from error
        return room

    def _begin(self, room: Room, order: dict[str, Any], streams: tuple[int, int, int]) -> InRoom:
        try:
            room.start(order, streams)
        except BaseException:
            room.close()
            raise
        return InRoom(room, self._take_back)

    def _take_back(self, room: Room) -> None:
        """`room` has no program any more."""
        with self._lock:
            if len(self._rooms) < _FREE and self._socket.fileno() >= 0:
                self._rooms.append(room)
                return
        room.close()

    def disown(self) -> None:
        """Close what a forked process has of it."""
        self._socket.close()
        for room in self._rooms:
            room.disown()
        if self._process.stdin:
            self._process.stdin.close()
        self._process.returncode = 0  # nobody here waits for it

    def close(self) -> None:
        """End it and with it everything it started."""
        with self._lock:
            self._socket.close()
            while self._rooms:
                self._rooms.pop().close()
        if self._process.stdin:
            with contextlib.suppress(OSError, ValueError), self._process.stdin as released:
                released.write(b"r")  # ValueError: it was closed before
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
