"""A seccomp filter as bytes: it refuses what neither mounts, namespaces nor Landlock cover.

`bwrap --seccomp` and `prctl(PR_SET_SECCOMP)` take the same bytes, an array of `struct sock_filter`.
Everything is allowed except what the tables name. `ptrace` is not refused: a PID namespace or a
Landlock domain restricts it to the command's own processes, and leak checkers need it.
"""

import errno
import os
import struct
import sys
from functools import cache

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_* of linux/audit.h
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # offsets in `struct seccomp_data`
_X32 = 0x40000000
_NAMESPACE_FLAGS = 0x7E020080  # CLONE_NEW*: mount, cgroup, uts, ipc, user, pid, net; time
_ALL = 0xFFFFFFFF
_INET, _INET6, _NETLINK = 2, 10, 16
_STREAM, _SEQPACKET, _TYPE_BITS = 1, 5, 0xF
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX type into the host's terminal

# name: (number on x86_64, number on aarch64), of asm/unistd.h
_REFUSED = {
    "setns": (308, 268), "chroot": (161, 51),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "mount_setattr": (442, 442),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    "open_by_handle_at": (304, 265), "quotactl": (179, 60), "acct": (163, 89),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
}  # fmt: skip
_ABSENT = {  # programs know another way when these are missing
    "clone3": (435, 435), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}  # fmt: skip
_OF_ITSELF = {  # without a PID namespace a process changes these of itself alone
    "prlimit64": (302, 261), "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274),
}  # fmt: skip
_SETPRIORITY, _IOPRIO_SET = (141, 140), (251, 30)
_CLONE, _UNSHARE = (56, 220), (272, 97)
_SOCKET, _SOCKETPAIR, _IOCTL = (41, 198), (53, 199), (16, 29)
_Condition = tuple[int, int, int]  # argument, bits of its lower half, value


def is_available() -> bool:
    """Whether there is a filter for this machine."""
    known = sys.platform.startswith("linux") and os.uname().machine in _ARCHITECTURES
    return known and sys.maxsize > 2**32


@cache
def program(*, internet: bool, alone: bool = False) -> bytes:
    """The filter.

    Unix sockets cannot be made, as a read-only mount does not prevent `connect`. Connected pairs
    can, except pairs of datagram sockets: their ends can send to any path.

    Args:
        internet: Sockets of IPv4 and IPv6 may be made.
        alone: A PID namespace hides all other processes.
    """
    machine = os.uname().machine
    column = list(_ARCHITECTURES).index(machine)
    families: list[list[_Condition]] = [[(0, _ALL, _NETLINK), (2, _ALL, 0)]]
    families += [[(0, _ALL, family)] for family in (_INET, _INET6)] if internet else []
    pairs: list[list[_Condition]] = [[(1, _TYPE_BITS, kind)] for kind in (_STREAM, _SEQPACKET)]
    code = [
        _step(_LOAD, _ARCH),
        _step(_EQUAL, _ARCHITECTURES[machine], 1),
        _refuse(errno.ENOSYS),
        _step(_LOAD, _NUMBER),
        _step(_AT_LEAST, _X32, 0, 1),
        _refuse(errno.ENOSYS),
    ]
    for table, error in ((_REFUSED, errno.EPERM), (_ABSENT, errno.ENOSYS)):
        for numbers in table.values():
            code += [_step(_EQUAL, numbers[column], 0, 1), _refuse(error)]
    # The lowest byte of clone's flags is a signal.
    code += _only(_CLONE[column], [[(0, _NAMESPACE_FLAGS & ~0x80, 0)]])
    code += _only(_UNSHARE[column], [[(0, _NAMESPACE_FLAGS, 0)]])
    code += _only(_SOCKET[column], families)
    code += _only(_SOCKETPAIR[column], pairs)
    for numbers in () if alone else _OF_ITSELF.values():
        code += _only(numbers[column], [[(0, _ALL, 0)]])
    for numbers, which in () if alone else ((_SETPRIORITY, 0), (_IOPRIO_SET, 1)):
        code += _only(numbers[column], [[(0, _ALL, which), (1, _ALL, 0)]])
    for request in _TERMINAL_INPUT:
        code += _never(_IOCTL[column], (1, _ALL, request))
    return b"".join([*code, _step(_RETURN, _ALLOW)])


def _only(number: int, alternatives: list[list[_Condition]]) -> list[bytes]:
    """The call is refused unless all conditions of one alternative hold."""
    body: list[bytes] = []
    for conditions in alternatives:
        for place, condition in enumerate(conditions):
            body += _test(condition, 3 * (len(conditions) - place - 1) + 1)
        body.append(_step(_RETURN, _ALLOW))
    body.append(_refuse(errno.EPERM))
    return [_step(_EQUAL, number, 0, len(body)), *body]


def _never(number: int, condition: _Condition) -> list[bytes]:
    """The call is refused where the condition holds."""
    body = [*_test(condition, 1), _refuse(errno.EPERM), _step(_LOAD, _NUMBER)]
    return [_step(_EQUAL, number, 0, len(body)), *body]


def _test(condition: _Condition, otherwise: int) -> list[bytes]:
    argument, bits, value = condition
    load = _step(_LOAD, _ARGUMENTS + 8 * argument)
    return [load, _step(_AND, bits), _step(_EQUAL, value, 0, otherwise)]


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _ERRNO | number)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
