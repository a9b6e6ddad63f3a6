"""seccomp: a short filter of what no rule about files and no namespace covers.

io_uring is refused because its requests never pass a filter, kernel keys because they outlive a
command, and so is every foreign system-call ABI. `socketpair` stays open, where the network is off
but for datagrams, which each end may send to any path. A user namespace would give capabilities
over parts of the kernel that are made for administrators alone; `clone3` is as if it were not
there, since a filter cannot see what it is asked.
"""

import ctypes
import errno
import os
import struct
import sys
from contextlib import suppress
from functools import cache

from fsagent_tools.sandbox.kernel import prctl, syscall

PR_SET_SECCOMP, MODE_FILTER = 22, 2
_SET_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 8, 32
_ALLOW, _ERRNO, _NOTIFY = 0x7FFF0000, 0x00050000, 0x7FC00000
_LOAD, _AND, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_NUMBER, _ARCH = 0, 4  # offsets in struct seccomp_data
_X32_BIT = 0x40000000
_UNIX, _INET, _INET6 = 1, 2, 10
_FAMILIES = (_UNIX, _INET, _INET6)
_NETLINK, _NETLINK_ROUTE = 16, 0
_STREAM, _SEQUENCE, _TCP = 1, 5, 6
_KIND = 0xF  # bits of a socket's type; the others are flags
_FAST_OPEN = 0x20000000  # MSG_FASTOPEN: a `send` that connects
_NAMESPACES = 0x7E020000  # the flags of all but time, which `clone` does not know
_WHOLE = 0xFFFFFFFF
_ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CALLS = {  # name -> number on x86_64 and on aarch64
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "listen": (50, 201),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "seccomp": (317, 277),
    "io_uring_setup": (425, 425),
    "clone": (56, 220),
    "clone3": (435, 435),
    "unshare": (272, 97),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "prlimit64": (302, 261),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
}
_ABSENT = {_CALLS[name][0] for name in ("io_uring_setup", "clone3")}  # programs know another way
_NOTIFIED = {"private": ("connect",), "own": ("socket", "connect", "listen")}
# A 32-bit word of the arguments, counted from 0, which bits of it, and their value.
Condition = tuple[int, int, int]


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


@cache
def available() -> bool:
    """Whether there is a filter for this machine."""
    return os.uname().machine in _ARCHES and sys.maxsize > 2**32


def restrict_calls(sockets: str, alone: bool, namespaces: bool) -> int:
    """Filter the calling thread and all it starts. Needs no_new_privs.

    sockets: `open`, `closed`, `private` where a network namespace holds them, or `own` where
    `loopback` does. alone: a PID namespace keeps other processes out of reach; without one, no
    process but the caller itself may be given limits, priorities or processors. namespaces: whether
    it may make some. Returns what tells of calls: of attempts to connect in a private network, see
    `connections`, and of what `loopback` answers; -1 for the others.
    """
    if sockets in _NOTIFIED:
        for more in (_WAIT_KILLABLE, 0):  # newer kernels only
            with suppress(OSError):
                program = _program(sockets, alone, namespaces, _NOTIFIED[sockets])
                number, flags = _CALLS["seccomp"][_column()], _NEW_LISTENER | more
                return syscall("seccomp", number, _SET_FILTER, flags, ctypes.byref(program))
        if sockets == "own":
            raise OSError(errno.EBUSY, "somebody around us is told of calls already")
    program = _program(sockets, alone, namespaces)
    prctl("seccomp", PR_SET_SECCOMP, MODE_FILTER, ctypes.addressof(program), 0, 0)
    return -1


def name_of_call(number: int) -> str:
    """The call with that number here; "" for one that no filter tells of."""
    return next((name for name in _NOTIFIED["own"] if _CALLS[name][_column()] == number), "")


def handed_over(sockets: str, namespaces: bool) -> int:
    """An open file of the filter for a program in a PID namespace of its own, for who starts it."""
    fd = os.memfd_create("filter")
    os.write(fd, _filter(sockets, True, namespaces, ()))
    os.lseek(fd, 0, os.SEEK_SET)
    os.set_inheritable(fd, True)
    return fd


