"""What a line of a journal says of an entry: what it was or is, and a small change of its content.

That is enough to know it again, and to have its old or new content from what is kept.
"""

import os
import stat
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from fsagent_tools.files.base import EntrySlot
from fsagent_tools.files.open_file import KINDS
from fsagent_tools.records import dataclass

JournalLine = Mapping[str, Any]
IN_LINE = 8192  # bytes of new text that a line of the journal holds
Delta = Sequence[object]  # bytes in common at the start and at the end, and what is between, base64
Identity = tuple[int, int, int]  # inode, time of change in ns, bytes: of one content of one file


def kept_name(identity: Identity) -> str:
    """What an old file is called."""
    inode, mtime, size = identity
    return f"{inode:x}-{mtime:x}-{size:x}"


def identity_of(name: str) -> Identity:
    """What a kept file of that name was. Raises `ValueError` for another name."""
    inode, mtime, size = (int(part, 16) for part in name.split("-"))
    return inode, mtime, size


@dataclass(frozen=True)
class State:
    """One entry at one moment.

    kind: "file", "directory", "link", "other" (a device, socket or pipe) or "" for nothing. mode:
    permission bits. identity: of a file. target: of a link. source: {"git": sha1} where git has the
    content, {"sum": blake2b} where the time is not known.
    """

    kind: str = ""
    mode: int = 0
    identity: Identity = (0, 0, 0)
    target: str = ""
    source: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def made(cls, st_mode: int, identity: Identity, target: str = "") -> "State":
        """st_mode: with the kind of the entry in it. target: what a link says."""
        mode, kind = stat.S_IMODE(st_mode), KINDS.get(stat.S_IFMT(st_mode), "other")
        if kind == "file":
            return cls(kind, mode, identity)
        return cls(kind, 0 if kind == "link" else mode, target=target)

    @classmethod
    def of(cls, status: os.stat_result | None, target: str = "") -> "State":
        if status is None:
            return ABSENT
        identity = (status.st_ino, status.st_mtime_ns, status.st_size)
        return cls.made(status.st_mode, identity, target)

    @classmethod
    def at(cls, slot: EntrySlot, status: os.stat_result | None) -> "State":
        """Of the entry in a slot, whose `status` is known; a link is read."""
        if status is not None and stat.S_ISLNK(status.st_mode):
            return cls.of(status, os.readlink(slot.name, dir_fd=slot.fd))
        return cls.of(status)

    def kept(self, **source: str) -> "State":
        return replace(self, source=source)

    def same(self, other: "State") -> bool:
        """Whether nothing differs that an undo would restore, as far as stamps tell."""
        same = self.kind == other.kind and self.mode == other.mode
        return same and self.identity == other.identity and self.target == other.target

    def to_json(self) -> list[Any] | None:
        if not self.kind:
            return None
        facts: list[Any] = [self.kind[0], self.mode, *self.identity]
        if self.kind == "link":
            facts = ["l", self.target]
        elif self.kind != "file":
            facts = facts[:2]
        return [*facts, dict(self.source)] if self.source else facts

    @classmethod
    def from_json(cls, facts: list[Any] | None) -> "State":
        """Raises `ValueError`, `TypeError`, `KeyError` or `IndexError` for other facts."""
        if facts is None:
            return ABSENT
        kind = _LETTERS[facts[0]]
        if kind == "link":
            return cls(kind, target=str(facts[1]))
        if kind != "file":
            return cls(kind, int(facts[1]))
        _, mode, inode, mtime, size, *rest = facts
        return cls(kind, mode, (inode, mtime, size), source=rest[0] if rest else {})


def delta_of(old: bytes, new: bytes) -> list[object] | None:
    """None for a change of more than `IN_LINE` bytes."""
    most = min(len(old), len(new))
    start = _common(old, new, most)
    end = _common(old[::-1], new[::-1], most - start)
    middle = new[start : len(new) - end]
    if len(middle) > IN_LINE:
        return None
    return [start, end, b64encode(middle).decode()]


def patched(old: bytes, delta: Delta) -> bytes:
    """The new content. Raises `ValueError` for a delta that is of another one."""
    start, end, middle = delta
    if not (isinstance(start, int) and isinstance(end, int) and start + end <= len(old)):
        raise ValueError("not of this content")
    return old[:start] + b64decode(str(middle)) + old[len(old) - end :]


def _common(one: bytes, other: bytes, most: int) -> int:
    """How many bytes both begin with; slices are compared in C."""
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            most = middle - 1
    return low


ABSENT = State()
_LETTERS = {kind[0]: kind for kind in ("file", "directory", "link", "other")}
