"""Both implementations of the `Files` port do what the kit asks of any."""

import pytest

from fsagent_tools import MemoryFiles
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.testing.files import FilesConformance


class TestMemoryFiles(FilesConformance):
    def make(self, contents, policy):
        return MemoryFiles(contents, policy=policy)


class TestLocalFiles(FilesConformance):
    @pytest.fixture(autouse=True, params=["openat2", "walk"])
    def _root(self, tmp_path, request):
        self.root, self.walk = tmp_path, request.param == "walk"

    def make(self, contents, policy):
        for path, data in contents.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(data)
        return LocalFiles(self.root, policy, walk=self.walk)


def test_the_kit_runs_without_pytest_and_notices_a_lost_write():
    class Mine(FilesConformance):
        def make(self, contents, policy):
            return MemoryFiles(contents, policy=policy)

    class Deaf(Mine):
        def make(self, contents, policy):
            return MemoryFiles({}, policy=policy)

    assert len(Mine().run()) > 15
    with pytest.raises(Exception, match="does not exist"):
        Deaf().run()
