"""System calls through ctypes; they change the calling thread and what it starts."""

import ctypes
import os
import signal
from contextlib import suppress
from functools import cache
from typing import Any

NEWNS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_CLONE3, _SIGCHLD = 435, 17
_SET_DUMPABLE, _SET_CHILD_SUBREAPER, _SET_PDEATHSIG = 4, 36, 1


class CloneArguments(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in ("flags", "pidfd", "child", "parent", "signal", "stack", "size", "tls")
    )


@cache
def libc() -> Any:
    return ctypes.PyDLL(None, use_errno=True)  # keeps the GIL, which a forked child needs


def require_success(name: str, result: int) -> int:
    """`result`, or `OSError` with the call's name when it is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def syscall(name: str, number: int, *arguments: Any) -> int:
    return require_success(name, libc().syscall(ctypes.c_long(number), *arguments))


def prctl(name: str, *arguments: Any) -> int:
    return require_success(
        name, libc().prctl(*(ctypes.c_ulong(argument) for argument in arguments))
    )


def unshare(flags: int) -> None:
    require_success("unshare", libc().unshare(flags))


def fork_into(flags: int) -> int:
    """A fork whose child begins new namespaces; only for a process with one thread."""
    if not flags:
        return os.fork()
    wanted = CloneArguments(flags=flags, signal=_SIGCHLD)
    return syscall("clone3", _CLONE3, ctypes.byref(wanted), ctypes.sizeof(wanted))


def die_with_parent() -> None:
    """SIGKILL when the thread that forked this process ends."""
    prctl("pdeathsig", _SET_PDEATHSIG, 9, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent has ended."""
    prctl("subreaper", _SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def close_to_tracing() -> None:
    """No process of the same user may trace this one or open what it has open."""
    prctl("dumpable", _SET_DUMPABLE, 0, 0, 0, 0)


def descriptor_of(number: int) -> int:
    """The signal is no longer delivered to this thread, but makes the descriptor readable."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    wanted = (ctypes.c_uint64 * 16)(1 << (number - 1))
    flags = os.O_NONBLOCK | os.O_CLOEXEC
    return require_success("signalfd", libc().signalfd(-1, wanted, flags))


def prefer_to_end(score: int) -> None:
    """When memory runs out, the kernel ends this process and what it starts before others."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "r+") as file:
        if int(file.read()) < score:
            file.write(str(score))
