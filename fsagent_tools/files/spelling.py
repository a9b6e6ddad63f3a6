"""Names of the same letters, composed otherwise: models write "é" as one character, macOS as two.

Linux takes both for different names, so that what a listing shows could not be read when it is
written down again, and a write would make a second file that looks the same.
"""

import os

from fsagent_tools.policy.paths import composed

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def as_on_disk(path: str, root: int) -> str:
    """`path`, relative to the open directory `root`, with the names of what is there.

    A name that is there as it is stays, and so does one for which there are several, or none. No
    link is followed and nothing above entered: what is behind those stays as it is written.
    """
    names = path.split("/")
    fd = os.open(".", _DIRECTORY, dir_fd=root)
    try:
        for at, name in enumerate(names):
            if name == "..":
                break
            names[at] = _entry(fd, name)
            inner = os.open(names[at] or ".", _DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = inner
    except OSError:  # there is nothing beneath: the rest is as it was sent
        pass
    finally:
        os.close(fd)
    return "/".join(names)


def _entry(fd: int, name: str) -> str:
    if name.isascii():
        return name
    names = os.listdir(fd)
    alike = [n for n in names if composed(n) == composed(name)]
    return alike[0] if len(alike) == 1 and name not in names else name
