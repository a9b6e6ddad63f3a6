"""Where else beneath a root there is an entry of the name that was asked for."""

import os
from collections import deque
from collections.abc import Iterator

from fsagent_tools.files.roots import Root
from fsagent_tools.files.syscalls import open_beneath

MOST_SEEN = 5_000  # entries, those nearest to the root first; about 5 ms
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY
_SKIPPED = ("node_modules", "__pycache__")


def places_of(name: str, root: Root) -> Iterator[str]:
    """Paths from `root` of entries called `name`; no links are followed, and no dot directories.

    Nothing where the kernel cannot keep a path beneath a directory.
    """
    open_at, left, waiting = open_beneath(), MOST_SEEN, deque([""])
    while open_at and waiting and left > 0:
        prefix = waiting.popleft()
        try:
            fd = open_at(root.fd, os.fsencode(prefix or "."), _DIRECTORY)
        except OSError:
            continue
        try:
            with os.scandir(fd) as entries:
                for entry in entries:
                    left -= 1
                    if entry.name == name:
                        yield prefix + name
                    if entry.is_dir(follow_symlinks=False) and not passed_over(entry.name):
                        waiting.append(f"{prefix}{entry.name}/")
                    if left <= 0:
                        break
        except OSError:
            pass
        finally:
            os.close(fd)


def passed_over(name: str) -> bool:
    """Whether a directory is not looked into."""
    return name.startswith(".") or name in _SKIPPED
