"""What one program may do, as data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """Paths are absolute; missing ones are skipped.

    writable: files and directories that may be changed; None: no confinement at all.
    readable: what may be read besides; None: everything. Enforced by Landlock only.
    data: paths of `readable` from which no program is started. Landlock only, as that.
    network: False leaves, where namespaces are allowed, a loopback of the workspace's own, and
        elsewhere no socket at all.
    namespaces: whether it may make namespaces of its own. In ours Landlock, which refuses every
        mount, is then left out.
    required: refuse to run where the kernel cannot enforce all of it.
    bubblewrap: run in the bwrap of this path instead of namespaces of ours; "": in no bwrap.
    must_hide: whether `required` is about `hidden`, too.
    read_only, hidden: places inside `writable` that stay closed, and that cannot even be read.
    pinned: directories that cannot be renamed. These three need namespaces, bwrap or macOS.
    only: a directory beside which there is nothing but `readable`, all of it read-only; "": there
        is what there is. Runs in namespaces or not at all, and in nothing else: Landlock and
        seccomp look at every file that is opened.
    """

    writable: tuple[str, ...] | None
    readable: tuple[str, ...] | None = None
    network: bool = False
    namespaces: bool = False
    required: bool = False
    bubblewrap: str = ""
    read_only: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    must_hide: bool = False
    pinned: tuple[str, ...] = ()
    only: str = ""
    data: tuple[str, ...] = ()


UNCONFINED = Profile(None, network=True)
