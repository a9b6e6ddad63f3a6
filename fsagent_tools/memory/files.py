"""Files in memory: the whole port without a disk."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from fsagent_tools import call, errors
from fsagent_tools.effects import Effect
from fsagent_tools.files import refusals
from fsagent_tools.files.port import TIMEOUT, Copied, Done, Place, Status
from fsagent_tools.memory.opened import MemoryDirectory, MemoryFile, MemoryTarget
from fsagent_tools.memory.tree import (
    FileNode,
    FolderNode,
    MemorySpot,
    MemoryTree,
    Node,
    members,
)
from fsagent_tools.policy import Policy

_MODES = {"file": 0o644, "directory": 0o755}


class MemoryFiles:
    """Files in memory beneath the root "/", for tests, drafts and hosts without a disk.

    contents: path -> text (stored as UTF-8) or bytes. virtual: see `port.Files`. Thread-safe. There
    are no links.

    Examples:
        >>> workspace = Workspace(files=MemoryFiles({"src/a.py": "x = 1", "b.md": "# B"}))
        >>> workspace.find("**/*.py").paths
        ('src/a.py',)
    """

    local_root = None

    def __init__(
        self,
        contents: Mapping[str, str | bytes] | None = None,
        *,
        policy: Policy | None = None,
        virtual: bool = False,
    ) -> None:
        self.policy, self.virtual = policy or Policy(), virtual
        self._tree = MemoryTree()
        for path, text in (contents or {}).items():
            data = text.encode() if isinstance(text, str) else bytes(text)
            self._tree.put(self._tree.resolve(path).parts, self._tree.file(data))

    def contents(self) -> dict[str, bytes]:
        """Every file as it is now, by its path from the root."""
        with self._tree.lock:
            found = list(members(self._tree.root))
        return {path: node.data for path, node in found if isinstance(node, FileNode)}

    def under(self, policy: Policy, *, virtual: bool = False) -> "MemoryFiles":
        """The same files, used by another policy and by such paths: a change is seen in both."""
        view = MemoryFiles(policy=policy, virtual=virtual)
        view._tree = self._tree
        return view

    def place(self, path: str) -> Place:
        """See `port.Files`; so for all verbs."""
        with self._tree.lock:
            spot = self._spot(path, Effect.READ)
            self._existing(path, spot)
            return spot.place

    def stat(self, path: str) -> Status:
        with self._tree.lock:
            spot = self._spot(path, Effect.READ)
            node = self._existing(path, spot)
            size, mode, when = len(node.data), _MODES[node.kind], node.mtime_ns
            return Status(spot.place, node.kind, size, mode, when, when, when)

    def open(self, path: str, effect: Effect = Effect.READ) -> MemoryFile:
        with self._tree.lock:
            spot = self._spot(path, effect)
            node = self._existing(path, spot)
        if not isinstance(node, FileNode):
            raise refusals.not_a_file(path, node.kind)
        return MemoryFile(node, spot.place, self.policy)

    def directory(self, path: str) -> MemoryDirectory:
        with self._tree.lock:
            spot = self._resolved(path)
            place = spot.place
            self.policy.check_listing(place.relative, place.absolute, told=place.told)
            node = self._existing(path, spot)
        if not isinstance(node, FolderNode):
            raise refusals.not_a_directory(path)
        return MemoryDirectory(self._tree, node, spot.place, self.policy)

    @contextmanager
    def lock(
        self, path: str, *, create_dirs: bool = False, timeout: float = TIMEOUT
    ) -> Iterator[MemoryTarget]:
        with self._tree.lock:
            spot = self._spot(path, Effect.WRITE)
            if spot.slash or isinstance(spot.node, FolderNode):
                raise refusals.not_a_file(path, "directory")
            if len(spot.left) > 1 and not create_dirs:
                raise self._missing(path, spot)
        with self._tree.held([spot.parts], timeout, path):
            yield MemoryTarget(self._tree, spot.parts, spot.place, self.policy)

    def make_directory(self, path: str) -> tuple[Place, bool]:
        with self._tree.lock:
            spot = self._spot(path, Effect.WRITE)
        if isinstance(spot.node, FolderNode):
            return spot.place, False
        if spot.node:
            raise refusals.no_directory(path)
        if watch := call.current.get().watch:
            watch(call.PendingChange("mkdir", (spot.place.told,)))
        with self._tree.lock:
            self._tree.make(spot.parts)
        return spot.place, True

    def move(self, source: str, destination: str, overwrite: bool = False) -> Done:
        with self._transfer("move", source, destination, overwrite) as (old, new, done):
            self._tree.put(new.parts, self._existing(source, old))
            self._tree.drop(old.parts)
            return done

    def copy(self, source: str, destination: str, overwrite: bool = False) -> tuple[Done, Copied]:
        with self._transfer("copy", source, destination, overwrite) as (old, new, done):
            node = self._existing(source, old)
            files = [n for _, n in members(node) if isinstance(n, FileNode)]
            self._tree.put(new.parts, self._tree.clone(node))
            return done, Copied(len(files), sum(len(file.data) for file in files))

    def remove(self, path: str, recursive: bool = False) -> Done:
        with self._tree.lock:
            spot = self._spot(path, Effect.DELETE)
            self._existing(path, spot)
        if not spot.left:
            raise refusals.root_refused(path)
        with self._tree.held([spot.parts], TIMEOUT, path), self._tree.lock:
            node = self._existing(path, self._resolved(path))
            if isinstance(node, FolderNode) and not recursive:
                raise refusals.needs_recursive(path)
            found = list(members(node))
            for inner, _ in found:
                self._allow(spot.place.inside(inner), Effect.DELETE)
            _announce("remove", (spot.place.told,), found, None)
            self._tree.drop(spot.parts)
        return Done(spot.place, spot.place, _files_of(found))

    def close(self) -> None:
        """Nothing is held open."""

    @contextmanager
    def _transfer(
        self, verb: str, source: str, destination: str, overwrite: bool
    ) -> Iterator[tuple[MemorySpot, MemorySpot, Done]]:
        """Both ends found, allowed for every member of the tree, and held."""
        effect = Effect.READ if verb == "copy" else Effect.DELETE
        with self._tree.lock:
            old, new = self._spot(source, effect), self._spot(destination, Effect.WRITE)
            self._existing(source, old)
        if len(new.left) > 1:
            raise refusals.no_directory_of(destination)
        if not old.left or not new.left:
            raise refusals.root_refused(source if not old.left else destination)
        if new.parts[: len(old.parts)] == old.parts:
            raise refusals.into_itself(source, destination)
        with self._tree.held([old.parts, new.parts], TIMEOUT, source), self._tree.lock:
            old, new = self._resolved(source), self._resolved(destination)
            node = self._existing(source, old)
            found = list(members(node))
            for inner, member in found:
                self._allow(old.place.inside(inner), effect)
                self._allow(new.place.inside(inner), Effect.WRITE)
                if verb == "copy":
                    self.policy.check_size(old.place.inside(inner).told, len(member.data))
            if new.node:
                refusals.check_replaced(destination, new.node.kind, overwrite=overwrite)
                if isinstance(node, FolderNode):
                    raise refusals.not_a_directory(destination)
            _announce(verb, (old.place.told, new.place.told), found, new.node)
            yield old, new, Done(old.place, new.place, _files_of(found))

    def _resolved(self, path: str) -> MemorySpot:
        return replace(self._tree.resolve(path), virtual=self.virtual)

    def _spot(self, path: str, effect: Effect) -> MemorySpot:
        spot = self._resolved(path)
        self._allow(spot.place, effect)
        return spot

    def _allow(self, place: Place, effect: Effect) -> None:
        self.policy.check_path(place.relative, place.absolute, effect, told=place.told)

    def _existing(self, path: str, spot: MemorySpot) -> Node:
        if spot.node is None:
            raise self._missing(path, spot)
        if spot.slash and isinstance(spot.node, FileNode):
            raise refusals.not_a_directory(path)
        return spot.node

    def _missing(self, path: str, spot: MemorySpot) -> errors.ToolError:
        parent, root = (replace(spot, parts=p).place for p in (spot.parts[: -len(spot.left)], ()))

        def visible(place: Place) -> bool:
            try:
                self._allow(place, Effect.READ)
            except errors.Denied:
                return False
            return True

        def elsewhere() -> list[str]:
            last = path.rstrip("/").rpartition("/")[2]
            named = (p for p, _ in members(self._tree.root) if p.rpartition("/")[2] == last)
            return [place.told for place in map(root.inside, named) if visible(place)]

        names = list(spot.folder.children)
        return refusals.missing(
            path, names, spot.name, lambda name: visible(parent.inside(name)), elsewhere
        )


def _announce(
    verb: str, paths: tuple[str, ...], found: list[tuple[str, Node]], replaced: Node | None
) -> None:
    if watch := call.current.get().watch:
        names = tuple(path for path, _ in found[1:])
        facts = tuple((path, *_facts(node)) for path, node in found)
        state = (facts, _facts(replaced) if replaced else None)
        replaces = replaced is not None
        watch(call.PendingChange(verb, paths, members=names, replaces=replaces, state=state))


def _facts(node: Node) -> tuple[object, ...]:
    return (node.kind, *(node.version if isinstance(node, FileNode) else ()))


def _files_of(found: list[tuple[str, Node]]) -> tuple[str, ...]:
    return tuple(path for path, node in found if isinstance(node, FileNode))
