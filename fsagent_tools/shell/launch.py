"""The one way to start a child process: confined, limited, and ended with this host."""

import errno
import fcntl
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from threading import Lock
from typing import Any
from weakref import WeakSet

from fsagent_tools.errors import CommandFailed
from fsagent_tools.runtime import owned
from fsagent_tools.shell import bubblewrap, landlock, seccomp, supervisor
from fsagent_tools.shell.egress import STARTER, Egress, variables
from fsagent_tools.shell.profile import Hosts, Launch, Profile

NONE = "none"
_GET_OWNER = 0xB701  # NS_GET_USERNS of ioctl_ns(2)
_PATIENCE = 60.0  # seconds for a program to start on a busy machine
_LAST = 1.0  # seconds for one that nobody waits for to end
_INERT = (  # what mounts cannot do: no program is started from the data
    "import marshal, os, sys\n"
    "with open(int(sys.argv[1]), 'rb') as file: code, order = marshal.load(file)\n"
    "own = {'__name__': 'landlock'}; exec(code, own)\n"
    "own['restrict'](*order, network=True, changes=False)\n"
    "os.execv(sys.argv[2], sys.argv[2:])"
)
_RUN = (
    "import marshal, sys\n"
    "with open(int(sys.argv[1]), 'rb') as file: codes, order = marshal.load(file)\n"
    "landlock, own = type(sys)('landlock'), {'__name__': 'supervisor'}\n"
    "exec(codes[0], vars(landlock)); own['landlock'] = landlock; exec(codes[1], own)\n"
    "sys.exit(own['supervise'](order, int(sys.argv[2])))"
)


def start(
    launch: Launch, streams: tuple[int, int, int], outside: Callable[[str], bool] = lambda _: True
) -> "Process":
    """A program whose standard streams are the three descriptors; the last two may be one.

    Args:
        launch: What to start, and how.
        streams: Input, output, errors.
        outside: Whether neither tools nor commands can replace a program.

    Raises:
        CommandFailed: If it cannot be started, or not as its profile requires.
    """
    if lacking := lack(launch.profile, outside):
        raise CommandFailed(
            f"The policy requires a sandbox, and this system lacks {lacking}; nothing was run.",
            hint="Use another tool, or ask the operator to change the process policy.",
        )
    try:
        if not os.access(launch.argv[0], os.X_OK):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), launch.argv[0])
        return Process(launch, streams, outside)
    except OSError as error:
        raise CommandFailed(
            f"The command could not be started: {error.strerror or error}.",
            hint="Nothing was run. Check working_dir and env, or try again later.",
        ) from None


def level(profile: Profile, outside: Callable[[str], bool] = lambda _: True) -> str:
    """What confines a program of that profile here, `none` for nothing."""
    if profile.writable is None:
        return NONE
    parts = [bubblewrap.LEVEL] if bubblewrap.find_bwrap(outside) else []
    if not parts and (version := landlock.version()):
        parts = [f"landlock-v{version}"]
    return "+".join([*parts, *(["seccomp"] if seccomp.is_available() else [])]) or NONE


def lack(profile: Profile, outside: Callable[[str], bool] = lambda _: True) -> str:
    """What this system does not have of what `profile` requires, "" for nothing."""
    has = level(profile, outside)
    if profile.writable is None or has.startswith(bubblewrap.LEVEL):
        return ""
    if profile.must_hide:
        return (
            'bubblewrap, which hides denied_paths; require_sandbox="landlock" runs commands '
            "that can read them"
        )
    if not isinstance(profile.network, bool):
        return "bubblewrap, which network=[...] needs"
    if not profile.required:
        return ""
    if "landlock" not in has:
        return "bubblewrap and Landlock"
    return "" if "seccomp" in has or profile.network else "seccomp, which closes the network"


