"""The files as confined processes see them: a mount namespace in which little can be written.

Every path is the host's own, so that what a command prints means the same outside.
"""

import ctypes
import os
import stat
from collections.abc import Iterable, Iterator

from fsagent_tools.runtime.descriptors import held
from fsagent_tools.sandbox.kernel import libc, require_success, syscall

_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_RECURSIVE, _EMPTY_PATH, _CLONE, _CLOSE_ON_EXEC = 0x8000, 0x1000, 1, 0o2000000
_FROM_FD = 0x4  # MOVE_MOUNT_F_EMPTY_PATH
_REC, _PRIVATE, _NOSUID, _NODEV, _NOEXEC = 0x4000, 0x40000, 2, 4, 8
_READ_ONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_ATTR_NOSYMFOLLOW, _DETACH = 0x200000, 2
_HERE = -100  # AT_FDCWD
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
RUNTIME = "/run"
SHARED = ("/tmp", "/var/tmp")
_STAGE = "/dev/shm"  # where a view of a few places is put together
_NOTHING = "/dev/.nothing"  # an empty file and directory that nobody may open


class MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns"))


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    words = (source.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags))
    require_success(f"mount {target}", libc().mount(*words, options.encode() or None))


def mount_proc(*, writable: bool = False) -> None:
    """The processes of this PID namespace on /proc, instead of the host's."""
    mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC | (0 if writable else _READ_ONLY))


def build(writable: Iterable[str], shown: Iterable[str] = (), private: str = "") -> None:
    """Everything read-only but `writable` (missing ones are skipped), a /dev of a few devices.

    Writable places keep what is mounted in them. private: a directory that is on /tmp
    and /var/tmp, but for `writable` and `shown`; "": they are as outside, read-only. Raises
    `OSError` where that is not allowed.
    """
    mount("none", "/", "none", _REC | _PRIVATE)
    own = list(_private_places(private, (*writable, *shown))) if private else []
    kept = [path for path in shown if any(path.startswith(f"{place}/") for _, place in own)]
    places = [(_copy(path), path) for path in writable if os.path.exists(path)]
    others = [(_copy(path), path) for path in kept if os.path.exists(path)]
    devices = [(_copy(f"/dev/{name}"), f"/dev/{name}") for name in _DEVICES]
    _protect("/", _READ_ONLY | _ATTR_NOSUID | _ATTR_NODEV)
    _make_dev([name for _, name in devices])
    for tree, _ in others:
        _protect("", _READ_ONLY, tree)
    for tree, path in own:
        _put(tree, path)
    for tree, path in sorted((*others, *places), key=lambda place: place[1]):
        _make_place(path)
        _put(tree, path)
    for tree, path in devices:
        _put(tree, path)


def _private_places(private: str, others: Iterable[str]) -> Iterator[tuple[int, str]]:
    """What is put on the places that all users share, but not where one is `there` as a whole."""
    for path in SHARED:
        inside = any(f"{path}/".startswith(f"{place.rstrip('/')}/") for place in others)
        if os.path.isdir(path) and os.path.realpath(path) == path and not inside:
            yield _copy(private), path


def _make_place(path: str) -> None:
    """Something to put `path` on, where there is nothing."""
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.mkdir(path)


def unix_sockets() -> list[str]:
    """Paths of the sockets that processes outside listen on, as a container daemon does."""
    with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
        lines = [line.rstrip("\n").split(None, 7) for line in file]
    bound = {words[7] for words in lines if len(words) == 8}
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        bound |= {line.split()[4] for line in file}  # one that is mounted into a container
    return sorted(path for path in bound if path[:1] == "/" and _is_socket(path))


def hide_sockets(sockets: Iterable[str], writable: Iterable[str]) -> None:
    """Nobody outside can be reached by a path: neither at `sockets` nor anywhere in /run."""
    if empties_run(writable):
        links = run_links()
        mount("tmpfs", RUNTIME, "tmpfs", _NOSUID | _NODEV, "mode=755")
        for path, target in links:
            os.symlink(target, path)
    for path in filter(_is_socket, sockets):
        try:
            hide(path)
        except FileNotFoundError:  # whoever listened has just ended
            if _is_socket(path):
                raise


