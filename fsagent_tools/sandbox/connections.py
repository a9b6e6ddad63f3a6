"""Where programs connect to, as seccomp tells the process that started them.

That process only looks: what it reads may be changed by the time the kernel does, so nothing is
allowed or refused by it.
"""

import os
import struct
import sys
from fcntl import ioctl

_RECEIVE, _ANSWER = 0xC0502100, 0xC0182101  # requests of ioctl(2)
_TOLD = struct.Struct("QI68x")  # seccomp_notif: its number, who; 48 of the rest are arguments
_ANSWERED = struct.Struct("QqiI")  # seccomp_notif_resp
_ARGUMENTS = 32  # offset in seccomp_notif
_CONTINUE = 1
_LONGEST = 28  # bytes of an address that are looked at
_INET, _INET6 = 2, 10
_DNS = 53  # a port
NOWHERE, LOOKUP, OUTSIDE = 0, 1, 2  # a lookup may be of localhost, too: its name is not known here
_MAPPED = bytes(10) + b"\xff\xff"  # before an IPv4 address in an IPv6 one
_LOOPBACK6 = (bytes(16), bytes(15) + b"\x01")


def destination(listener: int) -> int:
    """Let the `connect` go on that is told of; where it is to lead, seen from a private network.

    `NOWHERE` where that cannot be known.
    """
    told = bytearray(_TOLD.size)
    try:
        ioctl(listener, _RECEIVE, told)
        number, pid = _TOLD.unpack(told)
        _, address, size = struct.unpack_from("3Q", told, _ARGUMENTS)
        try:
            return _leads(_memory(pid, address, min(size, _LONGEST)))
        finally:
            ioctl(listener, _ANSWER, bytearray(_ANSWERED.pack(number, 0, 0, _CONTINUE)))
    except OSError:  # who wanted it has ended
        return NOWHERE


def _memory(pid: int, address: int, size: int) -> bytes:
    """What is in a process; nothing where that is closed to us."""
    try:
        fd = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(fd, size, address)
        finally:
            os.close(fd)
    except (OSError, OverflowError):
        return b""


def _leads(address: bytes) -> int:
    if not _is_outside(address):
        return NOWHERE
    return LOOKUP if int.from_bytes(address[2:4], "big") == _DNS else OUTSIDE


def _is_outside(address: bytes) -> bool:
    """Whether a `sockaddr` is one of the internet that is not this machine's own."""
    family, inner = int.from_bytes(address[:2], sys.byteorder), address[8:24]
    if family == _INET6 and inner[:12] == _MAPPED:
        family, inner = _INET, inner[12:]
    elif family == _INET:
        inner = address[4:8]
    if family == _INET:
        return len(inner) == 4 and inner[0] != 127 and any(inner)
    return family == _INET6 and len(inner) == 16 and inner not in _LOOPBACK6
