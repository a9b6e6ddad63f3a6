"""Blobs by their names, loose or packed, and only if they are what their names say."""

import zlib
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha1
from pathlib import Path

from fsagent_tools.history.git.packs import packed_object

LARGEST_BLOB = 256 << 20  # bytes


def blob(folders: list[Path], sha: str) -> bytes | None:
    """The content of a blob in one of these object directories; None where there is none."""
    for folder in folders:
        with suppress(OSError, ValueError, zlib.error, IndexError):
            data = _loose(folder, sha) or packed_object(folder / "pack", bytes.fromhex(sha))
            if data is not None and data[0] == b"blob" and blob_name(data[1]) == sha:
                return data[1]
    return None


def blob_name(data: bytes) -> str:
    """What git calls a content."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def with_alternates(folder: Path) -> Iterator[Path]:
    """An object directory, and those that it borrows from."""
    waiting, seen = [folder], set[Path]()
    while waiting:
        here = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        yield here
        with suppress(OSError):
            text = (here / "info" / "alternates").read_text(errors="surrogateescape")
            waiting += [here / line for line in text.splitlines() if line and line[0] != "#"]


def _loose(folder: Path, sha: str) -> tuple[bytes, bytes] | None:
    path = folder / sha[:2] / sha[2:]
    if not path.exists():
        return None
    unpack = zlib.decompressobj()
    whole = unpack.decompress(path.read_bytes(), LARGEST_BLOB)
    head, _, data = whole.partition(b"\0")
    return head.split(b" ")[0], data
