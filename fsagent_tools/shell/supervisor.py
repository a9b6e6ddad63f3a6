"""Runs as a program where there is no bubblewrap: confines one command and ends all it started.

It holds a pipe whose other end the host has; when that closes, the host is gone. A descendant whose
parent ends becomes a child of this process, whatever session it has made, so none gets out of
reach; Landlock keeps signals from it. It imports little: `json`, `typing` or `contextlib` cost as
much as the interpreter.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fsagent_tools.shell import landlock  # the starter puts its code here

_SUBREAPER, _DUMPABLE, _DEATH_SIGNAL = 36, 4, 1
_SIGTERM, _SIGKILL, _SIGSTOP, _SIGPIPE, _SIGXFSZ = 15, 9, 19, 13, 25
_MOMENT = 0.1  # seconds
_PATIENCE = 60.0  # seconds for processes to go after SIGKILL: 1,500 of them compete with this one
NOT_STARTED = 125
STARTED, LEFT = "started", "left "  # lines on the status pipe


def supervise(order: Mapping[str, Any], leash: int) -> int:
    """Run the command; returns its exit code, 128 + N for signal N, as a shell does.

    Standard error is the status pipe: `STARTED`, then a line for each process that is left when the
    command ends.

    Args:
        order: argv, env, cwd; limits: resource number -> value; stderr: the command's; confine:
            arguments of `confine`.
        leash: The reading end of the host's pipe: "t" asks for SIGTERM, its end for SIGKILL.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    supervisor = os.getpid()
    child = os.fork()
    if not child:
        libc.prctl(_DEATH_SIGNAL, _SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:
            os._exit(NOT_STARTED)
        _become(order, leash)
    libc.prctl(_DUMPABLE, 0, 0, 0, 0)
    for fd in {0, 1, order["stderr"]}:  # the host sees the end of the output with the command's
        os.close(fd)
    ended = os.pidfd_open(child)
    while ended not in (ready := select.select([ended, leash], [], [])[0]):
        if leash in ready:
            if os.read(leash, 1) != b"t":
                break
            _signal_all(_SIGTERM)
    if _reap():  # what is left may still say something at once
        time.sleep(_MOMENT)
        _reap()
    names = ((pid, _read(f"/proc/{pid}/comm").strip()) for pid in descendants(supervisor))
    try:  # noqa: SIM105  `contextlib` is not imported
        os.write(2, "".join(f"{LEFT}{name} ({pid})\n" for pid, name in names if name).encode())
    except BrokenPipeError:  # the host has ended
        pass
    _end_all()
    status = _statuses.get(child, _SIGKILL)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _become(order: Mapping[str, Any], leash: int) -> None:
    """In the child: turn into the command."""
    try:
        os.setsid()
        os.close(leash)
        _end_first()
        for number, value in order["limits"].items():
            _, hard = resource.getrlimit(number)
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (value, value))
        os.chdir(order["cwd"])
        confine(**order["confine"])
        os.write(2, f"{STARTED}\n".encode())
        os.dup2(order["stderr"], 2)
        if order["stderr"] > 2:
            os.close(order["stderr"])
        _default_signals()
        os.execve(order["argv"][0], order["argv"], order["env"])
    except OSError as error:
        os.write(2, f"cannot start {order['argv'][0]}: {error.strerror}\n".encode())
    finally:
        os._exit(NOT_STARTED)


def _end_first() -> None:
    """When memory runs out, the kernel ends this process and what it starts before others."""
    if int(_read("/proc/self/oom_score_adj") or 500) < 500:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")


def confine(
    writable: list[str] | None,
    readable: list[str] | None,
    data: list[str],
    network: bool,
    program: bytes,
) -> None:
    """Confine this process; writable None: not at all. program: of `seccomp`, b"" for none."""
    if writable is None:
        return
    if landlock.version():
        landlock.restrict(writable, readable, data, network=network)
    else:
        landlock.give_up_privileges()
    if program:
        landlock.apply_filter(program)


def _default_signals() -> None:
    import _signal  # type: ignore[import-not-found]  # `signal` takes 5 ms

    for number in (_SIGPIPE, _SIGXFSZ):  # which Python ignores
        _signal.signal(number, _signal.SIG_DFL)


_statuses: dict[int, int] = {}


def _reap() -> bool:
    """Whether there are children left."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return True
            _statuses[pid] = status
    except ChildProcessError:
        return False


def _end_all() -> None:
    """Until there are no children: each pass makes those of the ended ones children of ours."""
    until = time.monotonic() + _PATIENCE
    while _reap() and time.monotonic() < until:
        _signal_all(_SIGSTOP)  # first, so that few can start others meanwhile
        _signal_all(_SIGKILL)
        time.sleep(0.001)


def _signal_all(number: int) -> None:
    for pid in descendants(os.getpid()):
        try:  # noqa: SIM105  `contextlib` is not imported
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def descendants(pid: int) -> list[int]:
    found, ahead = dict[int, None](), [pid]
    while ahead:
        new = [child for child in children(ahead.pop()) if child not in found]
        found.update(dict.fromkeys(new))
        ahead += new
    return list(found)


def children(pid: int) -> list[int]:
    """Of any of its threads."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    lists = (_read(f"/proc/{pid}/task/{thread}/children") for thread in threads)
    return [int(child) for words in lists for child in words.split()]


def _read(path: str) -> str:
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""