def empties_run(writable: Iterable[str]) -> bool:
    """Whether nothing of /run is shown where nobody outside is to be reached."""
    return os.path.isdir(RUNTIME) and not any(
        f"{path}/".startswith(f"{RUNTIME}/") for path in writable
    )


def run_links() -> list[tuple[str, str]]:
    """Links in /run, where some systems keep the way to all their programs, and their targets."""
    with os.scandir(RUNTIME) as entries:
        return [(e.path, os.readlink(e.path)) for e in entries if e.is_symlink()]


def make_read_only(path: str) -> None:
    """Nothing at or beneath `path` can be changed, renamed or removed."""
    tree = _copy(path)
    _protect("", _READ_ONLY, tree)
    _put(tree, path)


def pin(path: str) -> None:
    """The directory `path` cannot be renamed or removed; what is in it is as before."""
    _put(_copy(path), path)


def hide(path: str) -> None:
    """Neither content nor names at `path` can be read; to root a directory looks empty."""
    kind = "directory" if stat.S_ISDIR(os.lstat(path).st_mode) else "file"
    tree = _copy(f"{_NOTHING}/{kind}")
    _protect("", _READ_ONLY, tree)
    _put(tree, path)


def show_only(directory: str, others: Iterable[str]) -> None:
    """Nothing is there but these, under their names and read-only; in `directory` no link leads on.

    The calling process can import nothing any more, and has no /proc.
    """
    trees = [(_copy(path), path) for path in (directory, *others)]
    _protect("", _ATTR_NOSYMFOLLOW, trees[0][0])
    mount("tmpfs", _STAGE, "tmpfs", _NOSUID | _NODEV, "mode=755")
    for tree, path in trees:
        place = _STAGE + path
        if os.path.isdir(path):
            os.makedirs(place, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.close(os.open(place, os.O_CREAT | os.O_CLOEXEC, 0o644))
        _put(tree, place)
    _protect(_STAGE, _READ_ONLY | _ATTR_NOSUID | _ATTR_NODEV)
    os.chdir(_STAGE)
    require_success("pivot_root", libc().pivot_root(b".", b"."))
    require_success("umount", libc().umount2(b".", _DETACH))
    os.chdir("/")


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _make_dev(devices: Iterable[str]) -> None:
    mount("tmpfs", "/dev", "tmpfs", _NOSUID | _NOEXEC, "mode=755")
    for device in devices:
        os.close(os.open(device, os.O_CREAT | os.O_CLOEXEC, 0o666))
    for name, target in _LINKS.items():
        os.symlink(target, f"/dev/{name}")
    for name in ("shm", "pts", ".nothing", ".nothing/directory"):
        os.mkdir(f"/dev/{name}")
    kind = stat.S_IFREG if os.geteuid() else stat.S_IFSOCK  # root reads whatever its mode says
    os.mknod(f"{_NOTHING}/file", kind)
    os.chmod(f"{_NOTHING}/directory", 0)
    mount("tmpfs", "/dev/shm", "tmpfs", _NOSUID | _NODEV, "mode=1777")
    mount("devpts", "/dev/pts", "devpts", _NOSUID | _NOEXEC, "newinstance,ptmxmode=0666,mode=620")


def _copy(path: str) -> int:
    """A copy of the mounts at `path`, of no place yet; a link is followed."""
    flags = ctypes.c_uint(_CLONE | _RECURSIVE | _CLOSE_ON_EXEC)
    return syscall(f"open_tree {path}", _OPEN_TREE, _HERE, os.fsencode(path), flags)


def _put(tree: int, path: str) -> None:
    arguments = (tree, b"", _HERE, os.fsencode(path), ctypes.c_uint(_FROM_FD))
    with held(tree):
        syscall(f"move_mount {path}", _MOVE_MOUNT, *arguments)


def _protect(path: str, attributes: int, tree: int = _HERE) -> None:
    wanted = MountAttributes(set=attributes)
    flags = ctypes.c_uint(_RECURSIVE | (0 if path else _EMPTY_PATH))
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    name = f"mount_setattr {path}"
    syscall(name, _MOUNT_SETATTR, tree, os.fsencode(path), flags, ctypes.byref(wanted), size)
