"""The first process of a program's own processes: starts it, waits for it, ends what it leaves.

Started by the keeper (see `process/keeper.py` for what is said to it). As process 1 of a PID
namespace it takes all with it when it ends, however it ends. Without namespaces it adopts every
orphan among its descendants, and kills those until there are none.
"""

import _socket
import contextlib
import errno
import marshal
import os
import signal
import struct
import time
from collections.abc import Iterator
from typing import Any, NoReturn

from fsagent_tools.runtime.descriptors import held
from fsagent_tools.sandbox import connections, kernel, mounts, processes, seccomp
from fsagent_tools.sandbox.confine import confine
from fsagent_tools.sandbox.loopback import Listeners, Loopback

TERM, END = b"T", b"E"
LONGEST = 400_000  # bytes of an order
_MOST_DESCRIPTORS = 3
SETTLE = 0.02  # seconds for processes that are ending by themselves
_ENDING = 0.001  # seconds between two looks at what was sent SIGKILL
_NAMED = 20  # processes left behind that are named
_MOST = 100  # programs, one after the other: a limit of computing counts its own time, too
_DEFAULT = tuple(map(int, signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}))


class First:
    """taking: a pipe that says that it took its room. host: a pidfd. unused: seconds without a
    program after which it ends. servers: what all rooms share that are in no
    namespaces; without, it is process 1 of one.
    """

    def __init__(self, taking: int, host: int, unused: float, servers: Listeners | None) -> None:
        self.taking, self.host, self.unused, self.servers = taking, host, unused, servers
        self.alone = servers is None
        self.program = self.programs = 0
        self.left_others = False
        self.listener = -1  # tells where programs connect to, if anything does
        self.tried = connections.NOWHERE  # how far a program tried to get beyond its network
        self.buffer = memoryview(bytearray(LONGEST))
        self.files: int | None = None  # how many a program may have open, if that is limited
        self.refused: OSError | None = None  # why it could not be confined

    def run(self, keeper: _socket.socket) -> NoReturn:
        try:
            room = self._take(keeper)
            try:
                self._prepare(room)
                self._change_view(room)
                self._confine(room["profile"])
                self.files = processes.limit(room["limits"])
                self.profile = room["profile"]
            except OSError as error:
                self.refused = error
            self._watch()
        finally:
            while self.program:  # whatever went wrong here, the program does not outlive it
                with contextlib.suppress(OSError):
                    self._end()
            os._exit(1)

    def _take(self, keeper: _socket.socket) -> dict[str, Any]:
        _, fds = self._received(keeper)
        if not fds:
            os._exit(0)
        os.write(self.taking, b"t")
        keeper.close()
        self.control = _socket.socket(fileno=fds[0])
        with open(fds[1], "rb", buffering=0) as file:
            room: dict[str, Any] = marshal.loads(file.read())
        return room

    def _prepare(self, room: dict[str, Any]) -> None:
        if self.alone:
            # A new user namespace is set up there. What belongs to root in it is the machine's.
            mounts.mount_proc(writable=room["profile"]["namespaces"] and os.geteuid() != 0)
        else:
            kernel.adopt_orphans()
        os.setsid()  # one for all programs: the scheduler takes a new session for a newcomer
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # no program ends it by chance
        self.nothing = os.dup(0)
        self.woken = kernel.descriptor_of(signal.SIGCHLD)

    def _change_view(self, room: dict[str, Any]) -> None:
        if self.alone:
            for change, paths in (
                (mounts.pin, room["pinned"]),
                (mounts.make_read_only, room["read_only"]),
                (mounts.hide, room["hidden"]),
            ):
                for path in paths:
                    with contextlib.suppress(FileNotFoundError):
                        change(path)
            if room["only"]:
                mounts.show_only(room["only"], room["profile"]["readable"])

    def _confine(self, profile: dict[str, Any]) -> None:
        if profile["sockets"] == "own" and self.servers:
            loopback = Loopback(self.servers, profile["writable"], self._is_tried)
            loopback.begin(confine(profile, self.alone))
        else:
            self.listener = confine(profile, self.alone)

    def _is_tried(self, far: int) -> None:
        self.tried = max(self.tried, far)

    def _watch(self) -> NoReturn:
        control = self.control.fileno()
        fds = (control, self.woken, self.host, self.listener)
        wait = processes.readable(tuple(fd for fd in fds if fd >= 0))
        while True:
            ready = wait(None if self.program else self.unused)
            if self.host in ready or not (ready or self.program):
                self._end()
            if self.woken in ready:
                os.read(self.woken, 4096)
                self._reap()
            if self.listener in ready:
                self._is_tried(connections.destination(self.listener))
            if control in ready:
                self._obey()

    def _reap(self) -> None:
        ended, none_left = processes.reaped()
        if self.program in ended:
            self.left_others = not none_left
            last = none_left and self.programs == _MOST
            self._tell(("exited", ended[self.program], none_left, not last, self.tried))
            if last:
                os._exit(0)
            if none_left:
                self.program = 0
        elif self.left_others and none_left:
            os._exit(0)

    def _obey(self) -> None:
        try:
            word, fds = self._received(self.control)
        except ConnectionResetError:  # the host went with a message unread
            word = b""
        if fds:
            self._start(marshal.loads(word), fds)
            return
        if word == TERM:
            self._signal(signal.SIGTERM)
            return
        if word == END:
            time.sleep(SETTLE)
            self._signal(signal.SIGSTOP)  # what is stopped makes no more processes
            processes.reaped()
            self._tell(
                ("left", [f"{processes.name_of(pid)} ({pid})" for pid in self._others()[:_NAMED]])
            )
        self._end()

    def _start(self, order: dict[str, Any], streams: tuple[int, ...]) -> None:
        """Start the program, or end.

        This process is confined with it, so that it can be spawned: to fork a Python process and
        to touch its memory takes several times as long.
        """
        argv = order["argv"]
        if not self.programs:
            self._tell(("taken",))
        try:
            if self.refused:
                raise self.refused
            os.chdir(order["cwd"])
            status = os.stat(".")
            if (status.st_dev, status.st_ino) != order["place"]:
                raise FileNotFoundError(errno.ENOENT, "the working directory was replaced")
            for number, fd in enumerate(streams):
                os.dup2(fd, number)
                os.close(fd)
            self.tried = connections.NOWHERE
            with self._handing_over() as words, processes.open_files(self.files):
                self.program = os.posix_spawn(
                    argv[0],
                    [argv[0], *words, *argv[1:]],
                    order["env"],
                    setpgroup=0,
                    setsigmask=(),
                    setsigdef=_DEFAULT,
                )
        except OSError as error:
            self._tell(("failed", error.errno or 0, str(error.strerror or error)))
            os._exit(1)
        for number in range(len(streams)):
            os.dup2(self.nothing, number)
        self.programs += 1
        self._tell(("started",))

    @contextlib.contextmanager
    def _handing_over(self) -> Iterator[tuple[str, ...]]:
        """Words for bubblewrap, which filters calls itself: some that it makes would be refused."""
        if self.profile["writable"] is not None or not self.profile["filtered"]:
            yield ()
            return
        with held(seccomp.handed_over(self.profile["sockets"], self.profile["namespaces"])) as fd:
            yield ("--seccomp", str(fd))

    def _end(self) -> NoReturn:
        """The kernel ends what is in the namespace of a process 1; else all are killed."""
        while self.program and not self.alone:
            self._signal(signal.SIGKILL)
            if processes.reaped()[1]:
                break
            time.sleep(_ENDING)
        os._exit(0)

    def _signal(self, number: int) -> None:
        """To all processes but this one; the program's own group before any is looked for."""
        if self.program:
            processes.send(-1 if self.alone else -self.program, number)
            for pid in () if self.alone else processes.descendants(os.getpid()):
                processes.send(pid, number)

    def _others(self) -> list[int]:
        """All that it has to end, ended ones that nobody waited for left out."""
        found = processes.descendants(os.getpid())
        return [pid for pid, state in found.items() if state not in "ZX"]

    def _tell(self, message: tuple[Any, ...]) -> None:
        try:
            self.control.send(marshal.dumps(message))
        except OSError:
            self._end()

    def _received(self, sock: _socket.socket) -> tuple[bytes, tuple[int, ...]]:
        """A message, and the descriptors that came with it, if there are any."""
        space, flags = _socket.CMSG_SPACE(4 * _MOST_DESCRIPTORS), _socket.MSG_CMSG_CLOEXEC
        size, ancillary, _, _ = sock.recvmsg_into([self.buffer], space, flags)
        fds = ancillary[0][2] if ancillary else b""
        return bytes(self.buffer[:size]), struct.unpack(f"{len(fds) // 4}i", fds)
