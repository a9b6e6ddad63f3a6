"""Where a path ends, found one component at a time and never outside the roots."""

import errno
import os
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from fsagent_tools.files import refusals
from fsagent_tools.files.open_file import opened
from fsagent_tools.names import may_be_respelled, meant

if TYPE_CHECKING:
    from fsagent_tools.files.disk import LocalStore, Root

MAX_LINKS = 40  # the kernel's own limit, path_resolution(7)
STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW


class Spot(NamedTuple):
    """Where a path ends: an open directory and the names that are left below it.

    names: one name for an ordinary end, existing or not; more when parents are missing; none
        for a root itself. parts: the directory's own path beneath `root`. The caller closes `fd`.
    slash: the path ended in a slash, so only a directory will do.
    """

    root: "Root"
    fd: int
    parts: list[str]
    names: list[str]
    slash: bool


def components(path: str) -> list[str]:
    """Names and `..` of a path, last first; a "." in front when the path ends in a slash."""
    names = [part for part in path.split("/") if part not in ("", ".")]
    if path.endswith(("/", "/.")):
        names.append(".")
    return names[::-1]


def walk(roots: "LocalStore", path: str, spelled: str, *, follow: bool = True) -> Spot:
    """Resolve `path` one component at a time, each opened beneath the one before.

    spelled: what refusals call it. Links are read and followed by hand, so a link (also an absolute
    one) leads only to where a root is; `..` goes back to the directory that was really opened.
    `follow` resolves a link in the last place. Raises `ToolError` for what leaves, loops or goes
    through a file, `OSError` for what the system refuses.
    """
    with closing(_Walk(roots, path, spelled)) as steps:
        return steps.run(follow)


class _Walk:
    def __init__(self, roots: "LocalStore", path: str, spelled: str) -> None:
        self.roots, self.path, self.links = roots, spelled, 0
        self.fds: list[int] = []
        self.parts: list[str] = []
        self.root: Root = roots.main
        self.outer: list[str] | None = None  # names from "/" on, while outside every root
        self.todo = components(path)
        if path.startswith("/"):
            self._leave()
        else:
            self.fds.append(os.dup(self.root.fd))

    def close(self) -> None:
        while self.fds:
            os.close(self.fds.pop())

    def run(self, follow: bool) -> Spot:
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
                    return self._spot(self._missing(name), self.todo[:1] == ["."])
            elif name != "." and not (follow and self._link(name)):
                return self._spot([name], False)
        return self._directory()

    def _directory(self) -> Spot:
        if self.outer is not None:
            raise refusals.outside(self.path)
        if not self.parts:
            return self._spot([], True)
        os.close(self.fds.pop())
        return self._spot([self.parts.pop()], True)

    def _spot(self, names: list[str], slash: bool) -> Spot:
        return Spot(self.root, self.fds.pop(), self.parts, names, slash)

    def _missing(self, name: str) -> list[str]:
        """The names still to go; `..` behind a missing one has no meaning."""
        if ".." in self.todo:
            raise refusals.no_such(self.path, name)
        return [name, *(n for n in reversed(self.todo) if n != ".")]

    def _enter(self, name: str) -> bool:
        try:
            self.fds.append(os.open(name, STEP, dir_fd=self.fds[-1]))
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            if not self._link(name):
                raise refusals.not_a_directory(self.path, name) from None
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
            raise refusals.loop(self.path)
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
            raise refusals.outside(self.path)
        self._arrive()

    def _outer(self) -> str:
        return "/" + "/".join(self.outer or ())

    def _arrive(self) -> None:
        if root := self.roots.spelled.get(self._outer()):
            self.root, self.outer = root, None
            self.fds.append(os.dup(root.fd))


def beneath(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


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
