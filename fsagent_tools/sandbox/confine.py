"""The second layer, and where there are no namespaces the only one: the process confines itself."""

from typing import Any

from fsagent_tools.sandbox import landlock, mounts, seccomp, users

_OWN_DEVICES = ("/dev/shm", "/dev/pts", "/dev/ptmx")  # of the keeper's own /dev
_SHARED_MEMORY = ("/dev/shm",)  # without it no semaphore of several processes, of any language


def confine(profile: dict[str, Any], alone: bool) -> int:
    """Give up, for good, what `profile` does not allow. Raises `OSError`.

    writable: paths, or None for no confinement at all. readable: paths, or None for everything;
    data: those of them from which no program is started.
    landlock: the ABI to use, 0 for none. sockets: see `seccomp.restrict_calls`. filtered:
    whether there is a seccomp filter for this machine. namespaces: whether new ones may be made.
    alone: a PID namespace holds this process. private: whether /tmp is the keeper's own.
    """
    if profile["writable"] is None:
        return -1
    users.drop_privileges()
    if profile["landlock"]:
        own = _OWN_DEVICES if alone else _SHARED_MEMORY
        private = mounts.SHARED if alone and profile["private"] else ()
        writable = (*profile["writable"], *own, *private)
        reading = profile["readable"], profile.get("data", ())
        landlock.restrict(profile["landlock"], writable, profile["sockets"], *reading)
    if profile["filtered"]:
        return seccomp.restrict_calls(profile["sockets"], alone, profile["namespaces"])
    return -1
