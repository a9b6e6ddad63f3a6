"""The keeper: holds the namespaces of one workspace, starts its programs, ends with its host.

Run as a script (`python -I -S keeper.py FD`), standard library only, one thread. Messages are
`marshal` values; FD is a SOCK_SEQPACKET socket, whose other end only the host has.

1. host -> keeper: {"namespaces", "network", "writable", "processes"}, one message.
   keeper -> host: "" when it is ready, else what is not possible here, and it ends.
2. host -> keeper: any byte, with five descriptors: a control socket, a file that holds the
   request (see `Order`), and standard input, output and error. One for each program. An init
   process that was forked in advance takes it, so that the keeper itself reads nothing.
3. init -> host, on the control socket: ("started",), or ("failed", error number, what) and the end;
   ("exited", wait status, whether it is alone); ("left", names) as the answer to `END`.
   host -> init: `TERM` sends SIGTERM to all processes, `END` ends them, closing the socket as well.

Init is process 1 of a PID namespace: when it ends, however it ends, the kernel ends all its
processes, and it ends with the keeper. Without namespaces it adopts every orphan among its
descendants, and kills those until there are none.
"""

import _socket
import contextlib
import errno
import marshal
import os
import signal
import struct
import sys
import time
from typing import Any, NoReturn

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from fsagent_tools.sandbox import kernel, mounts, processes
from fsagent_tools.sandbox.confine import confine, limited

TERM, END = b"T", b"E"
DESCRIPTORS = 5
_IDLE = 600.0  # seconds without a program after which the keeper ends
SETTLE = 0.02  # seconds for processes that are ending by themselves
_NAMED = 20  # processes left behind that are named
_OWN_PID_MAX = (6, 14)  # since this kernel a PID namespace has its own; before, it is the machine's
_FEWEST_PIDS = 301
_SIOCSIFFLAGS, _UP_RUNNING = 0x8914, 0x1 | 0x40
Order = dict[str, Any]
"""argv, env: of the program; env is whole. cwd: its path, `place` its device and inode.
limits: resource number -> value. profile: see `confine`. read_only, hidden, pinned: further paths
for this program alone."""


class Tending:
    def __init__(self, sock: _socket.socket) -> None:
        self.sock = sock
        self.host = os.pidfd_open(os.getppid())
        self.view: dict[str, Any] = marshal.loads(sock.recv(1 << 20))
        self.flags = kernel.NEWPID | kernel.NEWNS if self.view["namespaces"] else 0

    def run(self) -> NoReturn:
        try:
            if self.flags:
                self._enter()
        except OSError as error:
            self.sock.send(marshal.dumps(str(error)))
            os._exit(1)
        self.sock.send(marshal.dumps(""))
        os.chdir("/")
        self._serve()

    def _enter(self) -> None:
        """Into namespaces; what returns is process 1 of a new PID namespace."""
        import fcntl

        user, group = os.geteuid(), os.getegid()
        sockets = [] if self.view["network"] else mounts.unix_sockets()
        network = 0 if self.view["network"] else kernel.NEWNET
        kernel.unshare(kernel.NEWUSER | kernel.NEWNS | kernel.NEWPID | kernel.NEWIPC | network)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
        if network:
            any_socket = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
            request = struct.pack("16sh14x", b"lo", _UP_RUNNING)
            fcntl.ioctl(any_socket.fileno(), _SIOCSIFFLAGS, request)
            any_socket.close()
        if init := os.fork():
            self.sock.close()
            os.waitpid(init, 0)
            os._exit(0)
        kernel.die_with_parent()
        mounts.build(self.view["writable"])
        if network:
            mounts.hide_sockets(sockets, self.view["writable"])
        mounts.mount_proc(writable=True)
        if tuple(map(int, os.uname().release.split(".")[:2])) >= _OWN_PID_MAX:
            _write("/proc/sys/kernel/pid_max", str(max(_FEWEST_PIDS, self.view["processes"])))

    def _serve(self) -> NoReturn:
        """Always one init that waits for a program; the next is forked when it has one."""
        kernel.close_to_tracing()
        children, since = set[int](), time.monotonic()
        while True:
            taken, told = os.pipe()
            child = kernel.fork_into(self.flags)
            if child == 0:
                Init(self, told).run()
            os.close(told)
            children.add(child)
            while not processes.readable((taken, self.host), 30):
                _reap(children)
                since = time.monotonic() if len(children) > 1 else since
                if time.monotonic() - since > _IDLE:
                    os._exit(0)
            if not os.read(taken, 1) or processes.readable((self.host,), 0):
                os._exit(0)  # the host is gone, or the one that waited was ended
            os.close(taken)
            _reap(children)
            since = time.monotonic()


