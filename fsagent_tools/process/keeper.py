"""The keeper: holds the namespaces of one workspace, starts its programs, ends with its host.

Run as a script (`python -I -S keeper.py FD`), standard library only, one thread. Messages are
`marshal` values; FD is a SOCK_SEQPACKET socket, whose other end only the host has. Standard input
is a pipe of the host, which writes a byte when it needs nothing any more.

1. host -> keeper: the fields of `kept.View`, one message.
   keeper -> host: "" when it is ready, else what is not possible here, and it ends.
2. host -> keeper: any byte, with two descriptors: a control socket, and a file that holds a room.
   The process that is forked then takes it itself, so that the keeper reads nothing, and is from
   then on what `sandbox/first.py` says.
3. host -> first process, on the control socket: an order, with standard input, output and error;
   `TERM` sends SIGTERM to all processes, `END` ends them, and so does closing the socket.
   first process -> host: ("taken",) before its first program is run, so that the host knows it;
   ("started",), which a program may keep it from telling, or ("failed", error number, what) and
   the end; ("exited", wait status, whether it left nothing, whether another order may follow,
   which is so only then, how far it tried to get beyond a private network, see
   `sandbox/connections.py`);
   ("left", names) as the answer to `END`.

A room is what a program may do, and the same for many: {"limits": resource number -> value,
"profile": see `confine`, "read_only", "hidden", "pinned": paths, "only": a path or ""}. An order is
{"argv", "env": all of it, "cwd": a path, "place": its device and inode}.
"""

import _socket
import contextlib
import gc
import marshal
import os
import signal
import struct
import sys
import time
from typing import Any, NoReturn

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from fsagent_tools.sandbox import kernel, mounts, processes, users
from fsagent_tools.sandbox.first import First
from fsagent_tools.sandbox.loopback import Listeners

_OWN_PID_MAX = (6, 14)  # since this kernel a PID namespace has its own; before, it is the machine's
_FEWEST_PIDS = 301
_OOM_SCORE = 500  # of 1000: when memory runs out, a command ends before its host does
_ENDING, _LONGEST_END = 0.001, 5.0  # seconds between two looks, and until it is given up
_STDIN = 0
_ROOM = struct.Struct("2i")  # descriptors: the control socket, a file
_SIOCSIFFLAGS, _UP_RUNNING = 0x8914, 0x1 | 0x40


