"""The index of a repository: gitformat-index(5), versions 2 to 4."""

import struct

from fsagent_tools.history.git.data import distance

# ctime and mtime, each in s and ns; inode and mode; size, blob and flags
_FIXED = struct.Struct("!4I 4x 2I 8x I20sH")
_NAME, _EXTENDED = 0xFFF, 0x4000
_APART = 0xB000  # in a conflict, or taken as unchanged without a look
_FILE = 0o10  # kind of an entry
_ODD = "surrogateescape"
_UNREADABLE = (b"link", b"sdir")  # parts of the index elsewhere, whole trees as one entry


# When it changed and was written, in ns; the lower 32 bits of inode and size; the blob's name.
IndexEntry = tuple[int, int, int, int, bytes]
IndexFolders = dict[str, dict[str, IndexEntry]]  # by directory and name


def index_entries(data: bytes) -> IndexFolders:
    """Regular files. Raises `ValueError` for an index of another form, or cut off."""
    try:
        return _entries(data)
    except (struct.error, IndexError):
        raise ValueError("cut off") from None


def _entries(data: bytes) -> IndexFolders:
    signature, version, count = struct.unpack_from("!4sII", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("no index that is known")
    found: IndexFolders = {}
    folder, names = b"", found.setdefault("", {})
    at, path, unpack, size = 12, b"", _FIXED.unpack_from, _FIXED.size
    for _ in range(count):
        seconds, nanos, mseconds, mnanos, inode, mode, length, sha, flags = unpack(data, at)
        start = at + size + (2 if flags & _EXTENDED else 0)
        if version == 4:
            kept, start = distance(data, start)
            end = data.index(b"\0", start)
            path = path[: len(path) - kept] + data[start:end]
            at = end + 1
        else:
            end = start + (flags & _NAME)
            if flags & _NAME == _NAME:
                end = data.index(b"\0", start)
            path = data[start:end]
            at += (end - at + 8) & ~7
        if mode >> 12 == _FILE and not flags & _APART:
            above, _, name = path.rpartition(b"/")
            if above != folder:
                folder, names = above, found.setdefault(above.decode("utf-8", _ODD), {})
            changed, written = seconds * 10**9 + nanos, mseconds * 10**9 + mnanos
            names[name.decode("utf-8", _ODD)] = changed, written, inode, length, sha
    _check(data, at)
    return found


def _check(data: bytes, at: int) -> None:
    """Raise `ValueError` where an extension says that this is not all."""
    while at + 8 <= len(data) - 20:
        name, size = struct.unpack_from("!4sI", data, at)
        if name in _UNREADABLE:
            raise ValueError("a part of the index is elsewhere")
        at += 8 + size
