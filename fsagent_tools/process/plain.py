"""A child of the host itself, where there is no keeper: its process group is all that is known."""

import _thread
import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from fsagent_tools.policy import Limits
from fsagent_tools.process.limits import rlimits
from fsagent_tools.sandbox import landlock, seccomp
from fsagent_tools.sandbox.confine import confine

_LIBRARIES = (  # what programs are made of
    *("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store"),
    *("/etc/ld.so.cache", "/dev/urandom"),
)
_PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "SYSTEMROOT")  # variables of the host
_SET_SIGNAL = 10  # F_SETSIG of fcntl(2)
_LEASH = "FSAGENT_LEASH"  # variable of a child: the number of its leash
_T = TypeVar("_T")


class PlainChild:
    """Has the shape of `kept.Kept`; `fileno()` is -1 where the system has no pidfd."""

    def __init__(
        self,
        terms: Mapping[str, Any],
        order: Mapping[str, Any],
        streams: tuple[int, int, int],
    ) -> None:
        """Start it. Raises `OSError`."""
        self.exit_code: int | None = None
        self.left: list[str] = []
        self.gone = self.is_alone = self.tried = False

        def popen() -> "subprocess.Popen[bytes]":
            return subprocess.Popen(
                order["argv"],
                cwd=order["cwd"],
                env=order["env"],
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                start_new_session=True,
            )

        profile = terms["profile"]
        if profile["landlock"] or profile["filtered"]:
            self._process = _in_thread(lambda: confine(profile, alone=False), popen)
        else:
            self._process = popen()
        self._exit = -1
        with contextlib.suppress(AttributeError, OSError):
            self._exit = os.pidfd_open(self._process.pid)

    def fileno(self) -> int:
        return self._exit

    def hear(self) -> None:
        """Look whether it has ended; a zombie until `close` keeps the group's number."""
        ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is not None:
            signalled = ended.si_code != os.CLD_EXITED
            self.exit_code = -ended.si_status if signalled else ended.si_status
            self.gone = True

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    end = kill

    def wait_gone(self, seconds: float) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode is not None

    def close(self) -> None:
        if self._process.returncode is None:
            self.kill()
        self.wait_gone(1)
        if self._exit >= 0:
            os.close(self._exit)
            self._exit = -1

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.name == "posix":
                    os.killpg(self._process.pid, number)
                else:
                    self._process.kill()


def libraries() -> tuple[str, ...]:
    """What programs are made of, our own interpreter among them."""
    return (*_LIBRARIES, *map(os.path.realpath, (sys.prefix, sys.base_prefix)))


def start_reader(
    argv: Sequence[str], readable: Iterable[str], cwd: str | None, stdin: int
) -> "subprocess.Popen[bytes]":
    """A program that reads `readable` and what programs are made of, writes nothing and opens no
    socket, as far as this kernel can hold it to that. Its output is piped. On Linux its process
    group ends with this process, however that ends. Raises `OSError`.
    """
    profile = {
        "writable": (),
        "readable": (*readable, *libraries()),
        "landlock": landlock.abi(),
        "sockets": "closed",
        "filtered": seccomp.available(),
    }

    leash = _leash()
    env = {name: os.environ[name] for name in _PASSED if name in os.environ}
    if leash:
        env[_LEASH] = str(leash[0])

    def popen() -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            argv,
            cwd=cwd,
            pass_fds=leash,
            env=env,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    try:
        if profile["landlock"] or profile["filtered"]:
            process = _in_thread(lambda: confine(profile, alone=False), popen)
        else:
            process = popen()
        for fd in leash:
            _tie(fd, process.pid)
    finally:
        for fd in leash:
            os.close(fd)
    return process


def run_reader(
    argv: Sequence[str], readable: Iterable[str], given: bytes, seconds: float, limits: Limits
) -> tuple[bytes, bytes]:
    """Output and errors of a reader, see `start_reader`, with `given` as its input. `limits` hold
    from before it gets its input: what it does ahead of that is its own start.

    Raises `TimeoutError` after `seconds`, `OSError` when it cannot be started.
    """
    with start_reader(argv, readable, "/" if os.name == "posix" else None, subprocess.PIPE) as it:
        try:
            if sys.platform.startswith("linux"):
                _limit(it.pid, limits)
            return it.communicate(given, timeout=max(seconds, 0.01))
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        finally:
            it.kill()


def _limit(pid: int, limits: Limits) -> None:
    import resource

    for number, value in rlimits(limits).items():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            resource.prlimit(pid, number, (value, value))


@cache
def _alive() -> str:
    """A pipe that is written by this process alone: it breaks when this process has ended."""
    return f"/proc/self/fd/{os.pipe()[0]}"


def _leash() -> tuple[int, ...]:
    """A descriptor for a child to inherit; none elsewhere than on Linux."""
    if not sys.platform.startswith("linux"):
        return ()
    with contextlib.suppress(OSError):
        return (os.open(_alive(), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC),)
    return ()


def _tie(fd: int, group: int) -> None:
    """While any process holds `fd`, the kernel sends SIGKILL to `group` when the pipe breaks.

    PR_SET_PDEATHSIG would mean the end of the thread that starts a child, which is at once.
    """
    import fcntl

    fcntl.fcntl(fd, _SET_SIGNAL, signal.SIGKILL)
    fcntl.fcntl(fd, fcntl.F_SETOWN, -group)
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)


def tie_to_host() -> None:
    """Called by a child of `start_reader`: ends it with its host, also if that has ended already.

    The host ties its children, too, but may be killed before it has come to that.
    """
    if fd := os.environ.get(_LEASH):
        _tie(int(fd), os.getpgrp())
        if select.select([int(fd)], [], [], 0)[0]:  # nothing is ever written: the pipe is broken
            os._exit(1)


def _in_thread(enter: Callable[[], None], start: Callable[[], _T]) -> _T:
    """`start()` in a thread that has confined itself and then ends: confinement is per thread.

    A bare thread, because `threading.Thread` costs two more switches between threads.
    """
    done: list[_T] = []
    failed: list[BaseException] = []
    ended = _thread.allocate_lock()
    ended.acquire()

    def body() -> None:
        try:
            enter()
            done.append(start())
        except BaseException as error:  # noqa: BLE001  re-raised in the caller's thread
            failed.append(error)
        finally:
            ended.release()

    _thread.start_new_thread(body, ())
    ended.acquire()
    if failed:
        raise failed[0]
    return done[0]
