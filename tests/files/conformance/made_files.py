"""Files of an implementation under test, with given contents, used by a given policy."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.policy import Policy

TREE = {"a.txt": b"alpha\n", "sub/b.txt": b"beta\n", "sub/deep/c.txt": b"\xff\0gamma"}


class MadeFiles(ABC):
    """Each check asks for files of its own."""

    @abstractmethod
    def guarded(self, contents: Mapping[str, bytes], policy: Policy) -> GuardedFiles:
        """Files that hold exactly `contents` (path -> bytes), used by `policy`."""

    @contextmanager
    def _files(
        self, contents: Mapping[str, bytes] | None = None, policy: Policy | None = None
    ) -> Iterator[GuardedFiles]:
        files = self.guarded(TREE if contents is None else contents, policy or Policy())
        try:
            yield files
        finally:
            files.close()
