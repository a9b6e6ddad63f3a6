"""What is at a path at one moment, as far as an undo restores it."""

import hashlib
import os
import stat
from typing import NamedTuple

from fsagent_tools.files.resolve import READ, birth_ns, kind_of, opened

MAX_FILE = 10 << 20  # bytes of a file whose content is kept when a command changes it
MAX_FILE_OF_TOOL = 64 << 20  # the same for a tool, which names the file that it changes
UNKEPT = "="  # begins what stands for a content that is only known by its inode


class PathEntry(NamedTuple):
    """hash: of a file's content or a link's target, "" for a directory; where that is not kept,
    what identifies it, so that it can be moved back.
    """

    mode: int
    uid: int
    gid: int
    hash: str

    @classmethod
    def of(cls, status: os.stat_result, digest: str) -> "PathEntry":
        return cls(status.st_mode, status.st_uid, status.st_gid, digest)

    @classmethod
    def unkept(cls, fd: int, name: str, status: os.stat_result) -> "PathEntry":
        known: tuple[object, ...] = (status.st_size, status.st_mtime_ns)
        if stat.S_ISDIR(status.st_mode):  # whose inode may be that of one that was removed
            known = (birth_ns(fd, name),)
        return cls.of(status, UNKEPT + ":".join(map(str, (status.st_ino, *known))))

    @property
    def is_kept(self) -> bool:
        return not self.hash.startswith(UNKEPT)

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def kind(self) -> str:
        return kind_of(self.mode)

    def __str__(self) -> str:
        return f"{self.mode:o} {self.uid} {self.gid} {self.hash}"


def entry_of(text: str | None) -> PathEntry | None:
    """What `str` made a text of."""
    if text is None:
        return None
    mode, uid, gid, digest = text.split(" ")
    return PathEntry(int(mode, 8), int(uid), int(gid), digest)


def hash_of(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=20).hexdigest()


def file_content(fd: int, name: str, status: os.stat_result, largest: int) -> bytes | None:
    """What a file holds or a link says; None for anything else, or if it cannot be kept."""
    try:
        if stat.S_ISLNK(status.st_mode):
            return os.fsencode(os.readlink(name, dir_fd=fd))
        if not stat.S_ISREG(status.st_mode) or status.st_size > largest:
            return None
        with opened(fd, name, READ | os.O_NOFOLLOW) as file:
            data = os.read(file, status.st_size + 1)
            while len(data) <= largest and (more := os.read(file, 1 << 20)):
                data += more
        return data if len(data) <= largest else None
    except OSError:
        return None
