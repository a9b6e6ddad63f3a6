"""The index of a repository: gitformat-index(5), versions 2 to 4."""

import struct

_FIXED = struct.Struct("!10I20sH")  # ctime, mtime, dev, ino, mode, uid, gid, size, name, flags
_NAME, _EXTENDED, _STAGE, _ASSUMED = 0xFFF, 0x4000, 0x3000, 0x8000
_FILE = 0o100000
_UNREADABLE = (b"link", b"sdir")  # parts of the index elsewhere, whole trees as one entry


# When it changed and was written, in ns; the lower 32 bits of inode and size; the blob's name.
IndexEntry = tuple[int, int, int, int, bytes]


def index_entries(data: bytes) -> dict[str, IndexEntry]:
    """Regular files by path. Raises `ValueError` for an index of another form, or cut off."""
    try:
        return _entries(data)
    except (struct.error, IndexError):
        raise ValueError("cut off") from None


def _entries(data: bytes) -> dict[str, IndexEntry]:
    signature, version, count = struct.unpack_from("!4sII", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("no index that is known")
    found: dict[str, IndexEntry] = {}
    at, name, unpack, size = 12, b"", _FIXED.unpack_from, _FIXED.size
    for _ in range(count):
        fields = unpack(data, at)
        seconds, nanos, mseconds, mnanos, _, inode, mode, _, _, length, sha, flags = fields
        start = at + size + (2 if flags & _EXTENDED else 0)
        if version == 4:
            kept, start = _offset(data, start)
            end = data.index(b"\0", start)
            name = name[: len(name) - kept] + data[start:end]
            at = end + 1
        else:
            end = start + (flags & _NAME)
            if flags & _NAME == _NAME:
                end = data.index(b"\0", start)
            name = data[start:end]
            at += (end - at + 8) & ~7
        if mode & 0o170000 == _FILE and not flags & (_STAGE | _ASSUMED):
            changed, written = seconds * 10**9 + nanos, mseconds * 10**9 + mnanos
            found[name.decode("utf-8", "surrogateescape")] = changed, written, inode, length, sha
    _check(data, at)
    return found


def _offset(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, as offsets in packs are."""
    byte = data[at]
    value = byte & 127
    while byte & 128:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 127)
    return value, at + 1


def _check(data: bytes, at: int) -> None:
    """Raise `ValueError` where an extension says that this is not all."""
    while at + 8 <= len(data) - 20:
        name, size = struct.unpack_from("!4sI", data, at)
        if name in _UNREADABLE:
            raise ValueError("a part of the index is elsewhere")
        at += 8 + size
