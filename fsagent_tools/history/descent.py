"""The directories of a tree, one after the other, each opened beneath the one before."""

import errno
import os

from fsagent_tools.files.beneath import STEP
from fsagent_tools.files.open_file import READ

_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


def is_absent(error: OSError) -> bool:
    """Whether it tells that there is no such entry, and not only that it cannot be looked at."""
    return error.errno in _ABSENT


class Descent:
    """No link is followed on the way. The nearer the next directory, the fewer are opened."""

    def __init__(self, root: str) -> None:
        """Does no IO."""
        self.root, self._fds, self._names = root, list[int](), list[str]()
        self._inside: str | None = None  # the directory that was entered

    def enter(self, folder: str) -> int:
        """A descriptor for what is in it, good until another is entered; "" is the root.

        Raises `OSError` for what is no directory by now.
        """
        if folder == self._inside:
            return self._fds[-1]
        if not self._fds:
            self._fds.append(os.open(self.root, STEP))
        names = folder.split("/") if folder else []
        same = 0
        for one, other in zip(names, self._names, strict=False):
            if one != other:
                break
            same += 1
        self._leave(same)
        for name in names[same:]:
            self._fds.append(os.open(name, STEP, dir_fd=self._fds[-1]))
            self._names.append(name)
        self._inside = folder
        return self._fds[-1]

    def status(self, path: str) -> os.stat_result:
        """Of the entry itself; "" is the root. Raises `OSError`."""
        folder, _, name = path.rpartition("/")
        return os.lstat(name or ".", dir_fd=self.enter(folder))

    def open(self, path: str) -> int:
        """What is no link, for reading; no pipe keeps us waiting. Raises `OSError`."""
        folder, _, name = path.rpartition("/")
        return os.open(name, READ | os.O_NOFOLLOW, dir_fd=self.enter(folder))

    def link(self, path: str) -> str:
        """What a link says. Raises `OSError`."""
        folder, _, name = path.rpartition("/")
        return os.readlink(name, dir_fd=self.enter(folder))

    def close(self) -> None:
        """Holds no descriptor from now on; may be used again."""
        self._leave(-1)

    def _leave(self, depth: int) -> None:
        """depth: how many names stay; -1 leaves the root, too."""
        self._inside = None
        del self._names[max(0, depth) :]
        while len(self._fds) > depth + 1:
            os.close(self._fds.pop())
