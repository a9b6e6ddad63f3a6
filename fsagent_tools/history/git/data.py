"""Files of a repository, as bytes that somebody may have made up, or changes at this moment."""

import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fsagent_tools.files.open_file import AT_CWD, READ, opened

LARGEST_OBJECT = 10 << 20  # bytes of a blob, and of what it is made of
LONGEST_FILE = 64 << 20  # bytes of a file that is read as a whole
_SLACK = 1 << 10  # bytes; with a seventh of the content, more than deflating ever adds


@contextmanager
def regular(path: Path) -> Iterator[int]:
    """The open file. Raises `OSError`, also for a pipe or a device, which might keep us waiting."""
    with opened(AT_CWD, str(path), READ) as fd:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise FileNotFoundError(f"{path} is no file")
        yield fd


def whole_file(path: Path, most: int = LONGEST_FILE) -> bytes:
    """All of a file. Raises `OSError`, and `ValueError` for one of more than `most` bytes."""
    with regular(path) as fd:
        if (size := os.fstat(fd).st_size) > most:
            raise ValueError("too large")
        return part(fd, 0, size)


def part(fd: int, at: int, size: int) -> bytes:
    """`size` bytes, fewer at the end. No mapping: who cuts a mapped file off ends who reads it."""
    pieces: list[bytes] = []
    while size > 0 and (piece := os.pread(fd, size, at)):
        pieces.append(piece)
        at, size = at + len(piece), size - len(piece)
    return b"".join(pieces)


def inflated(fd: int, at: int, size: int) -> bytes:
    """The `size` bytes that are deflated from there on. Raises `ValueError`, `zlib.error`."""
    if size > LARGEST_OBJECT:
        raise ValueError("too large")
    packed = part(fd, at, size + size // 7 + _SLACK)
    data = zlib.decompressobj().decompress(packed, max(size, 1))[:size]
    if len(data) < size:
        raise ValueError("cut off")
    return data


def distance(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, as offsets in packs are, and where the rest begins."""
    byte = data[at]
    value = byte & 127
    while byte & 128:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 127)
    return value, at + 1
