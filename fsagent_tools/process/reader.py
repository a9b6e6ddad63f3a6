"""Programs that only read: confined where they start, without a keeper, and tied to their host."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from functools import cache, partial

from fsagent_tools.policy import Limits
from fsagent_tools.process.plain import Group
from fsagent_tools.runtime.aside import aside
from fsagent_tools.sandbox import landlock, processes, seccomp

SHARED_OBJECTS = (  # what programs are made of
    *("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store"),
    "/etc/ld.so.cache",
)
_PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "SYSTEMROOT")  # variables of the host
_SET_SIGNAL = 10  # F_SETSIG of fcntl(2)
_LEASH = "FSAGENT_LEASH"  # variable of a child: the number of its leash


def libraries() -> tuple[str, ...]:
    """What programs are made of, our own interpreter among them."""
    return (*SHARED_OBJECTS, "/dev/urandom", *map(os.path.realpath, (sys.prefix, sys.base_prefix)))


def confines() -> bool:
    """Whether this kernel holds a reader to what it may read and write."""
    return landlock.abi() > 0


def start_reader(
    argv: Sequence[str], readable: Iterable[str], cwd: str | None, stdin: int
) -> Group:
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
        "namespaces": False,
    }

    leash = _leash()
    env = {name: os.environ[name] for name in _PASSED if name in os.environ}
    if leash:
        env[_LEASH] = str(leash[0])
    output = subprocess.PIPE
    try:
        process = Group.begin(
            profile,
            argv,
            cwd=cwd,
            pass_fds=leash,
            env=env,
            stdin=stdin,
            stdout=output,
            stderr=output,
        )
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

    Raises `TimeoutError` after `seconds`, also while it is still starting or ending; `OSError` when
    it cannot be started.
    """
    until = time.monotonic() + seconds
    return aside(partial(_run, argv, readable, given, until, limits), until)


def _run(
    argv: Sequence[str], readable: Iterable[str], given: bytes, until: float, limits: Limits
) -> tuple[bytes, bytes]:
    with start_reader(argv, readable, "/", subprocess.PIPE) as it:
        try:
            limit_reader(it.pid, limits)
            return it.communicate(given, timeout=max(until - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        finally:
            it.kill()


def limit_reader(pid: int, limits: Limits) -> None:
    """From now on a process has these; on Linux only."""
    import resource

    if not sys.platform.startswith("linux"):
        return
    for number, value in limits.numbered().items():
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
        if processes.readable((int(fd),))(0):  # nothing is ever written: the pipe is broken
            os._exit(1)
