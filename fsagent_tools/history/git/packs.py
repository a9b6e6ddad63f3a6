"""Objects in packs: gitformat-pack(5), with deltas; by index files of version 2."""

import struct
from bisect import bisect_left
from contextlib import suppress
from pathlib import Path

from fsagent_tools.history.git.data import LARGEST_OBJECT, distance, inflated, part, regular

_WHOLE = (1, 2, 3, 4)  # kinds that are no deltas
_BY_OFFSET, _BY_NAME = 6, 7
_DEEPEST = 4096  # deltas on each other within a pack
_MOST_MADE = 100 * LARGEST_OBJECT  # bytes that deltas on each other make, one after the other
_LEAST = LARGEST_OBJECT // _DEEPEST  # bytes that a delta counts at least
_HEAD = 64  # bytes that hold what stands before an object, and more


def packed_object(folder: Path, name: bytes) -> bytes | None:
    """What one of the packs has under that name. Raises `ValueError` for a damaged pack."""
    for index in sorted(folder.glob("*.idx")):
        with suppress(FileNotFoundError):
            found = _position(index, name)
            if found is not None:
                return _read(index, found)
    return None


def _position(index: Path, name: bytes) -> int | None:
    """Where in its pack the object is, found by halving."""
    with regular(index) as file:
        if part(file, 0, 8) != b"\xfftOc\0\0\0\2":
            return None
        low = _number(file, 8 + 4 * (name[0] - 1)) if name[0] else 0
        high, count = _number(file, 8 + 4 * name[0]), _number(file, 8 + 4 * 255)
        names = 8 + 1024
        at = bisect_left(range(high), name, low, key=lambda n: part(file, names + 20 * n, 20))
        if at >= high or part(file, names + 20 * at, 20) != name:
            return None
        offset = _number(file, names + 24 * count + 4 * at)
        if offset < 1 << 31:
            return offset
        return _number(file, names + 28 * count + 8 * (offset & 0x7FFFFFFF), "!Q")


def _number(file: int, at: int, form: str = "!I") -> int:
    size = struct.calcsize(form)
    data = part(file, at, size)
    if len(data) < size:
        raise ValueError("cut off")
    return int(struct.unpack(form, data)[0])


def _read(index: Path, offset: int) -> bytes:
    """What is there; all bases of a pack on disk are in it."""
    room = LARGEST_OBJECT  # for deltas
    with regular(index.with_suffix(".pack")) as file:
        deltas: list[bytes] = []
        while len(deltas) < _DEEPEST and room >= 0:
            data = part(file, offset, _HEAD)
            kind, size, at = _header(data)
            if kind in _WHOLE:
                return _patched(inflated(file, offset + at, size), deltas)
            if kind == _BY_OFFSET:
                back, at = distance(data, at)
                base = offset - back if back else None
            elif kind == _BY_NAME:
                base, at = _position(index, data[at : at + 20]), at + 20
            else:
                break
            room -= size + _LEAST
            deltas.append(inflated(file, offset + at, size))
            if base is None or base < 0:
                break
            offset = base
    raise ValueError("no object that is known")


def _header(data: bytes) -> tuple[int, int, int]:
    """Kind, size and where the rest begins."""
    byte, at = data[0], 0
    kind, size, shift = byte >> 4 & 7, byte & 15, 4
    while byte & 128:
        at += 1
        byte = data[at]
        size |= (byte & 127) << shift
        shift += 7
    return kind, size, at + 1


def _patched(base: bytes, deltas: list[bytes]) -> bytes:
    made = 0
    while deltas:
        base = _apply(base, deltas.pop())
        made += len(base)
        if made > _MOST_MADE:
            raise ValueError("too large")
    return base


def _apply(base: bytes, delta: bytes) -> bytes:
    """Copies from the base and insertions, one after the other."""
    _, at = _size(delta, 0)
    wanted, at = _size(delta, at)
    parts, size = list[bytes](), 0
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
        size += len(parts[-1])
        if size > min(wanted, LARGEST_OBJECT):
            raise ValueError("too large")
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
