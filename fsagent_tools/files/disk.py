"""The disk beneath some roots: what a path leads to there is found by descriptors, and held."""

import os
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from typing import Any

from fsagent_tools.files import refusals
from fsagent_tools.files.beneath import beneath, walk
from fsagent_tools.files.handle import LocalHandle
from fsagent_tools.files.keeping import Recorder, Recording
from fsagent_tools.files.locks import hold_all, locked
from fsagent_tools.files.open_file import (
    AT_CWD,
    DIRECTORY,
    READ,
    LocalFile,
    LocalFolder,
    opened,
)
from fsagent_tools.files.port import FileSource, os_error

SYS_OPENAT2 = 437  # the same number on every architecture since Linux 5.6
RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_BENEATH = 0x08
OpenBeneath = Callable[[int, bytes, int], int]


@cache
def open_beneath() -> OpenBeneath | None:
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
    resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS

    def call(dir_fd: int, path: bytes, flags: int) -> int:
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


class Root:
    """One allowed directory: `given` as spelled by the host, `real` with links resolved."""

    def __init__(self, given: str) -> None:
        self.given = given
        self.fd = os.open(given, os.O_RDONLY | os.O_DIRECTORY)
        self.real = path_of(self.fd) or os.path.realpath(given)

    def __del__(self) -> None:
        # Whoever still works beneath this root holds it; so no descriptor is closed under a call.
        with suppress(AttributeError, OSError):
            os.close(self.fd)

    def join(self, parts: Iterable[str]) -> str:
        return "/".join((self.real.rstrip("/"), *parts)) or "/"


class LocalStore(FileSource):
    """The main root, and the further ones that a policy's absolute `allowed_paths` open."""

    def __init__(
        self,
        given: str,
        opened: Iterable[str],
        *,
        durable: bool,
        walk: bool,
        recording: Recording | None,
    ) -> None:
        """Does no IO. opened: absolute paths. The others: see `LocalFiles`."""
        self._given, self._opened, self._walks = given, tuple(opened), walk
        self.durable, self.recording = durable, recording
        self._recorder: Recorder | None = None
        self._lock = threading.Lock()
        self._roots: tuple[Root, Mapping[str, Root]] | None = None

    @property
    def recorder(self) -> Recorder | None:
        """What is told of changes; asked for when something first changes."""
        if self._recorder is None and self.recording:
            self._recorder = self.recording()
        return self._recorder

    def at_once(
        self, path: str, *, folder: bool, virtual: bool
    ) -> tuple[LocalFile | LocalFolder, str] | None:
        """By one system call. None where that fails: the walk decides, and finds the words."""
        open_at = open_beneath()
        if open_at is None or self._walks:
            return None
        root, raw = self._begun(self._own(path) if virtual else path)
        try:
            fd = open_at(root.fd, raw, DIRECTORY if folder else READ)
        except OSError:
            return None
        if (real := path_of(fd)) is None:
            os.close(fd)
            return None
        try:
            return (LocalFolder if folder else LocalFile)(fd), real
        except OSError:
            return None

    def find(self, path: str, *, follow: bool, virtual: bool) -> LocalHandle:
        own = self._own(path) if virtual else path
        spot = walk(self, own, path, follow=follow)
        above = path_of(spot.fd)
        if above is None and os.fstat(spot.root.fd).st_nlink == 0:
            os.close(spot.fd)
            raise refusals.root_deleted(spot.root.real)
        return LocalHandle(
            self, spot.fd, above or spot.root.join(spot.parts), spot.names, slash=spot.slash
        )

    def holds_root(self, real: str) -> bool:
        return any(beneath(root.real, real) for root in self.spelled.values())

    def hold(
        self, handles: Sequence[Any], path: str, timeout: float
    ) -> AbstractContextManager[None]:
        return hold_all([(found.fd, "/".join(found.missing)) for found in handles], path, timeout)

    def hold_folder(self, handle: Any, path: str, timeout: float) -> AbstractContextManager[None]:
        return locked(handle.fd, "", timeout, path)

    @property
    def main(self) -> Root:
        """The workspace root, opened on first use. Raises a `ToolError` when it cannot be."""
        return (self._roots or self._open())[0]

    @property
    def spelled(self) -> Mapping[str, Root]:
        """All roots by their paths, as given and with links resolved. Raises as `main`."""
        return (self._roots or self._open())[1]

    def _open(self) -> tuple[Root, Mapping[str, Root]]:
        with self._lock:
            if self._roots is None:
                try:
                    main = Root(os.path.abspath(self._given))
                except OSError as error:
                    raise refusals.refusal(error, self._given) from None
                found = [main, *self._further(main)][::-1]  # the first of several stays
                by_real = {root.real: root for root in found}
                self._roots = main, by_real | {root.given: root for root in found}
            return self._roots

    def _further(self, main: Root) -> list[Root]:
        """A path that is not there opens nothing."""
        roots = []
        for base in self._opened:
            if beneath(base, main.given) or beneath(base, main.real):
                continue
            try:
                roots.append(Root(base if os.path.isdir(base) else os.path.dirname(base)))
            except OSError:
                continue
        return roots

    def split(self, absolute: str) -> tuple[str, str]:
        """A real root, and what a path is from there. Raises `OutsideWorkspace`."""
        for root in self.spelled.values():
            if beneath(absolute, root.real):
                return root.real, absolute[len(root.real) :].strip("/")
        raise refusals.outside(absolute)

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
        if any(beneath(absolute, root.real) for root in self.spelled.values()):
            return absolute
        return None

    def _own(self, path: str) -> str:
        """`path` from the main root, unless it begins with a root's own path."""
        if path[:1] != "/" or any(beneath(path, root) for root in self.spelled):
            return path
        return path.lstrip("/") or "."

    def _begun(self, path: str) -> tuple[Root, bytes]:
        """The root that an absolute path begins with; the main one (which refuses it) if none."""
        for spelled, root in self.spelled.items():
            if path.startswith(f"{spelled}/"):
                return root, os.fsencode(path[len(spelled) :].lstrip("/") or ".")
        return self.main, os.fsencode(path)

    def close(self) -> None:
        with self._lock:
            self._roots = None
