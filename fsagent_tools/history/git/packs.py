"""Objects in packs: gitformat-pack(5), with deltas; by index files of version 2."""

import mmap
import struct
import zlib
from contextlib import suppress
from pathlib import Path

_KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
_BY_OFFSET, _BY_NAME = 6, 7
_DEEPEST = 4096  # deltas on each other
_LARGEST = 256 << 20  # bytes of an object

Packed = tuple[bytes, bytes]  # its kind and its content


def packed_object(folder: Path, name: bytes) -> Packed | None:
    """The object of that name in one of the packs. Raises `ValueError` for a damaged one."""
    for index in sorted(folder.glob("*.idx")):
        with suppress(FileNotFoundError):
            found = _position(index, name)
            if found is not None:
                return _read(index.with_suffix(".pack"), found, folder)
    return None


def _position(index: Path, name: bytes) -> int | None:
    """Where in its pack the object is, found by halving."""
    with index.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:8] != b"\xfftOc\0\0\0\2":
            return None
        low = _number(data, 8 + 4 * (name[0] - 1)) if name[0] else 0
        high, count = _number(data, 8 + 4 * name[0]), _number(data, 8 + 4 * 255)
        names = 8 + 1024
        while low < high:
            middle = (low + high) // 2
            here = data[names + 20 * middle : names + 20 * middle + 20]
            if here == name:
                short = names + 24 * count + 4 * middle
                offset = _number(data, short)
                if offset < 1 << 31:
                    return offset
                large = names + 28 * count + 8 * (offset & 0x7FFFFFFF)
                return int(struct.unpack_from("!Q", data, large)[0])
            low, high = (middle + 1, high) if here < name else (low, middle)
    return None


def _number(data: mmap.mmap, at: int) -> int:
    return int(struct.unpack_from("!I", data, at)[0])


def _read(pack: Path, offset: int, folder: Path) -> Packed | None:
    with pack.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        deltas: list[bytes] = []
        while len(deltas) < _DEEPEST:
            kind, size, at = _header(data, offset)
            if kind in _KINDS:
                return _KINDS[kind], _patched(_inflated(data, at, size), deltas)
            if kind == _BY_OFFSET:
                back, at = _distance(data, at)
                deltas.append(_inflated(data, at, size))
                offset -= back
            elif kind == _BY_NAME:
                base = packed_object(folder, data[at : at + 20])
                deltas.append(_inflated(data, at + 20, size))
                return (base[0], _patched(base[1], deltas)) if base else None
            else:
                break
    raise ValueError("no object that is known")


def _header(data: mmap.mmap, at: int) -> tuple[int, int, int]:
    """Kind, size and where the rest begins."""
    byte = data[at]
    kind, size, shift = byte >> 4 & 7, byte & 15, 4
    while byte & 128:
        at += 1
        byte = data[at]
        size |= (byte & 127) << shift
        shift += 7
    return kind, size, at + 1


def _distance(data: mmap.mmap, at: int) -> tuple[int, int]:
    byte = data[at]
    value = byte & 127
    while byte & 128:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 127)
    return value, at + 1


def _inflated(data: mmap.mmap, at: int, size: int) -> bytes:
    if size > _LARGEST:
        raise ValueError("too large")
    found = zlib.decompressobj().decompress(data[at : at + size + size // 1000 + 1024], size)
    if len(found) != size:
        raise ValueError("cut off")
    return found


def _patched(base: bytes, deltas: list[bytes]) -> bytes:
    for delta in reversed(deltas):
        base = _apply(base, delta)
    return base


def _apply(base: bytes, delta: bytes) -> bytes:
    """Copies from the base and insertions, one after the other."""
    _, at = _size(delta, 0)
    wanted, at = _size(delta, at)
    parts: list[bytes] = []
    while at < len(delta):
        order = delta[at]
        at += 1
        if order & 128:
            start = length = 0
            for bit in range(7):
                if order & 1 << bit:
                    value = delta[at] << 8 * (bit if bit < 4 else bit - 4)
                    start, length = (start | value, length) if bit < 4 else (start, length | value)
                    at += 1
            length = length or 0x10000
            parts.append(base[start : start + length])
        else:
            parts.append(delta[at : at + order])
            at += order
    data = b"".join(parts)
    if len(data) != wanted:
        raise ValueError("a delta of another base")
    return data


def _size(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if not byte & 128:
            return value, at