class Init:
    """The first process of one program's own processes."""

    def __init__(self, keeper: Tending, told: int) -> None:
        self.keeper, self.told = keeper, told
        self.alone = bool(keeper.flags)
        self.program = 0

    def run(self) -> NoReturn:
        try:
            self._prepare()
            self._take()
            self._watch()
        finally:
            while self.program:  # whatever went wrong here, the program does not outlive it
                with contextlib.suppress(OSError):
                    self._end()
            os._exit(1)

    def _prepare(self) -> None:
        if self.alone:
            mounts.mount_proc()
        else:
            kernel.adopt_orphans()
            os.setpgid(0, 0)
        self.woken, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self.woken, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(wake)

    def _take(self) -> None:
        message, ancillary, _, _ = self.keeper.sock.recvmsg(1, _socket.CMSG_SPACE(4 * DESCRIPTORS))
        if not message:
            os._exit(0)
        os.write(self.told, b"t")
        fds = struct.unpack(f"{DESCRIPTORS}i", ancillary[0][2])
        for fd in fds:
            os.set_inheritable(fd, False)
        self.keeper.sock.close()
        self.control = _socket.socket(fileno=fds[0])
        with open(fds[1], "rb") as file:
            request: Order = marshal.load(file)
        failure = self._start(request, fds[2:])
        for fd in fds[2:]:
            os.close(fd)
        self._tell(failure or ("started",))
        if failure:
            os._exit(1)

    def _start(self, request: Order, streams: tuple[int, ...]) -> tuple[Any, ...] | None:
        """Start the program; what failed, or None when it runs.

        This process is confined with it, so that it can be spawned: to fork a Python process and
        to touch its memory takes several times as long.
        """
        argv, nothing = request["argv"], os.dup(0)
        try:
            self._change_view(request)
            confine(request["profile"], self.alone)
            for number, fd in enumerate(streams):
                os.dup2(fd, number)
            with limited(request["limits"]):
                self.program = os.posix_spawn(
                    argv[0],
                    argv,
                    request["env"],
                    setsid=True,
                    setsigmask=(),
                    setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),  # which Python ignores
                )
        except OSError as error:
            return ("failed", error.errno or 0, str(error.strerror or error))
        for number in range(len(streams)):
            os.dup2(nothing, number)
        return None

    def _change_view(self, request: Order) -> None:
        if self.alone:
            for change, paths in (
                (mounts.pin, request["pinned"]),
                (mounts.make_read_only, request["read_only"]),
                (mounts.hide, request["hidden"]),
            ):
                for path in paths:
                    if os.path.lexists(path):
                        change(path)
        os.chdir(request["cwd"])
        status = os.stat(".")
        if (status.st_dev, status.st_ino) != request["place"]:
            raise FileNotFoundError(errno.ENOENT, "the working directory was replaced")

    def _watch(self) -> None:
        status: int | None = None
        while True:
            ready = processes.readable((self.control.fileno(), self.woken, self.keeper.host), None)
            if self.keeper.host in ready:
                self._end()
            if self.woken in ready:
                os.read(self.woken, 4096)
                ended = dict(processes.reaped())
                if status is None and self.program in ended:
                    status = ended[self.program]
                    self._tell(("exited", status, not self._others()))
                if status is not None and not self._others():
                    os._exit(0)
            if self.control.fileno() in ready:
                self._obey()

    def _obey(self) -> None:
        try:
            word = self.control.recv(1)
        except ConnectionResetError:  # the host went with a message unread
            word = b""
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

    def _end(self) -> NoReturn:
        """The kernel ends what is in the namespace of a process 1; else all are killed."""
        while not self.alone:
            self._signal(signal.SIGKILL)
            processes.reaped()
            if not self._others():
                break
        os._exit(0)

    def _signal(self, number: int) -> None:
        """To all processes but this one; the program's own group before any is looked for."""
        processes.send(-1 if self.alone else -self.program, number)
        for pid in () if self.alone else self._others():
            processes.send(pid, number)

    def _others(self) -> list[int]:
        """All processes but this one, ended ones that nobody waited for left out."""
        if self.alone:
            found = [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]
        else:
            found = processes.descendants(os.getpid())
        return [pid for pid in found if processes.state_of(pid) not in "ZX"]

    def _tell(self, message: tuple[Any, ...]) -> None:
        try:
            self.control.send(marshal.dumps(message))
        except OSError:
            self._end()


def _reap(children: set[int]) -> None:
    children -= {pid for pid, _ in processes.reaped()}


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


if __name__ == "__main__":
    Tending(_socket.socket(fileno=int(sys.argv[1]))).run()
