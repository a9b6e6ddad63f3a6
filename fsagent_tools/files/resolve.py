"""What a path leads to on this machine: found by descriptors beneath the roots, and opened."""

import errno
import os
import stat
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cache
from typing import NamedTuple

from fsagent_tools import errors
from fsagent_tools.files.base import ResolvedPath
from fsagent_tools.files.errors import loop, no_such, not_a_directory, outside, refusal, shown
from fsagent_tools.names import may_be_respelled, meant

SYS_OPENAT2 = 437  # the same number on every architecture since Linux 5.6
RESOLVE_NO_MAGICLINKS, RESOLVE_BENEATH = 0x02, 0x08
STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
MAX_LINKS = 40  # the kernel's own limit, path_resolution(7)
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY
INNER = DIRECTORY | os.O_NOFOLLOW
AT_CWD = -100  # AT_FDCWD of linux/fcntl.h: in place of a directory
_GRAIN_NS = 20_000_000  # kernels stamp files once a tick, at most 10 ms; doubled
_COARSE_GRAIN_NS = 2_000_000_000  # FAT; also any stamp in whole seconds
_LARGEST = 64 << 20  # bytes of one read
_STATX_BTIME = 0x800  # asked for and, in the answer, known
_STATX_SIZE, _STATX_BIRTH = 256, 80  # bytes of the answer, and where the time of birth is in it
_AT_SYMLINK_NOFOLLOW = 0x100
_STATFS_SIZE = 4096  # bytes, more than any system's answer has; the first are the type on Linux
_OVERLAY = 0x794C7630  # OVERLAYFS_SUPER_MAGIC of linux/magic.h
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}


def os_error(code: int) -> OSError:
    """An error of the system with its own words."""
    return OSError(code, os.strerror(code))


@contextmanager
def opened(fd: int, name: str, flags: int = INNER, mode: int = 0o600) -> Iterator[int]:
    """What is called so beneath `fd`, opened: by default a directory, never through a link."""
    found = os.open(name, flags, mode, dir_fd=fd)
    try:
        yield found
    finally:
        os.close(found)


def kind_of(mode: int) -> str:
    """ "file", "directory", "link", or "device, socket or pipe"."""
    return _KINDS.get(stat.S_IFMT(mode), "device, socket or pipe")


def check_regular(status: os.stat_result) -> None:
    """Raise `OSError` for what is no regular file."""
    if not stat.S_ISREG(status.st_mode):
        raise os_error(errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.ENXIO)


class Signature(NamedTuple):
    """What `stat` says of a file's content; any write changes it, save one within a clock tick.

    `str()` of it holds in other processes, too, as that of an `Etag` does.
    """

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int
    device: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Signature":
        return cls(
            status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev
        )

    def racy(self, now_ns: int | None = None) -> bool:
        """True while a further write could leave the same stamps (git's racy-index rule)."""
        grain = _GRAIN_NS if self.mtime_ns % 1_000_000_000 else _COARSE_GRAIN_NS
        now = time.time_ns() if now_ns is None else now_ns
        return now - max(self.mtime_ns, self.ctime_ns) < grain


class LocalEntry(NamedTuple):
    """What is at a path, of a link the link."""

    status: os.stat_result

    @property
    def kind(self) -> str:
        return kind_of(self.status.st_mode)

    @property
    def size(self) -> int:
        return self.status.st_size

    @property
    def version(self) -> Signature:
        return Signature.of(self.status)


class LocalFile:
    """An open regular file; `version` is as of opening, so from before any byte was read."""

    __slots__ = ("fd", "version")

    def __init__(self, fd: int) -> None:
        """Takes over `fd` and closes it when it is no regular file. Raises `OSError`."""
        self.fd = fd
        try:
            status = os.fstat(fd)
            check_regular(status)
        except BaseException:
            os.close(fd)
            raise
        self.version = Signature.of(status)

    def pread(self, size: int, offset: int) -> bytes:
        parts = []
        while size > 0 and (part := os.pread(self.fd, min(size, _LARGEST), offset)):
            parts.append(part)
            size, offset = size - len(part), offset + len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


