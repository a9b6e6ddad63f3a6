"""Blobs by their names, loose or packed, and only if they are what their names say."""

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha1
from itertools import islice
from pathlib import Path

from fsagent_tools.history.git.data import inflated, part, regular, whole_file
from fsagent_tools.history.git.packs import packed_object

_LONGEST_LIST = 1 << 20  # bytes
_HEAD = 64  # bytes that hold what a loose object says of itself, and more
_MOST_FOLDERS = 16  # object directories that borrow from each other


def blob(folders: list[Path], sha: str) -> bytes | None:
    """The content of a blob in one of these object directories; None where there is none."""
    for folder in folders:
        with suppress(OSError, ValueError, zlib.error, IndexError):
            data = _loose(folder, sha)
            if data is None:
                data = packed_object(folder / "pack", bytes.fromhex(sha))
            if data is not None and blob_name(data) == sha:
                return data
    return None


def blob_name(data: bytes) -> str:
    """What git calls a content."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def with_alternates(folder: Path) -> Iterator[Path]:
    """An object directory, and those that it borrows from."""
    waiting, seen = [folder], set[str]()
    while waiting and len(seen) < _MOST_FOLDERS:
        current = waiting.pop(0)
        if (real := os.path.realpath(current)) in seen:
            continue
        seen.add(real)
        yield current
        with suppress(OSError, ValueError):
            text = os.fsdecode(whole_file(current / "info" / "alternates", _LONGEST_LIST))
            lines = (line for line in text.split("\n") if line and line[0] != "#")
            waiting += [current / line for line in islice(lines, _MOST_FOLDERS) if "\0" not in line]


def _loose(folder: Path, sha: str) -> bytes | None:
    with suppress(FileNotFoundError), regular(folder / sha[:2] / sha[2:]) as fd:
        start = zlib.decompressobj().decompress(part(fd, 0, _HEAD), _HEAD)
        head = start[: start.index(b"\0") + 1]
        size = int(head[:-1].split(b" ")[1])
        return inflated(fd, 0, len(head) + size)[len(head) :]
    return None
