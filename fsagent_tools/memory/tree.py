"""The tree behind `MemoryFiles`: nodes, what their content is called, and who holds which."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from fsagent_tools import call
from fsagent_tools.files import refusals
from fsagent_tools.files.port import Place
from fsagent_tools.files.roots import checked, placed

_WAIT = 0.05  # seconds between two looks whether the caller gave up

Parts = tuple[str, ...]


class MemoryVersion(NamedTuple):
    """Every write makes another one, in whichever process."""

    tree: str
    generation: int
    size: int
    mtime_ns: int

    def racy(self, now_ns: int | None = None) -> bool:
        return False


@dataclass(eq=False)
class FileNode:
    """A file: another content is another node."""

    data: bytes
    version: MemoryVersion
    kind: str = "file"

    @property
    def mtime_ns(self) -> int:
        return self.version.mtime_ns


@dataclass(eq=False)
class FolderNode:
    """A directory."""

    children: "dict[str, Node]" = field(default_factory=dict)
    mtime_ns: int = field(default_factory=time.time_ns)
    data: bytes = b""
    kind: str = "directory"


Node = FileNode | FolderNode


@dataclass
class MemorySpot:
    """Where a path ends: `left` are the names below `folder`, the last directory there is.

    One name for an ordinary end, existing or not; more when parents are missing; none for the root.
    slash: the path names a directory by how it is written. virtual: see `port.Files`.
    """

    parts: Parts
    folder: FolderNode
    left: Sequence[str]
    slash: bool
    virtual: bool = False

    @property
    def node(self) -> Node | None:
        if not self.left:
            return self.folder
        return self.folder.children.get(self.left[0]) if len(self.left) == 1 else None

    @property
    def name(self) -> str:
        return self.left[0] if self.left else "."

    @property
    def place(self) -> Place:
        path = "/".join(self.parts)
        return placed(path or ".", f"/{path}", virtual=self.virtual)


class MemoryTree:
    """Nodes by name; use it while `lock` is held."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.root = FolderNode()
        self._id, self._generation = os.urandom(6).hex(), 0
        self._held: set[Parts] = set()
        self._changed = threading.Condition()

    def resolve(self, path: str) -> MemorySpot:
        """Raises a `ToolError` for what leaves the root or goes through a file."""
        checked(path)
        todo = [name for name in path.split("/") if name not in ("", ".")]
        if any(len(name.encode()) > refusals.NAME_MAX for name in todo):
            raise refusals.too_long(path)
        slash = path.endswith(("/", "/.", "..")) or not todo
        way: list[tuple[str, FolderNode]] = [("", self.root)]
        for i, name in enumerate(todo):
            if name == "..":
                if len(way) == 1:
                    raise refusals.outside(path)
                way.pop()
                continue
            child = way[-1][1].children.get(name)
            rest = todo[i:]
            if ".." in rest and child is None:
                raise refusals.no_such(path, name)
            if len(rest) == 1 or child is None:
                parts = (*(n for n, _ in way[1:]), *rest)
                return MemorySpot(parts, way[-1][1], rest, slash)
            if isinstance(child, FileNode):
                raise refusals.not_a_directory(path, name)
            way.append((name, child))
        names = tuple(n for n, _ in way[1:])
        return MemorySpot(names, way[-2][1] if names else self.root, names[-1:], True)

    def get(self, parts: Parts) -> Node | None:
        node: Node | None = self.root
        for name in parts:
            node = node.children.get(name) if isinstance(node, FolderNode) else None
        return node

    def put(self, parts: Parts, node: Node) -> None:
        """Missing directories are made. Raises `NotADirectory` where a file is in the way."""
        folder = self.make(parts[:-1])
        folder.children[parts[-1]] = node
        folder.mtime_ns = time.time_ns()

    def make(self, parts: Parts) -> FolderNode:
        """The directory there, made with its parents."""
        folder = self.root
        for i, name in enumerate(parts, 1):
            if isinstance(found := folder.children.setdefault(name, FolderNode()), FileNode):
                raise refusals.not_a_directory("/".join(parts[:i]))
            folder = found
        return folder

    def drop(self, parts: Parts) -> None:
        folder = self.make(parts[:-1])
        del folder.children[parts[-1]]
        folder.mtime_ns = time.time_ns()

    def file(self, data: bytes, mtime_ns: int | None = None) -> FileNode:
        """A new file, yet nowhere."""
        with self.lock:
            self._generation += 1
            now = time.time_ns() if mtime_ns is None else mtime_ns
            return FileNode(data, MemoryVersion(self._id, self._generation, len(data), now))

    def clone(self, node: Node) -> Node:
        if isinstance(node, FileNode):
            return self.file(node.data, node.mtime_ns)
        inner = {name: self.clone(child) for name, child in node.children.items()}
        return FolderNode(inner, node.mtime_ns)

    @contextmanager
    def held(self, all_parts: Sequence[Parts], timeout: float, path: str) -> Iterator[None]:
        """Keep others from holding the same. Raises `TimedOut`, `Cancelled`."""
        running, deadline, wanted = call.current.get(), time.monotonic() + timeout, {*all_parts}
        with self._changed:
            while wanted & self._held:
                running.check()
                if (left := deadline - time.monotonic()) <= 0:
                    raise refusals.locked_by_another(path, timeout)
                self._changed.wait(min(_WAIT, left))
            self._held |= wanted
        try:
            yield
        finally:
            with self._changed:
                self._held -= wanted
                self._changed.notify_all()


def members(node: Node, path: str = "", depth: int = 0) -> Iterator[tuple[str, Node]]:
    """The node and all in it, each with its path from here, "" for itself, in order of names."""
    call.current.get().check()
    yield path, node
    if depth >= refusals.MAX_DEPTH and isinstance(node, FolderNode):
        raise refusals.too_deep(path)
    if isinstance(node, FolderNode):
        for name, child in sorted(node.children.items()):
            yield from members(child, f"{path}/{name}" if path else name, depth + 1)