@cache
def _statx() -> Callable[[int, str], bytes | None] | None:
    import ctypes

    function = getattr(ctypes.CDLL(None), "statx", None)
    if function is None:
        return None
    text, number = ctypes.c_char_p, ctypes.c_uint
    function.argtypes = (ctypes.c_int, text, ctypes.c_int, number, ctypes.c_void_p)

    def call(dir_fd: int, name: str) -> bytes | None:
        found = ctypes.create_string_buffer(_STATX_SIZE)
        wrong = function(dir_fd, os.fsencode(name), _AT_SYMLINK_NOFOLLOW, _STATX_BTIME, found)
        return None if wrong else found.raw

    return call


def birth_ns(dir_fd: int, name: str) -> int | None:
    """When an entry, a link itself, was made, in ns since 1970; None where nothing tells."""
    call = _statx()
    found = call(dir_fd, name) if call else None
    if found is None or not struct.unpack_from("=I", found)[0] & _STATX_BTIME:
        return None
    seconds, nanoseconds = struct.unpack_from("=qI", found, _STATX_BIRTH)
    return int(seconds * 10**9 + nanoseconds)


def is_overlay(path: str) -> bool:
    """Whether it is on a file system that copies a directory when something in it first changes."""
    import ctypes

    function = getattr(ctypes.CDLL(None), "statfs", None)
    found = ctypes.create_string_buffer(_STATFS_SIZE)
    if function is None or function(os.fsencode(path), found):
        return False
    return bool(struct.unpack_from("l", found)[0] == _OVERLAY)


@cache
def open_beneath() -> Callable[[int, bytes, int], int] | None:
    """`call(dir_fd, path, flags) -> fd` that cannot leave `dir_fd`; None where the kernel lacks it.

    `path` must hold no NUL. Raises `OSError`; EXDEV for a path or link that leaves. Probed once.
    """
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    syscall = ctypes.CDLL(None, use_errno=True).syscall
    text, number = ctypes.c_char_p, ctypes.c_long
    syscall.argtypes = (number, ctypes.c_int, text, text, ctypes.c_size_t)
    syscall.restype = number

    def call(dir_fd: int, path: bytes, flags: int) -> int:
        resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS
        how = struct.pack("=QQQ", flags | os.O_CLOEXEC, 0, resolve)
        fd: int = syscall(SYS_OPENAT2, dir_fd, path, how, len(how))
        if fd < 0:
            raise os_error(ctypes.get_errno())
        return fd

    try:
        with opened(AT_CWD, "/", os.O_PATH | os.O_DIRECTORY) as root:
            os.close(call(root, b".", os.O_PATH | os.O_DIRECTORY))
    except OSError:
        return None
    return call


