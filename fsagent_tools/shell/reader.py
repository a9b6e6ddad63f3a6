"""Programs that only read: confined by the thread that starts them, and tied to their host."""

import fcntl
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import cache

from fsagent_tools.policy import Limits
from fsagent_tools.shell import landlock, seccomp

SHARED_OBJECTS = (  # what programs are made of
    *("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store"),
    "/etc/ld.so.cache",
)
_PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE")  # variables of the host
_SET_SIGNAL = 10  # F_SETSIG of fcntl(2)


class ReaderProcess(subprocess.Popen[bytes]):
    """A program at the head of a session and process group of its own."""

    def end(self) -> None:
        """From any thread: all of its group ends."""
        if self.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)


@cache
def libraries() -> tuple[str, ...]:
    """What programs are made of, our own interpreter among them."""
    return (*SHARED_OBJECTS, "/dev/urandom", *map(os.path.realpath, (sys.prefix, sys.base_prefix)))


def start_reader(
    argv: Sequence[str],
    readable: Iterable[str],
    cwd: str | None,
    stdin: int,
    limits: Limits | None = None,
) -> ReaderProcess:
    """A program whose output is piped.

    It reads `readable` and what programs are made of, writes nothing and opens no socket, as far as
    this kernel can hold it to that, and ends with this process. Raises `OSError`.
    """
    env = {name: os.environ[name] for name in _PASSED if name in os.environ}
    pipe = subprocess.PIPE

    def confined() -> ReaderProcess:
        if landlock.version():
            landlock.restrict((), (*readable, *libraries()))
        if seccomp.is_available():
            landlock.apply_filter(seccomp.program(internet=False))
        with open(_alive(), "rb", buffering=0, opener=_unblocked) as leash:
            reader = ReaderProcess(
                argv,
                cwd=cwd,
                env=env,
                stdin=stdin,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,
                pass_fds=[leash.fileno()],
            )
            # When the pipe breaks, the kernel sends the signal, as the reader has it open, too.
            fcntl.fcntl(leash, _SET_SIGNAL, signal.SIGKILL)
            fcntl.fcntl(leash, fcntl.F_SETOWN, -reader.pid)
            fcntl.fcntl(leash, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
        for number, value in limits.numbered().items() if limits else ():
            with suppress(ProcessLookupError, PermissionError):
                resource.prlimit(reader.pid, number, (value, value))
        return reader

    # Who confines itself does so for good, but for its own thread and what that starts only.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(copy_context().run, confined).result()


@cache
def _alive() -> str:
    """A pipe that is written by this process alone: it breaks when this process has ended."""
    return f"/proc/self/fd/{os.pipe()[0]}"


def _unblocked(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
