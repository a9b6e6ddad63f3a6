"""Files of a repository, as bytes that somebody may have made up, or changes at this moment."""

import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LARGEST_OBJECT = 10 << 20  # bytes of a blob, and of what it is made of
LONGEST_FILE = 64 << 20  # bytes of a file that is read as a whole
_PIECE = 1 << 16


@contextmanager
def regular(path: Path) -> Iterator[int]:
    """The open file. Raises `OSError`, also for a pipe or a device, which might keep us waiting."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise FileNotFoundError(f"{path} is no file")
        yield fd
    finally:
        os.close(fd)


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
    unpack, found, left = zlib.decompressobj(), list[bytes](), size
    while left and not unpack.eof:
        packed = unpack.unconsumed_tail or os.pread(fd, _PIECE, at)
        if not packed:
            break
        at += 0 if unpack.unconsumed_tail else len(packed)
        found.append(unpack.decompress(packed, left))
        left -= len(found[-1])
    if left:
        raise ValueError("cut off")
    return b"".join(found)


def distance(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, as offsets in packs are, and where the rest begins."""
    byte = data[at]
    value = byte & 127
    while byte & 128:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 127)
    return value, at + 1
