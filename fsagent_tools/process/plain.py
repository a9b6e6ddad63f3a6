"""A child of the host itself, where there is no keeper: its process group is all that is known."""

import _thread
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from fsagent_tools.sandbox import landlock, seccomp
from fsagent_tools.sandbox.confine import confine

_LIBRARIES = (  # what programs are made of
    *("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store"),
    *("/etc/ld.so.cache", "/dev/urandom"),
)
_PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "SYSTEMROOT")  # variables of the host
_T = TypeVar("_T")


class PlainChild:
    """Has the shape of `kept.Kept`; `fileno()` is -1 where the system has no pidfd."""

    def __init__(self, request: Mapping[str, Any], streams: tuple[int, int, int]) -> None:
        """Start it. Raises `OSError`."""
        self.exit_code: int | None = None
        self.left: list[str] = []
        self.gone = self.is_alone = False

        def popen() -> "subprocess.Popen[bytes]":
            return subprocess.Popen(
                request["argv"],
                cwd=request["cwd"],
                env=request["env"],
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                start_new_session=True,
            )

        profile = request["profile"]
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


def start_reader(
    argv: Sequence[str], readable: Iterable[str], cwd: str | None, stdin: int
) -> "subprocess.Popen[bytes]":
    """A program that reads `readable` and what programs are made of, writes nothing and opens no
    socket, as far as this kernel can hold it to that. Its output is piped. Raises `OSError`.
    """
    profile = {
        "writable": (),
        "readable": (*readable, *_LIBRARIES, *map(os.path.realpath, (sys.prefix, sys.base_prefix))),
        "landlock": landlock.abi(),
        "sockets": "closed",
        "filtered": seccomp.available(),
    }

    def popen() -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env={name: os.environ[name] for name in _PASSED if name in os.environ},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    if profile["landlock"] or profile["filtered"]:
        return _in_thread(lambda: confine(profile, alone=False), popen)
    return popen()


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