def path_of(fd: int) -> str | None:
    """The kernel's own path of an open object; None where it does not tell or the name is gone."""
    try:
        if sys.platform == "darwin":
            import fcntl

            return os.fsdecode(fcntl.fcntl(fd, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
        path = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return None
    return path if path.startswith("/") and not path.endswith(" (deleted)") else None


def beneath(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


class Root:
    """One allowed directory: `given` as spelled by the host, `real` with links resolved."""

    def __init__(self, given: str) -> None:
        self.given = given
        self.fd = os.open(given, DIRECTORY)
        self.real = path_of(self.fd) or os.path.realpath(given)

    def __del__(self) -> None:
        # Whoever still works beneath this root holds it; so no descriptor is closed under a call.
        with suppress(AttributeError, OSError):
            os.close(self.fd)


class Roots:
    """The main root, and the further ones that a policy's absolute `allowed_paths` open."""

    def __init__(self, given: str, allowed: Iterable[str], *, walks: bool) -> None:
        """Does no IO.

        allowed: absolute paths; one that is not there opens nothing. walks: never use openat2.
        """
        self._given, self._allowed, self.walks = given, tuple(allowed), walks
        self._lock = threading.Lock()
        self._opened: tuple[Root, Mapping[str, Root]] | None = None

    @property
    def main(self) -> Root:
        """The workspace root, opened on first use. Raises a `ToolError` when it cannot be."""
        return (self._opened or self._open())[0]

    @property
    def spelled(self) -> Mapping[str, Root]:
        """All roots by their paths, as given and with links resolved. Raises as `main`."""
        return (self._opened or self._open())[1]

    def _open(self) -> tuple[Root, Mapping[str, Root]]:
        with self._lock:
            if self._opened is None:
                try:
                    main = Root(os.path.abspath(self._given))
                except OSError as error:
                    raise refusal(error, self._given) from None
                found = [main]
                for base in self._allowed:
                    if not beneath(base, main.given) and not beneath(base, main.real):
                        with suppress(OSError):
                            is_directory = os.path.isdir(base)
                            found.append(Root(base if is_directory else os.path.dirname(base)))
                found.reverse()  # the first of several stays
                by_real = {root.real: root for root in found}
                self._opened = main, by_real | {root.given: root for root in found}
            return self._opened

    def relative(self, absolute: str) -> str | None:
        """A real absolute path from the main root, unless it is beneath a further one, in which
        case it stays; None when it is beneath no root.
        """
        found = self._relative(absolute)
        if found is None:  # a root may be renamed while it is open
            for root in self.spelled.values():
                root.real = path_of(root.fd) or root.real
            found = self._relative(absolute)
        return found

    def _relative(self, absolute: str) -> str | None:
        real = self.main.real
        if absolute == real:
            return "."
        if absolute.startswith(real if real == "/" else real + "/"):
            return absolute[len(real) :].lstrip("/")
        within = any(beneath(absolute, root.real) for root in self.spelled.values())
        return absolute if within else None

    def own(self, path: str) -> str:
        """`path` from the main root, unless it begins with a root's own path."""
        if path[:1] != "/" or any(beneath(path, root) for root in self.spelled):
            return path
        return path.lstrip("/") or "."

    def split(self, absolute: str) -> tuple[str, str]:
        """A real root, and what a path is from there. Raises `OutsideWorkspace`."""
        for root in self.spelled.values():
            if beneath(absolute, root.real):
                return root.real, absolute[len(root.real) :].strip("/")
        raise outside(absolute)

    def holds_root(self, real: str) -> bool:
        return any(beneath(root.real, real) for root in self.spelled.values())

    def open_directly(
        self, path: str, *, folder: bool, virtual: bool
    ) -> tuple[LocalFile | ResolvedPath, str] | None:
        """By one system call. None where that fails: the walk decides, and finds the words."""
        open_at = open_beneath()
        if open_at is None or self.walks:
            return None
        path = self.own(path) if virtual else path
        root = self.main  # which refuses an absolute path
        for spelled, other in self.spelled.items():
            if path.startswith(f"{spelled}/"):
                path, root = path[len(spelled) :].lstrip("/") or ".", other
                break
        try:
            fd = open_at(root.fd, os.fsencode(path), DIRECTORY if folder else READ)
        except OSError:
            return None
        if (real := path_of(fd)) is None:
            os.close(fd)
            return None
        try:
            return ResolvedPath(real, (), fd=fd) if folder else LocalFile(fd), real
        except OSError:
            return None

    def walk(self, path: str, spelled: str, *, follow: bool = True) -> ResolvedPath:
        """Resolve `path` one component at a time, each opened beneath the one before.

        spelled: what refusals call it. Links are read and followed by hand, so a link (also an
        absolute one) leads only to where a root is; `..` goes back to the directory that was really
        opened. `follow` resolves a link in the last place. Raises `ToolError` for what leaves,
        loops or goes through a file, `OSError` for what the system refuses.
        """
        with closing(_Walk(self, path, spelled)) as walk:
            names, slash = walk.run(follow)
            fd = walk.fds.pop()
        above = path_of(fd)
        if above is None and os.fstat(walk.root.fd).st_nlink == 0:
            os.close(fd)
            raise errors.Missing(
                f"The workspace root {shown(walk.root.real)} was deleted;"
                " one that is there now is another.",
                hint="Stop and say so: the host application has to open the workspace again.",
            )
        above = above or "/".join((walk.root.real.rstrip("/"), *walk.parts)) or "/"
        return ResolvedPath(above, names, slash, fd)

    def close(self) -> None:
        with self._lock:
            self._opened = None


def components(path: str) -> list[str]:
    """Names and `..` of a path, last first; a "." in front when the path ends in a slash."""
    names = [part for part in path.split("/") if part not in ("", ".")]
    if path.endswith(("/", "/.")):
        names.append(".")
    return names[::-1]


class _Walk:
    """fds: of the directories on the way, the last one is where the path ends; parts: their names
    beneath `root`.
    """

    def __init__(self, roots: Roots, path: str, spelled: str) -> None:
        self.roots, self.path, self.links = roots, spelled, 0
        self.fds: list[int] = []
        self.parts: list[str] = []
        self.root = roots.main
        self.outer: list[str] | None = None  # names from "/" on, while outside every root
        self.todo = components(path)
        if path.startswith("/"):
            self._leave()
        else:
            self.fds.append(os.dup(self.root.fd))

    def close(self) -> None:
        while self.fds:
            os.close(self.fds.pop())

    def run(self, follow: bool) -> tuple[list[str], bool]:
        """The names that are left below the last directory, and whether they have to be one."""
        while self.todo:
            name = self.todo.pop()
            if self.fds and may_be_respelled(name):
                name = as_on_disk(name, self.fds[-1])
            if self.outer is not None:
                self._outside(name)
            elif name == "..":
                self._up()
            elif self.todo:  # a "." is of a link that ends in a slash
                if name != "." and not self._enter(name):
                    if ".." in self.todo:  # behind a missing name it has no meaning
                        raise no_such(self.path, name)
                    left = [name, *(n for n in reversed(self.todo) if n != ".")]
                    return left, self.todo[:1] == ["."]
            elif name != "." and not (follow and self._link(name)):
                return [name], False
        if self.outer is not None:
            raise outside(self.path)
        if not self.parts:
            return [], True
        os.close(self.fds.pop())
        return [self.parts.pop()], True

    def _enter(self, name: str) -> bool:
        try:
            self.fds.append(os.open(name, STEP, dir_fd=self.fds[-1]))
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            if not self._link(name):
                raise not_a_directory(self.path, name) from None
        else:
            self.parts.append(name)
        return True

    def _link(self, name: str) -> bool:
        """Queue what the link says; False when `name` is no link."""
        try:
            target = os.readlink(name, dir_fd=self.fds[-1])
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return False
            raise
        self.links += 1
        if self.links > MAX_LINKS:
            raise loop(self.path)
        self.todo += components(target)
        if target.startswith("/"):
            self._leave()
        return True

    def _up(self) -> None:
        if self.parts:
            os.close(self.fds.pop())
            self.parts.pop()
            return
        self.todo += components(os.path.dirname(self.root.real))
        self._leave()

    def _leave(self) -> None:
        self.close()
        self.parts, self.outer = [], []
        self._arrive()

    def _outside(self, name: str) -> None:
        """One step outside: nothing is opened there, names only lead back to a root or nowhere."""
        assert self.outer is not None
        if name == ".":
            return
        if name != "..":
            self.outer.append(name)
        elif any(beneath(root.real, self._outer()) for root in self.roots.spelled.values()):
            del self.outer[-1:]
        else:  # what `..` means there depends on links that are not ours to read
            raise outside(self.path)
        self._arrive()

    def _outer(self) -> str:
        return "/" + "/".join(self.outer or ())

    def _arrive(self) -> None:
        if root := self.roots.spelled.get(self._outer()):
            self.root, self.outer = root, None
            self.fds.append(os.dup(root.fd))


def as_on_disk(name: str, folder: int) -> str:
    """The name in the open directory that `name` means.

    Models write "é" as one character, macOS as two, and copy names as a listing shows them. Linux
    takes all these for different names, so that what a listing shows could not be read when it is
    written down again, and a write would make a second file that looks the same.

    A name that is there as it is stays, and so does one for which there are several, or none.
    """
    with suppress(OSError):
        try:
            os.lstat(name, dir_fd=folder)
        except FileNotFoundError:
            with opened(folder, ".") as listing:
                return meant(name, os.listdir(listing))
    return name
