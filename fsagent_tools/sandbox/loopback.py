"""Sockets where there is no network namespace: of this machine's own addresses, and between
commands of one workspace, only.

A thread that is not confined is told of `socket`, `connect` and `listen`. It makes sockets of the
internet itself, bound to the loopback device, which takes a privilege to change, and connects to
the address that it has read: nobody can change one between the look and the call.
"""

import _socket
import _thread
import ctypes
import errno
import os
import re
import struct
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from fsagent_tools.runtime.descriptors import held
from fsagent_tools.sandbox import kernel, mounts, processes, seccomp, users
from fsagent_tools.sandbox.connections import Notice, leads

_GET_DESCRIPTOR = 438
_UNIX, _INET, _INET6 = 1, 2, 10
_DEVICE = b"lo\0"
_MOST = 1 << 20  # bytes of servers' names
_SHORT = struct.Struct("H")
_OWN = re.compile("^/+proc/+(?:thread-)?self/")  # of who asks, and not of us


def attempt() -> None:
    """Raises `OSError` where this does not work. The calling thread is confined by it."""
    os.close(_made(_INET, _socket.SOCK_STREAM, 0))
    users.drop_privileges()
    os.close(seccomp.restrict_calls("own", alone=False, namespaces=False))


class Listeners(NamedTuple):
    """own: a file with the numbers of sockets on which commands listen. others: device and inode of
    those of everybody else that were there before.
    """

    own: int
    others: frozenset[tuple[int, int]]

    @classmethod
    def now(cls) -> "Listeners":
        found = set[tuple[int, int]]()
        for path in mounts.unix_sockets():
            with suppress(OSError):
                status = os.stat(path)
                found.add((status.st_dev, status.st_ino))
        return cls(os.memfd_create("servers"), frozenset(found))


class Loopback:
    """Begins its thread, so made before the calling one is confined. servers: what commands share.
    writable: where sockets that are files may be. outside: called when something wants to reach
    another machine.
    """

    def __init__(
        self, servers: "Listeners", writable: Sequence[str], outside: Callable[[int], None]
    ) -> None:
        self._own, self._others = servers.own, servers.others
        self._writable, self._outside = writable, outside
        self._listener, self._ready = -1, _thread.allocate_lock()
        self._ready.acquire()
        _thread.start_new_thread(self._serve, ())

    def begin(self, listener: int) -> None:
        self._listener = listener
        self._ready.release()

    def _serve(self) -> None:
        self._ready.acquire()
        wait = processes.readable((self._listener,))
        ways = {"socket": self._make, "listen": self._note, "connect": self._lead}
        while wait(None):
            with suppress(OSError):  # who wanted it has ended
                call = Notice.next(self._listener)
                way = ways[seccomp.name_of_call(call.number)]
                try:  # to connect may take time
                    _thread.start_new_thread(self._answer, (way, call))
                except RuntimeError:
                    call.answer(0, errno.EAGAIN)

    def _answer(self, way: Callable[[Notice], None], call: Notice) -> None:
        try:
            way(call)
        except Exception as error:  # noqa: BLE001 - who waits is answered, whatever it sent
            with suppress(OSError):
                call.answer(0, getattr(error, "errno", None) or errno.EACCES)

    def _make(self, call: Notice) -> None:
        family, kind, protocol = call.numbers
        if family not in (_INET, _INET6):
            call.go_on()
            return
        with held(_made(family, kind, protocol)) as fd:
            call.answer(call.give(fd, kind & os.O_CLOEXEC))

    def _note(self, call: Notice) -> None:
        """One that will listen."""
        if os.fstat(self._own).st_size > _MOST:  # a program that listens without an end
            os.ftruncate(self._own, os.lseek(self._own, 0, os.SEEK_SET))
        os.write(self._own, f"{_number(call)}\n".encode())
        call.go_on()

    def _lead(self, call: Notice) -> None:
        address = call.address()
        family = _SHORT.unpack_from(address)[0] if len(address) > 1 else -1
        if family in (_INET, _INET6):
            if far := leads(address):
                self._outside(far)
                raise OSError(errno.ENETUNREACH, "")
            port = f":{int.from_bytes(address[2:4], 'big'):04X}"
            rows = (row for name in ("tcp", "tcp6") for row in _rows(name))
            self._require(row[9] for row in rows if row[3] == "0A" and row[1].endswith(port))
        elif family == _UNIX and address[2:3] == b"\0":
            name = "@" + _decoded(address[3:].replace(b"\0", b"@"))
            rows = (row for row in _rows("unix") if row[7:] == [name])
            self._require(row[6] for row in rows if row[3] == "00010000")
        elif family == _UNIX:
            path = _OWN.sub(f"/proc/{call.thread}/", _decoded(address[2:].split(b"\0")[0]))
            path = os.path.join(f"/proc/{call.thread}/cwd", path)
            with held(os.open(path, os.O_PATH | os.O_CLOEXEC)) as fd:
                self._require_place(fd)
                _connect(call, _SHORT.pack(_UNIX) + f"/proc/self/fd/{fd}\0".encode())
            return
        _connect(call, address)

    def _require(self, servers: Iterable[str]) -> None:
        """There is one, and all are of this workspace."""
        own = os.pread(self._own, os.fstat(self._own).st_size, 0).decode().split("\n")
        if not (wanted := {*servers}) or not wanted <= {*own}:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "")

    def _require_place(self, fd: int) -> None:
        """It is where commands write, and was nobody's else when the first of them began."""
        status, path = os.fstat(fd), os.readlink(f"/proc/self/fd/{fd}")
        inside = any(f"{path}/".startswith(f"{place.rstrip('/')}/") for place in self._writable)
        if not inside or (status.st_dev, status.st_ino) in self._others:
            raise PermissionError(errno.EACCES, "")


