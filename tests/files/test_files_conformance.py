"""Both implementations of the `Files` port do what the kit asks of any."""

from contextlib import ExitStack
from contextvars import copy_context

import pytest

from fsagent_tools import MemoryFiles, Policy, call, errors
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.files.local import LocalFiles
from tests.files.conformance.files import FilesConformance, GuardedConformance


class TestMemoryFiles(FilesConformance):
    def make(self, contents):
        return MemoryFiles(contents)


class TestLocalFiles(GuardedConformance):
    @pytest.fixture(autouse=True, params=["openat2", "walk"])
    def _root(self, tmp_path, request):
        self.root, self.walk = tmp_path, request.param == "walk"

    def guarded(self, contents, policy):
        for path, data in contents.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(data)
        return LocalFiles(self.root, policy, walk=self.walk)


class Meanwhile:
    """Does something once, when a call that waits asks whether it was cancelled."""

    def __init__(self, do):
        self.do = do

    def is_set(self):
        do, self.do = self.do, None
        if do:
            do()
        return False


@pytest.mark.parametrize("kind", [MemoryFiles, LocalFiles])
def test_a_directory_that_took_the_place_of_a_file_meanwhile_is_not_removed_with_it(tmp_path, kind):
    local = kind is LocalFiles
    files = LocalFiles(tmp_path, Policy()) if local else GuardedFiles(MemoryFiles(), Policy())
    with files.lock("a") as file:
        file.write(b"old", expect=None)
    held, other = ExitStack(), copy_context()  # of another call than the one that waits
    other.run(held.enter_context, files.lock("a"))

    def replace():
        other.run(held.close)
        files.remove("a")
        with files.lock("a/b", create_dirs=True) as inner:
            inner.write(b"new", expect=None)

    token = call.current.set(call.CallContext(cancelled=Meanwhile(replace)))
    try:
        with pytest.raises(errors.NotAFile, match="recursive"):
            files.remove("a")
    finally:
        call.current.reset(token)
        other.run(held.close)
    with files.open("a/b") as file:
        assert file.read() == b"new"


def test_the_kit_runs_without_pytest_and_notices_a_lost_write():
    class Mine(FilesConformance):
        def make(self, contents):
            return MemoryFiles(contents)

    class Deaf(Mine):
        def make(self, contents):
            return MemoryFiles({})

    assert len(Mine().run()) > 15
    with pytest.raises(Exception, match="does not exist"):
        Deaf().run()
