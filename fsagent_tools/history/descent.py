"""The directories of a tree, one after the other, each opened beneath the one before."""

import os

from fsagent_tools.files.beneath import STEP


class Descent:
    """No link is followed on the way. The nearer the next directory, the fewer are opened."""

    def __init__(self, root: str) -> None:
        """Does no IO."""
        self._root, self._fds, self._names = root, list[int](), list[str]()

    def enter(self, folder: str) -> int:
        """A descriptor for what is in it, good until another is entered; "" is the root.

        Raises `OSError` for what is no directory by now.
        """
        if not self._fds:
            self._fds.append(os.open(self._root, STEP))
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
        return self._fds[-1]

    def status(self, path: str) -> os.stat_result:
        """Of the entry itself; "" is the root. Raises `OSError`."""
        folder, _, name = path.rpartition("/")
        return os.lstat(name or ".", dir_fd=self.enter(folder))

    def link(self, path: str) -> str:
        """What a link says. Raises `OSError`."""
        folder, _, name = path.rpartition("/")
        return os.readlink(name, dir_fd=self.enter(folder))

    def close(self) -> None:
        """Holds no descriptor from now on; may be used again."""
        self._leave(-1)

    def _leave(self, depth: int) -> None:
        """depth: how many names stay; -1 leaves the root, too."""
        del self._names[max(0, depth) :]
        while len(self._fds) > depth + 1:
            os.close(self._fds.pop())
