"""seccomp: a filter of a few instructions that refuses every new socket.

`socketpair` stays open: it reaches nobody, and pipes of many runtimes are made of it. io_uring is
refused because its socket requests never pass a filter, and so is every foreign system-call ABI.
"""

import ctypes
import errno
import os
import struct
import sys
from functools import cache

from fsagent_tools.sandbox.kernel import prctl

PR_SET_SECCOMP, MODE_FILTER = 22, 2
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCH = 0, 4  # offsets in struct seccomp_data
X32_BIT = 0x40000000
IO_URING_SETUP = 425
MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}  # AUDIT_ARCH, socket


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def available() -> bool:
    """Whether there is a filter for this machine."""
    return os.uname().machine in MACHINES and sys.maxsize > 2**32


def close_sockets() -> None:
    """Refuse sockets to the calling thread and all it starts. Needs no_new_privs."""
    code = _filter()
    program = Program(len(code) // 8, code)
    prctl("seccomp", PR_SET_SECCOMP, MODE_FILTER, ctypes.addressof(program), 0, 0)


@cache
def _filter() -> bytes:
    arch, socket = MACHINES[os.uname().machine]
    return b"".join(
        (
            _instruction(LOAD, ARCH),
            _instruction(JUMP_EQUAL, arch, 1, 0),
            _instruction(RETURN, ERRNO | errno.ENOSYS),
            _instruction(LOAD, NUMBER),
            _instruction(JUMP_AT_LEAST, X32_BIT, 3, 0),
            _instruction(JUMP_EQUAL, socket, 3, 0),
            _instruction(JUMP_EQUAL, IO_URING_SETUP, 1, 0),
            _instruction(RETURN, ALLOW),
            _instruction(RETURN, ERRNO | errno.ENOSYS),
            _instruction(RETURN, ERRNO | errno.EPERM),
        )
    )


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