class Process:
    """A program that was started, and everything that it starts in turn.

    Attributes:
        level: What confines it, as `bubblewrap+seccomp`.
        exit_code: 128 + N after signal N, as a shell has it; None while it runs.
        left: Names of the processes that it left behind and that were ended with it.
    """

    def __init__(
        self, launch: Launch, streams: tuple[int, int, int], outside: Callable[[str], bool]
    ) -> None:
        """Start it. Raises `OSError`, `CommandFailed`."""
        self.level = level(launch.profile, outside)
        self.exit_code: int | None = None
        self.left: list[str] = []
        self._status, self._leash, self._init, self._exit = b"", -1, -1, -1
        self._network, self._init_pid = launch.profile.network, 0
        self._egress = Egress(self._network) if isinstance(self._network, Hosts) else None
        self._writable = {*(launch.profile.writable or ())}
        self._status_fd = -1
        try:
            with _one_at_a_time:
                self._start(launch, streams, outside)
                _running.add(self)
        except BaseException:
            self._close_ours()
            raise

    def _start(
        self, launch: Launch, streams: tuple[int, int, int], outside: Callable[[str], bool]
    ) -> None:
        is_shared = any(other._writable & self._writable for other in _running if other.is_open)
        gate = os.pipe() if is_shared and self.level.startswith(bubblewrap.LEVEL) else ()
        with ExitStack() as closing:
            self._status_fd, status = os.pipe()
            for fd in (status, *gate):
                closing.callback(os.close, fd)
            kept = [status] if streams[1] == streams[2] else [status, streams[2]]
            if self.level.startswith(bubblewrap.LEVEL):
                words, passed = _in_bubblewrap(launch, kept, outside, self._egress, gate)
            else:
                words, passed, self._leash = _supervised(launch, kept, self.level)
            for fd in passed:
                closing.callback(os.close, fd)

            def begin() -> subprocess.Popen[bytes]:
                return subprocess.Popen(
                    words,
                    stdin=streams[0],
                    stdout=streams[1],
                    stderr=status,
                    env={},
                    cwd="/",
                    start_new_session=True,
                    pass_fds=(*passed, *kept[1:], *gate[:1]),
                )

            self._popen = _starter.submit(begin).result()
            owned(self)
            self._exit = os.pidfd_open(self._popen.pid)
            self._await_start()
            if gate and not bubblewrap.is_as_asked(launch.profile, self._init_pid):
                self._give_up("another command of the workspace moved what it needs")
            elif gate:
                os.write(gate[1], b"\n")

    def _await_start(self) -> None:
        """Raises `CommandFailed`."""
        until = time.monotonic() + _PATIENCE
        mark = f"{supervisor.STARTED}\n".encode()
        while mark not in self._status and self._hear_status(until - time.monotonic()):
            if self._init < 0 and (init := bubblewrap.init_of(self._status)):
                with suppress(ProcessLookupError):  # it has ended already
                    self._init, self._init_pid = os.pidfd_open(init), init
        if mark not in self._status:
            self._give_up(self._status.decode(errors="replace").strip().rpartition("\n")[2])

    def _give_up(self, reason: str) -> None:
        self.kill()
        self.wait_gone(_PATIENCE)
        self.close()
        raise CommandFailed(f"The command could not be started: {reason}. Nothing was run.")

    def _hear_status(self, seconds: float) -> bool:
        """Whether more was said on the status pipe."""
        poll = select.poll()
        poll.register(self._status_fd, select.POLLIN)
        data = os.read(self._status_fd, 1 << 16) if poll.poll(max(seconds, 0) * 1000) else b""
        self._status += data
        return bool(data)

    def fileno(self) -> int:
        """Readable once the command has ended."""
        return self._exit

    @property
    def exited(self) -> bool:
        return self.exit_code is not None

    @property
    def is_open(self) -> bool:
        """Whether `close` was not called."""
        return self._exit >= 0

    def hear(self) -> None:
        """Look whether the command has ended."""
        if self.exit_code is None and self._popen.poll() is not None:
            code = self._popen.returncode
            while self._hear_status(0):
                pass
            mark = supervisor.LEFT
            lines = self._status.decode(errors="replace").splitlines()
            self.left = [line.removeprefix(mark) for line in lines if line.startswith(mark)]
            self.exit_code = code if code >= 0 else 128 - code

    def terminate(self) -> None:
        """Ask all its processes to end."""
        if self._leash >= 0:
            with suppress(BrokenPipeError):
                os.write(self._leash, b"t")
            return
        for pid in _inside(self._popen.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def kill(self) -> None:
        """End all its processes at once."""
        if self._leash >= 0:
            os.close(self._leash)
            self._leash = -1
        elif self._init >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
        else:
            self._popen.kill()

    def wait_gone(self, seconds: float) -> bool:
        """Whether the command and everything it started have ended, waiting so long for it."""
        until = time.monotonic() + seconds
        for fd in (self._exit, self._init):  # the latter ends after all others in its namespace
            poll = select.poll()
            if fd >= 0:
                poll.register(fd, select.POLLIN)
                if not poll.poll(max(until - time.monotonic(), 0) * 1000):
                    return False
        self.hear()
        return True

    def open_network(self) -> list[int]:
        """Descriptors of its network namespace, and for an ordinary user of that one's owner.

        Empty if it has none of its own, or has ended.
        """
        fds: list[int] = []
        if self._init >= 0 and self._network is False and os.access(bubblewrap.NSENTER, os.X_OK):
            with suppress(OSError):
                fds.append(os.open(f"/proc/{self._init_pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC))
                fds += [fcntl.ioctl(fds[0], _GET_OWNER)] if os.geteuid() else []
                if not self.wait_gone(0):  # else the number may be another process's
                    return fds
            for fd in fds:
                os.close(fd)
        return []

    @property
    def refused(self) -> tuple[str, ...]:
        """Hosts that it asked for and did not reach, with the reason."""
        return (
            tuple(f"{h} {why}" for h, why in self._egress.refused.items()) if self._egress else ()
        )

    def close(self) -> None:
        """End what still runs, and forget it."""
        if self._exit >= 0:
            if not self.exited:
                self.kill()
                self.wait_gone(_LAST)
            self._close_ours()

    def disown(self) -> None:
        """The program stays with the process that this one was forked from."""
        self._popen.returncode = 0  # nobody waits for it here
        self._close_ours()

    def _close_ours(self) -> None:
        if self._egress:
            self._egress.close()
        for fd in (self._status_fd, self._leash, self._init, self._exit):
            if fd >= 0:
                os.close(fd)
        self._status_fd = self._leash = self._init = self._exit = -1


def _in_bubblewrap(
    launch: Launch,
    kept: list[int],
    outside: Callable[[str], bool],
    egress: Egress | None,
    gate: Sequence[int],
) -> tuple[list[str], list[int]]:
    """The words to start, and descriptors to pass on and close."""
    info = os.dup(kept[0])
    fds = [info]
    if seccomp.is_available():  # a network that there is not need not be refused
        fds.append(filtered := _file(seccomp.program(internet=True, alone=True)))
    argv = list(launch.argv)
    if launch.profile.data and landlock.version():
        import marshal  # see `_supervised`

        paths = (launch.profile.writable, launch.profile.readable, launch.profile.data)
        order = [list(each or ()) for each in paths]
        fds.append(_file(marshal.dumps((_CODES[0], order))))
        argv = [os.path.realpath(sys.executable), "-I", "-S", "-c", _INERT, str(fds[-1]), *argv]
    if egress:
        fds.append(egress.inside)
        python = [os.path.realpath(sys.executable), "-I", "-S", "-c", STARTER]
        argv = [*python, *egress.arguments(), *argv]
    neighbour = launch.neighbour if launch.profile.network is False else None
    networks = neighbour.open_network() if neighbour else []
    fds += networks
    words, options = bubblewrap.wrap(
        bubblewrap.find_bwrap(outside) or "bwrap",
        launch.profile,
        argv,
        env={**launch.env, **(variables() if egress else {})},
        cwd=launch.cwd,
        limits=launch.limits.numbered(),
        stderr=kept[1] if kept[1:] else None,
        filter_fd=filtered if seccomp.is_available() else None,
        info_fd=info,
        network_fds=networks,
        gate_fd=gate[0] if gate else None,
    )
    fds.append(_file(options))
    return [str(fds[-1]) if word == "ARGS" else word for word in words], fds


def _supervised(launch: Launch, kept: list[int], confined: str) -> tuple[list[str], list[int], int]:
    """The same, and our end of the leash."""
    import marshal  # these two are needed at this level only

    profile = launch.profile
    filtered = "seccomp" in confined
    confine = {
        # Without shared memory there is no semaphore of several processes, in any language.
        "writable": None if profile.writable is None else [*profile.writable, "/dev/shm"],
        "readable": None if profile.readable is None else list(profile.readable),
        "data": list(profile.data),
        "network": profile.network is True,
        "program": seccomp.program(internet=profile.network is True) if filtered else b"",
    }
    order = {
        "argv": list(launch.argv),
        "env": dict(launch.env),
        "cwd": launch.cwd,
        "limits": launch.limits.numbered(),
        "stderr": kept[1] if kept[1:] else 1,
        "confine": confine,
    }
    ours, leash = _file(marshal.dumps((_CODES, order))), os.pipe()
    python = os.path.realpath(sys.executable)
    words = [python, "-I", "-S", "-c", _RUN, str(ours), str(leash[0])]
    return words, [ours, leash[0]], leash[1]


def _codes() -> list[Any]:
    """Read once, before any command could change the files."""
    found = []
    for module in (landlock, supervisor):
        loader = getattr(find_spec(module.__name__), "loader", None)
        found.append(loader.get_code(module.__name__) if loader else None)
    return found


_CODES = _codes()


def _inside(pid: int) -> list[int]:
    """The processes of a command in bubblewrap `pid`, without its first process and our shell."""
    init = supervisor.children(pid)
    starters = supervisor.children(init[0])[:1] if init else []
    return [p for p in supervisor.descendants(pid) if p not in (*init, *starters)]


def _file(data: bytes) -> int:
    fd = os.memfd_create("fsagent")
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _renew() -> None:
    global _starter, _one_at_a_time
    _starter, _one_at_a_time = ThreadPoolExecutor(1, "fsagent-starter"), Lock()


# A program in bubblewrap ends with the thread that started it, so one starts all of them that lives
# as long as this process.
_starter = ThreadPoolExecutor(1, "fsagent-starter")
_one_at_a_time = Lock()  # what runs already is known when the next one looks
_running: WeakSet[Process] = WeakSet()
os.register_at_fork(after_in_child=_renew)
