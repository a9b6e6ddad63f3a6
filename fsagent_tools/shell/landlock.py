"""Landlock: the calling thread and what it starts write only below listed paths, for good.

Rights that a kernel does not know are left out, so an old one confines less. No version covers
chmod, chown, times and extended attributes of files outside, nor Unix sockets that have a path,
which `seccomp` refuses. Numbers are those of linux/landlock.h. `supervisor` loads this module at
each start, so it imports no more than that needs.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _READ_FILE, _READ_DIRECTORY = 1 << 0, 1 << 2, 1 << 3
_WRITE_FILE, _REFER, _TRUNCATE, _IOCTL = 1 << 1, 1 << 13, 1 << 14, 1 << 15
_MAKE_DEVICES = 1 << 6 | 1 << 11
_CHANGES = sum(1 << bit for bit in range(4, 13)) | _WRITE_FILE  # remove and make entries, write
_OF_FILES = _WRITE_FILE | _TRUNCATE | _IOCTL | _READ_FILE | _EXECUTE
_TCP, _SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER, _DROP_CAPABILITY = 38, 22, 2, 24
_libc = ctypes.PyDLL(None, use_errno=True)  # keeps the GIL, which a forked child needs
PathList = list[str] | tuple[str, ...]
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")


def version() -> int:
    """Landlock's ABI version here, 0 where there is none."""
    if not os.path.exists("/proc/self/status"):
        return 0
    return max(int(_libc.syscall(ctypes.c_long(_CREATE), None, ctypes.c_size_t(0), _VERSION)), 0)


def restrict(
    writable: PathList,
    readable: PathList | None = None,
    data: PathList = (),
    *,
    network: bool = False,
    changes: bool = True,
) -> None:
    """Confine the calling thread.

    Args:
        writable: What may be changed; paths that do not exist are skipped.
        readable: What may be read as well; None: everything.
        data: Those of `readable` from which no program is started.
        network: Whether TCP may be used.
        changes: Whether writing is confined at all.

    Raises:
        OSError: If the kernel refuses.
    """
    known, inert = version(), {*data}
    rights = _CHANGES if changes else 0
    for right, since in ((_REFER, 2), (_TRUNCATE, 3), (_IOCTL, 5)):
        rights |= right if changes and known >= since else 0
    running = _EXECUTE if inert else 0
    reading = 0 if readable is None else _READ_FILE | _READ_DIRECTORY
    handled = rights | reading | running
    tcp = 0 if network or known < 4 else _TCP
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    rules = struct.pack("QQQ", handled, tcp, _SCOPES if known >= 6 else 0)[:size]
    ruleset = _call(_CREATE, rules, ctypes.c_size_t(size), 0)
    for path in (*DEVICES, *writable):
        _allow(ruleset, path, handled)
    for path in readable or ():
        _allow(ruleset, path, reading if path in inert else reading | running)
    give_up_privileges()
    _call(_RESTRICT, ruleset, 0)
    os.close(ruleset)


def apply_filter(program: bytes) -> None:
    """Let a filter of `seccomp` bind the calling thread. Raises `OSError`."""
    _prctl(_NO_NEW_PRIVILEGES, 1)
    code = ctypes.create_string_buffer(program, len(program))
    _prctl(_SECCOMP, _FILTER, struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code)))


def give_up_privileges() -> None:
    """No new ones; as root none at all in the program that is started next.

    With CAP_PERFMON the environment of the host could be read in /proc.
    """
    _prctl(_NO_NEW_PRIVILEGES, 1)
    if os.geteuid() == 0:
        for capability in range(64):
            _libc.prctl(_DROP_CAPABILITY, capability, 0, 0, 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    rights &= ~_MAKE_DEVICES
    rights &= -1 if stat.S_ISDIR(os.fstat(fd).st_mode) else _OF_FILES
    _call(_ADD, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, fd), 0)
    os.close(fd)


def _call(number: int, *arguments: object) -> int:
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments))


def _prctl(option: int, *arguments: object) -> int:
    longs = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc.prctl(option, *longs, 0, 0, 0))


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
