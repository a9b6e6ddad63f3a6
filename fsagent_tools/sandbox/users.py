"""Who a process is, in a user namespace of its own, and what it keeps of its privileges."""

import ctypes
import os
from contextlib import suppress

from fsagent_tools.sandbox.kernel import NEWUSER, fork_into, libc, prctl, require_success, unshare

_MAPS = ("uid_map", "gid_map")
PR_SET_NO_NEW_PRIVS = 38
VERSION_3 = 0x20080522
# Container-style minimum (capabilities(7)): chown, dac_override, fowner, fsetid, kill, setgid,
# setuid, net_bind_service. Gone: modules, mounts, raw devices, mknod, ptrace, limits of others.
_KEPT = sum(1 << bit for bit in (0, 1, 3, 4, 5, 6, 7, 10))


def begin(flags: int) -> None:
    """Begin namespaces, a new user namespace among them. Only for a process with one thread.

    Root keeps every user it could be, and so works in what others own; only a process that is
    still outside may allow that. Anybody else is alone in it. Raises `OSError`.
    """
    user, group = os.geteuid(), os.getegid()
    ready, go = os.pipe()
    helper = 0 if user else _map_from_outside(ready, go)
    unshare(NEWUSER | flags)
    os.close(ready)
    os.close(go)
    if helper:
        os.waitpid(helper, 0)
    if not _read("gid_map"):
        write_to("/proc/self/setgroups", "deny")
        write_to("/proc/self/gid_map", f"{group} {group} 1")
    if not _read("uid_map"):
        write_to("/proc/self/uid_map", f"{user} {user} 1")


def write_to(path: str, text: str) -> None:
    """Write a file of the kernel's, in one piece."""
    with open(path, "w") as file:
        file.write(text)


def _map_from_outside(ready: int, go: int) -> int:
    """A process that lets all users of this one be in its next namespace, once `go` is closed."""
    parent = os.getpid()
    if helper := fork_into(0):
        return helper
    try:
        os.close(go)
        os.read(ready, 1)
        for name in _MAPS:
            ranges = (line.split() for line in _read(name).splitlines())
            same = "".join(f"{inside} {inside} {count}\n" for inside, _, count in ranges)
            with suppress(OSError):
                write_to(f"/proc/{parent}/{name}", same)
    finally:
        os._exit(0)


def _read(name: str) -> str:
    with open(f"/proc/self/{name}") as file:
        return file.read()


class Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class Data(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def drop_privileges() -> None:
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
