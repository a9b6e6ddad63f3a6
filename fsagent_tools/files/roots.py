"""The directories a workspace may reach, and where in them an object is."""

import os
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress

from fsagent_tools import errors
from fsagent_tools.files import refusals
from fsagent_tools.files.port import Place
from fsagent_tools.files.spelling import as_on_disk
from fsagent_tools.files.syscalls import open_beneath


def checked(path: str) -> bytes:
    """The bytes of a path that a file system could hold. Raises `InvalidPath`."""
    if not path.strip():
        raise errors.InvalidPath("The path is empty.", hint="Name a file, or '.' for the root.")
    if refusals.WINDOWS.match(path) and os.name != "nt":
        raise errors.InvalidPath(
            f"{refusals.shown(path)!r} is a Windows path.",
            hint="Use a path relative to the workspace root.",
        )
    if "\0" in path:
        raise errors.InvalidPath(
            f"The path {refusals.shown(path)!r} contains a NUL character.", hint="Remove it."
        )
    try:
        raw = path.encode()
    except UnicodeEncodeError:
        with suppress(UnicodeEncodeError):
            raise refusals.not_utf8(refusals.printable(path)) from None
        raise errors.InvalidPath(
            f"The path {ascii(path)[:200]} contains a lone surrogate, which is not a character.",
            hint="Write the name as ordinary text.",
        ) from None
    if len(raw) >= refusals.PATH_MAX:
        raise refusals.too_long(path)
    return raw


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


def placed(relative: str, absolute: str, *, virtual: bool) -> Place:
    """virtual: answers have "/" for the main root."""
    if not virtual or relative.startswith("/"):
        return Place(relative, absolute, relative, absolute)
    told = "/" if relative == "." else f"/{relative}"
    return Place(relative, absolute, told, told)


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


class Roots:
    """The main root and the further ones that a policy's absolute `allowed_paths` open."""

    def __init__(self, given: str, opened: Iterable[str]) -> None:
        """Does no IO. opened: absolute paths."""
        self._given = given
        self._opened = tuple(opened)
        self._lock = threading.Lock()
        self._main: Root | None = None
        self.spelled: dict[str, Root] = {}

    @property
    def main(self) -> Root:
        """The workspace root, opened on first use. Raises a `ToolError` when it cannot be."""
        return self._main or self._open()

    def _open(self) -> Root:
        with self._lock:
            if self._main is not None:
                return self._main
            try:
                main = Root(os.path.abspath(self._given))
            except OSError as error:
                raise refusals.refusal(error, self._given) from None
            found = [main, *self._further(main)]
            by_real = {root.real: root for root in reversed(found)}
            self.spelled = by_real | {root.given: root for root in reversed(found)}
            self._main = main
            return main

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

    def place(self, absolute: str, *, virtual: bool) -> Place | None:
        """The place of a real absolute path; None when it is beneath no root."""
        found = self._relative(absolute)
        if found is None:  # a root may be renamed while it is open
            for root in self.spelled.values():
                root.real = path_of(root.fd) or root.real
            found = self._relative(absolute)
        return None if found is None else placed(found, absolute, virtual=virtual)

    def _relative(self, absolute: str) -> str | None:
        real = self.main.real
        if absolute == real:
            return "."
        if absolute.startswith(real if real == "/" else real + "/"):
            return absolute[len(real) :].lstrip("/")
        if any(beneath(absolute, root.real) for root in self.spelled.values()):
            return absolute
        return None

    def own(self, path: str) -> str:
        """`path` from the main root, unless it begins with a root's own path."""
        if path[:1] != "/":
            return path
        _ = self.main  # opens the roots
        return (
            path if any(beneath(path, root) for root in self.spelled) else path.lstrip("/") or "."
        )

    def respelled(self, path: str) -> str:
        """`path` with the names that stand on disk for the same letters, composed otherwise."""
        root, raw = self._begun(path)
        inner = os.fsdecode(raw)
        if inner.startswith("/") or not path.endswith(inner):
            return path
        return path[: len(path) - len(inner)] + as_on_disk(inner, root.fd)

    def open_at_once(self, path: str, flags: int, *, virtual: bool) -> tuple[int, Place] | None:
        """An object beneath a root and its place, by one system call; `path` was `checked`.

        None where that fails: the walk decides, and finds the words.
        """
        raw, root = path.encode(), self.main
        open_at = open_beneath()
        if open_at is None:
            return None
        if raw.startswith(b"/"):
            root, raw = self._begun(self.own(path) if virtual else path)
        try:
            fd = open_at(root.fd, raw, flags)
        except OSError:
            return None
        real = path_of(fd)
        place = self.place(real, virtual=virtual) if real else None
        if place is None:
            os.close(fd)
            return None
        return fd, place

    def _begun(self, path: str) -> tuple[Root, bytes]:
        """The root that an absolute path begins with; the main one (which refuses it) if none."""
        for spelled, root in self.spelled.items() if path.startswith("/") else ():
            if path.startswith(spelled + "/"):
                return root, os.fsencode(path[len(spelled) :].lstrip("/") or ".")
        return self.main, os.fsencode(path)

    def close(self) -> None:
        with self._lock:
            self._main, self.spelled = None, {}


def beneath(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")