class Tending:
    def __init__(self, sock: _socket.socket) -> None:
        self.sock = sock
        self.host = os.pidfd_open(os.getppid())
        self.view: dict[str, Any] = marshal.loads(sock.recv(1 << 20))
        self.flags = kernel.NEWPID | kernel.NEWNS if self.view["namespaces"] else 0

    def run(self) -> NoReturn:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, as a host may have it, none ends
        kernel.prefer_to_end(_OOM_SCORE)
        if self.view["temporary"]:
            self._be_outlived()
        os.dup2(os.open(os.devnull, os.O_RDONLY), _STDIN)
        self.servers = None if self.flags else Listeners.now()
        try:
            if self.flags:
                self._enter()
        except OSError as error:
            self.sock.send(marshal.dumps(str(error)))
            os._exit(1)
        self.sock.send(marshal.dumps(""))
        os.chdir("/")
        self._serve()

    def _be_outlived(self) -> None:
        """By a process outside, which removes what is temporary of a host that had no time to, and
        stays for that when nothing was to be done here for long.
        """
        if child := os.fork():
            kernel.close_to_tracing()
            self.sock.close()
            os.waitpid(child, 0)
            released = processes.readable((self.host, _STDIN))(None) == [_STDIN]
            if not (released and os.read(_STDIN, 1)):  # else the host is about to end
                import shutil

                processes.readable((self.host,))(None)
                shutil.rmtree(self.view["temporary"], ignore_errors=True)
                if self.view["standing"]:
                    from fsagent_tools.process.judge import recover

                    recover(self.view["standing"])
            os._exit(0)
        kernel.die_with_parent()

    def _enter(self) -> None:
        """Into namespaces; what returns is process 1 of a new PID namespace."""
        import fcntl

        sockets = [] if self.view["network"] else mounts.unix_sockets()
        network = 0 if self.view["network"] else kernel.NEWNET
        users.begin(kernel.NEWNS | kernel.NEWPID | kernel.NEWIPC | network)
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
        mounts.build(self.view["writable"], self.view["shown"], self.view["temporary"])
        if network:
            mounts.hide_sockets(sockets, self.view["writable"])
        mounts.mount_proc(writable=True)
        if tuple(map(int, os.uname().release.split(".")[:2])) >= _OWN_PID_MAX:
            most = max(_FEWEST_PIDS, self.view["processes"])
            users.write_to("/proc/sys/kernel/pid_max", str(most))

    def _serve(self) -> NoReturn:
        """One process for each room; it takes its message itself."""
        kernel.close_to_tracing()
        gc.freeze()  # a collection would touch, and so copy, what all processes share
        gc.disable()
        children, since, unused = set[int](), time.monotonic(), self.view["unused"]
        requests, fds = self.sock.fileno(), [self.sock.fileno(), self.host]
        if not self.flags:
            kernel.adopt_orphans()
            fds.append(kernel.descriptor_of(signal.SIGCHLD))
        wait = processes.readable(tuple(fds))
        while True:
            ready = wait(min(30, unused))
            children -= {*processes.reaped()[0]}
            if self.host in ready:
                self._end()
            for woken in {*ready} & {*fds[2:]}:
                os.read(woken, 4096)
                self._end_orphans(children)
            if requests in ready:
                try:
                    children.add(self._fork())
                except OSError as error:  # what runs here goes on, however many processes it has
                    self._refuse(error)
            since = time.monotonic() if children else since
            if time.monotonic() - since > unused:
                os._exit(0)

    def _end_orphans(self, known: set[int]) -> None:
        """What a first process left that a program has killed. What these leave is told again."""
        for pid in processes.children_of(os.getpid()):
            if pid not in known:
                with contextlib.suppress(ProcessLookupError):
                    processes.send(-os.getpgid(pid), signal.SIGKILL)
                processes.send(pid, signal.SIGKILL)

    def _end(self) -> NoReturn:
        """A PID namespace ends with this process; elsewhere all that descends from it is killed."""
        until = time.monotonic() + _LONGEST_END
        while not (self.flags or processes.reaped()[1]) and time.monotonic() < until:
            for pid in processes.descendants(os.getpid()):
                processes.send(pid, signal.SIGKILL)
            time.sleep(_ENDING)
        os._exit(0)

    def _fork(self) -> int:
        given, taking = os.pipe()
        try:
            child = kernel.fork_into(self.flags)
        except OSError:
            os.close(given)
            os.close(taking)
            raise
        if child == 0:
            First(taking, self.host, self.view["unused"], self.servers).run(self.sock)
        os.close(taking)
        if not os.read(given, 1):
            self._end()  # the host is gone
        os.close(given)
        return child

    def _refuse(self, error: OSError) -> None:
        """Tell who asks for a room that there can be none."""
        size, flags = _socket.CMSG_SPACE(_ROOM.size), _socket.MSG_CMSG_CLOEXEC
        _, ancillary, _, _ = self.sock.recvmsg(1, size, flags)
        if not ancillary:
            self._end()
        control, room = _ROOM.unpack(ancillary[0][2])
        os.close(room)
        asking = _socket.socket(fileno=control)
        with contextlib.suppress(OSError):
            asking.recv(1)  # the order, and none of its descriptors
            asking.send(marshal.dumps(("failed", error.errno or 0, str(error.strerror or error))))
        asking.close()


if __name__ == "__main__":
    Tending(_socket.socket(fileno=int(sys.argv[1]))).run()
