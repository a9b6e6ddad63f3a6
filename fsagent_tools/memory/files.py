"""Files without a disk: a store whose bytes are in memory."""

import errno
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import RLock

from fsagent_tools.files.by_path import StoreHandle
from fsagent_tools.files.store import Etag, Store, StoredFile, StoreEntry
from fsagent_tools.validation import check_types


@dataclass
class _Folder:
    children: "dict[str, _Folder | StoredFile]" = field(default_factory=dict)


class MemoryFiles(Store):
    """Files in memory, for tests, drafts and hosts without a disk. Thread-safe, without links.

    Args:
        contents: Path -> text (stored as UTF-8) or bytes.

    Examples:
        >>> workspace = Workspace(files=MemoryFiles({"src/a.py": "x = 1", "b.md": "# B"}))
        >>> workspace.find("**/*.py").paths
        ('src/a.py',)
    """

    def __init__(self, contents: Mapping[str, str | bytes] | None = None) -> None:
        check_types(locals(), contents=Mapping | None)
        self._root, self._lock = _Folder(), RLock()
        self._id, self._writes = os.urandom(6).hex(), 0
        for path, text in (contents or {}).items():
            check_types({path: text}, **{path: str | bytes})
            plain = StoreHandle(self, path).path
            self.mkdir(plain.rpartition("/")[0])
            self.put(plain, text.encode() if isinstance(text, str) else text, None)

    def contents(self) -> dict[str, bytes]:
        """Every file as it is now, by its path from the root."""
        with self._lock:
            return dict(_files(self._root, ""))

    def stat(self, path: str) -> StoreEntry:
        node = self._node(path)
        name = path.rpartition("/")[2]
        return StoreEntry(name, node.version if isinstance(node, StoredFile) else None)

    def list(self, path: str) -> "list[StoreEntry]":
        with self._lock:
            return [self.stat(f"{path}/{name}".strip("/")) for name in self._folder(path).children]

    def open(self, path: str) -> StoredFile:
        if isinstance(node := self._node(path), _Folder):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return node

    def put(self, path: str, data: bytes, expect: Etag | None) -> Etag:
        above, _, name = path.rpartition("/")
        with self._lock:
            children = self._folder(above).children
            old = children.get(name)
            if (old.version if isinstance(old, StoredFile) else old) != expect:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            self._writes += 1
            version = Etag(f"{self._id}:{self._writes}", len(data), time.time_ns())
            children[name] = StoredFile(version, data)
        return version

    def mkdir(self, path: str) -> None:
        with self._lock:
            folder = self._root
            for name in path.split("/") if path else ():
                found = folder.children.setdefault(name, _Folder())
                if isinstance(found, StoredFile):
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
                folder = found

    def remove(self, path: str) -> None:
        above, _, name = path.rpartition("/")
        with self._lock:
            if self._folder(above).children.pop(name, None) is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    def move(self, source: str, destination: str) -> None:
        above, _, name = destination.rpartition("/")
        with self._lock:
            self._folder(above).children[name] = self._node(source)
            self.remove(source)

    def _node(self, path: str) -> "_Folder | StoredFile":
        node: _Folder | StoredFile | None = self._root
        with self._lock:
            for name in path.split("/") if path else ():
                node = node.children.get(name) if isinstance(node, _Folder) else None
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return node

    def _folder(self, path: str) -> _Folder:
        if isinstance(node := self._node(path), StoredFile):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return node


def _files(folder: _Folder, prefix: str) -> "list[tuple[str, bytes]]":
    found = list[tuple[str, bytes]]()
    for name, node in folder.children.items():
        if isinstance(node, _Folder):
            found += _files(node, f"{prefix}{name}/")
        else:
            found.append((prefix + name, node.pread(node.version.size, 0)))
    return found
