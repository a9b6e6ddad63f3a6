"""Landlock: writes only beneath the listed paths, no TCP, no signals to the outside.

Numbers are those of linux/landlock.h. Rights that a kernel does not know are left out, so an old
one confines less: the ABI is part of the level. Not covered by any ABI: chmod, chown,
xattrs and timestamps of files outside.
"""

import ctypes
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from functools import cache

from fsagent_tools.runtime.descriptors import held
from fsagent_tools.sandbox.kernel import syscall

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG = 1
PATH_BENEATH = 1
WRITE_FILE, REFER, TRUNCATE, IOCTL_DEV = 1 << 1, 1 << 13, 1 << 14, 1 << 15
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
# remove dir and file; make char, dir, regular, socket, fifo, block, symlink
DIRECTORY_CHANGES = sum(1 << bit for bit in range(4, 13))
FILE_CHANGES = WRITE_FILE | TRUNCATE | IOCTL_DEV
TCP = {"closed": 0b11, "own": 0b10}  # bind and connect; or connect, which `loopback` does itself
SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "tty"))
EXECUTE, READ_FILE, READ_DIR = 1 << 0, 1 << 2, 1 << 3


class Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_fs", ctypes.c_uint64),
        ("handled_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("fd", ctypes.c_int32))


@cache
def abi() -> int:
    """Landlock's ABI version here, 0 where there is none."""
    try:
        return syscall("landlock", CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_FLAG)
    except (OSError, AttributeError):
        return 0


def restrict(
    version: int,
    writable: Iterable[str],
    sockets: str,
    readable: Iterable[str] | None,
    data: Iterable[str] = (),
) -> None:
    """Confine the calling thread and all it starts, for good. Raises `OSError`.

    sockets: see `seccomp.restrict_calls`. readable: what may be read besides `writable`; None:
    everything. data: which of that no program is started from.
    """
    changes, inert = _changes(version), {*data}
    running = EXECUTE if inert else 0
    reading = 0 if readable is None else READ_FILE | READ_DIR
    rules = Ruleset(
        changes | reading | running,
        TCP.get(sockets, 0) if version >= 4 else 0,
        SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0,
    )
    size = ctypes.c_size_t(24 if version >= 6 else 16 if version >= 4 else 8)
    made = syscall("landlock_create_ruleset", CREATE_RULESET, ctypes.byref(rules), size, 0)
    with held(made) as ruleset:
        for path in (*DEVICES, *writable):
            _allow(ruleset, path, changes | reading | running)
        for path in readable or ():
            _allow(ruleset, path, reading if path in inert else reading | running)
        syscall("landlock_restrict_self", RESTRICT_SELF, ruleset, 0)


def _changes(version: int) -> int:
    newer = ((REFER, 2), (TRUNCATE, 3), (IOCTL_DEV, 5))
    return DIRECTORY_CHANGES | WRITE_FILE | sum(right for right, since in newer if version >= since)


def _allow(ruleset: int, path: str, rights: int) -> None:
    with suppress(FileNotFoundError), held(os.open(path, os.O_PATH | os.O_CLOEXEC)) as fd:
        rights &= ~(MAKE_CHAR | MAKE_BLOCK)
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= FILE_CHANGES | READ_FILE | EXECUTE
        rule = ctypes.byref(PathBeneath(rights, fd))
        syscall("landlock_add_rule", ADD_RULE, ruleset, PATH_BENEATH, rule, 0)
