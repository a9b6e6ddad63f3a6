"""What the tools ask of any store, as checks that the writer of one can run.

With pytest: `class TestMine(FilesConformance)` with a method `make`. Without: `Mine().run()`.
"""

from abc import abstractmethod
from collections.abc import Mapping

from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.files.store import Store
from fsagent_tools.policy import Policy
from tests.files.conformance.allowing import Allows
from tests.files.conformance.moving import Transfers
from tests.files.conformance.reading import Reads
from tests.files.conformance.writing import Writes


class GuardedConformance(Reads, Writes, Transfers, Allows):
    """Checks that begin with `test_`, of files with their guard."""

    def run(self) -> list[str]:
        """Run all checks and return their names; the first that fails raises."""
        names = [name for name in dir(self) if name.startswith("test_")]
        for name in names:
            getattr(self, name)()
        return names


class FilesConformance(GuardedConformance):
    """The checks for a store; each asks `make` for one of its own."""

    @abstractmethod
    def make(self, contents: Mapping[str, bytes]) -> Store:
        """A store that holds exactly `contents` (path -> bytes)."""

    def guarded(self, contents: Mapping[str, bytes], policy: Policy) -> GuardedFiles:
        return GuardedFiles(self.make(contents), policy)
