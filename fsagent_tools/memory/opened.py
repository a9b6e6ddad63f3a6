"""What `MemoryFiles` opens: files, directories, and files under their lock."""

from typing import NamedTuple

from fsagent_tools import call, errors
from fsagent_tools.files import refusals
from fsagent_tools.files.open_file import WithBlock
from fsagent_tools.files.port import Listed, Place, Version
from fsagent_tools.memory.tree import FileNode, FolderNode, MemoryTree, MemoryVersion, Parts
from fsagent_tools.policy import Policy
from fsagent_tools.records import dataclass


class MemoryFile(WithBlock):
    """See `port.ReadableFile`."""

    def __init__(self, node: FileNode, place: Place, policy: Policy) -> None:
        policy.check_size(place.told, len(node.data))
        self.place, self.version = place, node.version
        self._data, self._at = node.data, 0

    def read(self, limit: int | None = None) -> bytes:
        end = len(self._data) if limit is None else self._at + limit
        found = self._data[self._at : end]
        self._at += len(found)
        return found

    def pread(self, size: int, offset: int) -> bytes:
        return self._data[offset : offset + max(0, size)]


class _Stamps(NamedTuple):
    st_size: int
    st_mtime_ns: int


@dataclass(frozen=True)
class MemoryEntry:
    """See `port.Listed`."""

    name: str
    kind: str
    stamps: _Stamps

    def is_dir(self, *, follow_symlinks: bool) -> bool:
        return self.kind == "directory"

    def is_file(self, *, follow_symlinks: bool) -> bool:
        return self.kind == "file"

    def is_symlink(self) -> bool:
        return False

    def stat(self, *, follow_symlinks: bool) -> _Stamps:
        return self.stamps


class MemoryDirectory(WithBlock):
    """See `port.Directory`."""

    def __init__(self, tree: MemoryTree, node: FolderNode, place: Place, policy: Policy) -> None:
        self._tree, self._node, self.place, self._policy = tree, node, place, policy

    @property
    def identity(self) -> int:
        return id(self._node)

    def entries(self) -> list[Listed]:
        with self._tree.lock:
            return [
                MemoryEntry(name, node.kind, _Stamps(len(node.data), node.mtime_ns))
                for name, node in self._node.children.items()
            ]

    def enter(self, name: str) -> "MemoryDirectory | None":
        node = self._node.children.get(name)
        if not isinstance(node, FolderNode):
            return None
        return MemoryDirectory(self._tree, node, self.place.inside(name), self._policy)

    def open(self, name: str) -> MemoryFile:
        place, node = self.place.inside(name), self._node.children.get(name)
        if node is None:
            raise errors.Missing(f"{refusals.shown(place.told)} does not exist.")
        if not isinstance(node, FileNode):
            raise refusals.not_a_file(place.told, node.kind)
        return MemoryFile(node, place, self._policy)


class MemoryTarget:
    """See `port.LockedFile`."""

    def __init__(self, tree: MemoryTree, parts: Parts, place: Place, policy: Policy) -> None:
        self._tree, self._parts, self.place, self._policy = tree, parts, place, policy
        node = self._node()
        if node:
            policy.check_size(place.told, len(node.data))
        self.version: MemoryVersion | None = node.version if node else None

    def check_seen(self, size: int) -> None:
        self._policy.check_seen(self.place.told, size)

    def read(self) -> bytes:
        if (node := self._node()) is None:
            raise errors.Missing(f"{refusals.shown(self.place.told)} does not exist yet.")
        return node.data

    def write(self, data: bytes, *, expect: Version | None) -> MemoryVersion:
        self._policy.check_size(self.place.told, len(data))
        before = self._compare(expect)
        if watch := call.current.get().watch:
            old = before.data if before else None
            watch(call.PendingChange("write", (self.place.told,), old, data))
        call.current.get().check()
        with self._tree.lock:
            self._compare(expect)
            node = self._tree.file(bytes(data))
            self._tree.put(self._parts, node)
        self.version = node.version
        return node.version

    def _node(self) -> FileNode | None:
        with self._tree.lock:
            node = self._tree.get(self._parts)
        if isinstance(node, FolderNode):
            raise refusals.not_a_file(self.place.told, node.kind)
        return node

    def _compare(self, expect: Version | None) -> FileNode | None:
        node = self._node()
        if (node.version if node else None) != expect:
            raise refusals.changed_meanwhile(self.place.told)
        return node