def _connect(call: Notice, address: bytes) -> None:
    """The socket of who waits, or a new one in its place where a container forbids to share it."""
    place = call.numbers[0]
    shared, flags = _shared(call.thread, place), 0
    new = shared < 0
    if new:
        shared, flags = _another(call, _SHORT.unpack_from(address)[0])
    with held(shared) as fd:
        failed = _libc().connect(fd, address, len(address))
        error = ctypes.get_errno() if failed else 0
        if new:
            call.give(fd, flags, place)
        call.answer(0, error)


def _shared(thread: int, place: int) -> int:
    """Its descriptor as one of ours; -1 where that is not allowed."""
    with held(os.pidfd_open(int(_word_after(f"/proc/{thread}/status", "Tgid:")))) as process:
        try:
            return kernel.syscall("pidfd_getfd", _GET_DESCRIPTOR, process, place, 0)
        except PermissionError:
            return -1


def _another(call: Notice, family: int) -> tuple[int, int]:
    """A socket like the one of who waits, and its flags."""
    number = _number(call)
    kinds = [int(row[4]) for row in _rows("unix") if row[6] == number]
    flags = int(_word_after(f"/proc/{call.thread}/fdinfo/{call.numbers[0]}", "flags:"), 8)
    kind = (kinds or [_socket.SOCK_STREAM])[0] | flags & os.O_NONBLOCK
    return _made(family, kind, 0), flags & os.O_CLOEXEC


def _made(family: int, kind: int, protocol: int) -> int:
    """A socket, of the internet only for the loopback device."""
    made = _socket.socket(family, kind, protocol)
    if family != _UNIX:
        made.setsockopt(_socket.SOL_SOCKET, _socket.SO_BINDTODEVICE, _DEVICE)
    return made.detach()


def _rows(name: str) -> list[list[str]]:
    """What the kernel tells of sockets of a kind."""
    with open(f"/proc/net/{name}", "rb") as file:
        lines = _decoded(file.read()).split("\n")[1:-1]
    return [line.split(None, 7 if name == "unix" else -1) for line in lines]


def _number(call: Notice) -> str:
    """Of the socket that is the first argument."""
    link = os.readlink(f"/proc/{call.thread}/fd/{call.numbers[0]}")
    if not link.startswith("socket:["):
        raise OSError(errno.ENOTSOCK, "")
    return link[len("socket:[") : -1]


def _word_after(path: str, name: str) -> str:
    """The word after `name` in a file of the kernel's."""
    with open(path) as file:
        words = file.read().split()
    return words[words.index(name) + 1]


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)  # lets other threads run meanwhile
