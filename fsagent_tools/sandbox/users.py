"""A user namespace: who a process is in it, and whose files it may use."""

import os
from contextlib import suppress

from fsagent_tools.sandbox.kernel import NEWUSER, fork_into, unshare

_MAPS = ("uid_map", "gid_map")


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
