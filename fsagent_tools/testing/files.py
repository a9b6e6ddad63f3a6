"""What every implementation of the `Files` port has to do, as checks that any of them can run.

With pytest: `class TestMine(FilesConformance)` with a method `make`. Without: `Mine().run()`.
"""

from fsagent_tools.testing.allowing import Allows
from fsagent_tools.testing.moving import Transfers
from fsagent_tools.testing.reading import Reads
from fsagent_tools.testing.writing import Writes


class FilesConformance(Reads, Writes, Transfers, Allows):
    """Checks that begin with `test_`; each asks `make` for files of its own."""

    def run(self) -> list[str]:
        """Run all checks and return their names; the first that fails raises."""
        names = [name for name in dir(self) if name.startswith("test_")]
        for name in names:
            getattr(self, name)()
        return names
