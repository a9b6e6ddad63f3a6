"""Calls of programs, as seccomp tells of them who started these; and where they lead.

`destination` only looks: what it reads may be changed by the time the kernel does, so nothing is
allowed or refused by it.
"""

import ctypes
import os
import struct
import sys
from fcntl import ioctl
from typing import NamedTuple

from fsagent_tools.runtime.descriptors import held

_RECEIVE, _ANSWER, _ADD = 0xC0502100, 0xC0182101, 0x40182103  # requests of ioctl(2)
_TOLD = struct.Struct("QIIiIQ3Q24x")  # seccomp_notif
_ANSWERED = struct.Struct("QqiI")  # seccomp_notif_resp
_ADDED = struct.Struct("QIIII")  # seccomp_notif_addfd
_CONTINUE, _REPLACE = 1, 1
_LONGEST = 128  # bytes of an address
_INET, _INET6 = 2, 10
_DNS = 53  # a port
NOWHERE, LOOKUP, OUTSIDE = 0, 1, 2  # a lookup may be of localhost, too: its name is not known here
_MAPPED = bytes(10) + b"\xff\xff"  # before an IPv4 address in an IPv6 one
_LOOPBACK6 = (bytes(16), bytes(15) + b"\x01")


class Notice(NamedTuple):
    """thread: who waits in it. number: which one it is. arguments: the first three, 64-bit."""

    listener: int
    token: int
    thread: int
    number: int
    arguments: tuple[int, ...]

    @classmethod
    def next(cls, listener: int) -> "Notice":
        """Raises `OSError` when who made it has ended."""
        token = bytearray(_TOLD.size)
        ioctl(listener, _RECEIVE, token)
        name, thread, _, number, _, _, *arguments = _TOLD.unpack(token)
        return cls(listener, name, thread, number, tuple(arguments))

    @property
    def numbers(self) -> tuple[int, ...]:
        """The arguments as the kernel takes those that are an `int`, whatever is above 32 bits."""
        return tuple(ctypes.c_int(argument).value for argument in self.arguments)

    def go_on(self) -> None:
        """The kernel does it. Only what no pointer says is what we have seen."""
        ioctl(self.listener, _ANSWER, bytearray(_ANSWERED.pack(self.token, 0, 0, _CONTINUE)))

    def answer(self, value: int, error: int = 0) -> None:
        """Who waits gets `value`, or the number of an error."""
        ioctl(self.listener, _ANSWER, bytearray(_ANSWERED.pack(self.token, value, -error, 0)))

    def give(self, fd: int, flags: int, place: int | None = None) -> int:
        """Who waits gets a copy of a descriptor, in place of one of its own if it is named."""
        how = _REPLACE if place is not None else 0
        request = bytearray(_ADDED.pack(self.token, how, fd, place or 0, flags))
        return int(ioctl(self.listener, _ADD, request))

    def address(self) -> bytes:
        """The `sockaddr` that it names; nothing where that is closed to us."""
        _, address, size = self.arguments
        try:
            with held(os.open(f"/proc/{self.thread}/mem", os.O_RDONLY | os.O_CLOEXEC)) as fd:
                return os.pread(fd, min(size & 0xFFFFFFFF, _LONGEST), address)
        except (OSError, OverflowError):
            return b""


def destination(listener: int) -> int:
    """Let the `connect` go on that is told of; where it is to lead, seen from a private network.

    `NOWHERE` where that cannot be known.
    """
    try:
        call = Notice.next(listener)
        try:
            return leads(call.address())
        finally:
            call.go_on()
    except OSError:  # who wanted it has ended
        return NOWHERE


def leads(address: bytes) -> int:
    """How far beyond this machine a `sockaddr` is."""
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