def _program(sockets: str, alone: bool, namespaces: bool, names: tuple[str, ...] = ()) -> Program:
    code = _filter(sockets, alone, namespaces, names)
    return Program(len(code) // 8, code)


def _column() -> int:
    return list(_ARCHES).index(os.uname().machine)


@cache
def _filter(sockets: str, alone: bool, namespaces: bool, notified: tuple[str, ...]) -> bytes:
    never: list[list[Condition]] = []
    rules = {"io_uring_setup": never, "add_key": never, "request_key": never, "keyctl": never}
    rules |= {name: [[]] for name in notified}
    rules |= _of_sockets(sockets)
    if not namespaces:
        rules |= {name: [[(0, _NAMESPACES, 0)]] for name in ("clone", "unshare")}
        rules["clone3"] = never
    if not alone:
        own = [[_is(0, 0)]]
        rules |= {name: own for name in _CALLS if name.startswith("sched_")}
        rules["prlimit64"] = [[_is(0, 0)], [_is(4, 0), _is(5, 0)]]  # of itself, or only asking
        rules["setpriority"] = [[_is(0, 0), _is(2, 0)]]  # of a process, itself
        rules["ioprio_set"] = [[_is(0, 1), _is(2, 0)]]
    machine = os.uname().machine
    column = _column()
    return b"".join(
        (
            _instruction(_LOAD, _ARCH),
            _instruction(_JUMP_EQUAL, _ARCHES[machine], 1, 0),
            _instruction(_RETURN, _ERRNO | errno.ENOSYS),
            _instruction(_LOAD, _NUMBER),
            _instruction(_JUMP_AT_LEAST, _X32_BIT, 0, 1),
            _instruction(_RETURN, _ERRNO | errno.ENOSYS),
            *(
                _rule(_CALLS[name][column], allowed, _NOTIFY if name in notified else _ALLOW)
                for name, allowed in rules.items()
            ),
            _instruction(_RETURN, _ALLOW),
        )
    )


def _of_sockets(sockets: str) -> dict[str, list[list[Condition]]]:
    route = [_is(0, _NETLINK), _is(4, _NETLINK_ROUTE)]
    if sockets not in ("own", "closed"):
        return {"socket": [*([_is(0, family)] for family in _FAMILIES), route]}
    streams: list[list[Condition]] = [[(2, _KIND, _STREAM)], [(2, _KIND, _SEQUENCE)]]
    if sockets == "closed":
        return {"socket": [], "socketpair": streams}
    tcp = [[_is(0, f), *streams[0], _is(4, p)] for f in (_INET, _INET6) for p in (0, _TCP)]
    return {
        "socket": [*([_is(0, _UNIX), *stream] for stream in streams), route, *tcp],
        "socketpair": streams,
        "sendto": [[(6, _FAST_OPEN, 0)]],
        "sendmsg": [[(4, _FAST_OPEN, 0)]],
        "sendmmsg": [[(6, _FAST_OPEN, 0)]],
    }


def _rule(number: int, allowed: list[list[Condition]], verdict: int) -> bytes:
    """The call `number` is refused unless all conditions of one of `allowed` hold."""
    body = b""
    for conditions in allowed:
        for place, (word, bits, value) in enumerate(conditions):
            rest = 3 * (len(conditions) - place - 1) + 1
            body += _instruction(_LOAD, 16 + 4 * word) + _instruction(_AND, bits)
            body += _instruction(_JUMP_EQUAL, value, 0, rest)
        body += _instruction(_RETURN, verdict)
    refusal = errno.ENOSYS if number in _ABSENT else errno.EPERM
    body += _instruction(_RETURN, _ERRNO | refusal)
    return _instruction(_JUMP_EQUAL, number, 0, len(body) // 8) + body


def _is(word: int, value: int) -> Condition:
    return word, _WHOLE, value


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
