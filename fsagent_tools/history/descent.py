"""The directories of a tree, one after the other, each opened beneath the one before."""

import errno
import os
from contextlib import AbstractContextManager

from fsagent_tools.files.open_file import READ, opened
from fsagent_tools.files.resolve import STEP

_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


def is_absent(error: OSError) -> bool:
    """Whether it tells that there is no such entry, and not only that it cannot be looked at."""
    return error.errno in _ABSENT


class Descent:
    """No link is followed on the way. The nearer the next directory, the fewer are opened."""

    def __init__(self, root: str) -> None:
        """Does no IO."""
        self.root, self._open = root, list[tuple[str, int]]()  # each with a slash behind it

    def enter(self, folder: str) -> int:
        """A descriptor for what is in it, good until another is entered; "" is the root.

        Raises `OSError` for what is no directory by now.
        """
        path, opened = f"{folder}/" if folder else "", self._open
        if not opened:
            opened.append(("", os.open(self.root, STEP)))
        above, fd = opened[-1]
        while not path.startswith(above):
            os.close(opened.pop()[1])
            above, fd = opened[-1]
        while above != path:
            name = path[len(above) : path.index("/", len(above))]
            fd = os.open(name, STEP, dir_fd=fd)
            above += f"{name}/"
            opened.append((above, fd))
        return fd

    def status(self, path: str) -> os.stat_result:
        """Of the entry itself; "" is the root. Raises `OSError`."""
        folder, _, name = path.rpartition("/")
        return os.lstat(name or ".", dir_fd=self.enter(folder))

    def opened(self, path: str) -> AbstractContextManager[int]:
        """What is no link, for reading; no pipe keeps us waiting. Raises `OSError`."""
        folder, _, name = path.rpartition("/")
        return opened(self.enter(folder), name, READ | os.O_NOFOLLOW)

    def link(self, path: str) -> str:
        """What a link says. Raises `OSError`."""
        folder, _, name = path.rpartition("/")
        return os.readlink(name, dir_fd=self.enter(folder))

    def close(self) -> None:
        """Holds no descriptor from now on; may be used again."""
        while self._open:
            os.close(self._open.pop()[1])
