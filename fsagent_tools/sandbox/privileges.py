"""A confined thread gains no privileges, and as root keeps only those that ordinary work needs."""

import ctypes

from fsagent_tools.sandbox.kernel import libc, prctl, require_success

PR_SET_NO_NEW_PRIVS = 38
VERSION_3 = 0x20080522
# Container-style minimum (capabilities(7)): chown, dac_override, fowner, fsetid, kill, setgid,
# setuid, net_bind_service. Gone: modules, mounts, raw devices, mknod, ptrace, limits of others.
_KEPT = sum(1 << bit for bit in (0, 1, 3, 4, 5, 6, 7, 10))


class Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class Data(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def drop() -> None:
    """Set no_new_privs and drop capabilities of the calling thread; an exec cannot regain them."""
    prctl("no_new_privs", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    header, data = Header(VERSION_3, 0), (Data * 2)()
    require_success("capget", libc().capget(ctypes.byref(header), data))
    for half, word in enumerate(data):
        kept = _KEPT >> (32 * half) & 0xFFFFFFFF
        word.effective &= kept
        word.permitted &= kept
        word.inheritable &= kept
    require_success("capset", libc().capset(ctypes.byref(header), data))
