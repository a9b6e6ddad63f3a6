"""Which files git has just as they are, so that no copy of them is needed."""

from pathlib import Path

from fsagent_tools.history.descent import Descent
from fsagent_tools.history.git.data import LARGEST_OBJECT
from fsagent_tools.history.git.entries import IndexFolders
from fsagent_tools.history.git.objects import blob_name
from fsagent_tools.history.git.repository import Repository
from fsagent_tools.history.glances import Glance, Tracked, joined
from fsagent_tools.history.live import Disk
from fsagent_tools.history.look import Look, read_beneath
from fsagent_tools.history.states import Identity

_LOW = 0xFFFFFFFF  # what an index has of inodes and sizes
_ATTRIBUTES = ".gitattributes"
_NONE = (0, 0, 0, 0, b"")


class Blobs:
    """Of the repository that a root is in, if it is in one."""

    def __init__(self, root: Path, disk: Disk) -> None:
        self._repository, self._disk = Repository.of(root), disk
        self._tracked = Tracked()
        self._entries: IndexFolders = {}
        self._equal: set[Identity] = set()  # files that were compared with their blobs
        self._converts = False
        self._written_ns = 0

    def refresh(self) -> Tracked:
        """What git has now, by its index."""
        if self._repository and self._repository.refresh():
            self._tracked = Tracked.of(self._repository.entries)
        return self._tracked

    def doubtful(self, now: Look, down: Descent, *, anew: bool) -> list[str]:
        """The files but those that git plainly has, which are most; none where nothing changed.

        anew: something else did.
        """
        repository = self._repository
        if not anew and (repository is None or self._entries is repository.entries):
            return []
        if repository:
            self._entries, self._written_ns = repository.entries, repository.written_ns
            inside = [path for path, one in now.folders.items() if _ATTRIBUTES in one.files]
            texts = [read_beneath(_ATTRIBUTES, down.enter(path)) for path in inside]
            self._converts = repository.converts(texts)
        written, found = 0 if self._converts else self._written_ns, list[str]()
        for path, folder in now.folders.items():
            get = self._entries.get(path, {}).get
            found += [
                joined(path, name)
                for name, stamps in folder.files.items()
                if stamps[:4] != get(name, _NONE)[:4]
                or stamps[1] >= written
                or not now.is_settled(stamps[0])
            ]
        return found

    def name(self, path: str, seen: Glance, *, compared: bool = False) -> str:
        """The name of the blob that holds exactly what the file did, "" if none surely does.

        compared: the file is still so, and may be compared with its blob.
        """
        folder, _, name = path.rpartition("/")
        entry = self._entries.get(folder, {}).get(name)
        if entry is None or seen.stamps is None or not seen.settled:
            return ""
        ctime, mtime, inode, size, _ = seen.stamps
        if size > LARGEST_OBJECT or (ctime, mtime, inode & _LOW, size & _LOW) != entry[:4]:
            return ""
        sha, identity = entry[4].hex(), (inode, mtime, size)
        if (self._converts or mtime >= self._written_ns) and identity not in self._equal:
            if not compared or blob_name(self._disk.read(path)) != sha:
                return ""
            self._equal.add(identity)
        return sha
