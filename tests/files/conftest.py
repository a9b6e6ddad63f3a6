"""A door on a real directory, once through openat2 and once through the walk."""

import os

import pytest

from fsagent_tools import Policy
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.files.resolve import open_beneath


@pytest.fixture(params=["openat2", "walk"])
def walk(request):
    if request.param == "openat2" and open_beneath() is None:
        pytest.skip("this kernel has no openat2")
    return request.param == "walk"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.txt").write_text("SECRET")
    (tmp_path / "ws" / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "ws" / "a.txt").write_text("alpha\n")
    (tmp_path / "ws" / "sub" / "b.txt").write_text("beta\n")
    yield tmp_path / "ws"
    assert os.listdir(tmp_path / "out") == ["secret.txt"]
    assert (tmp_path / "out" / "secret.txt").read_text() == "SECRET"
    litter = [n for _, ds, fs in os.walk(tmp_path) for n in ds + fs if n.startswith(".fsagent-")]
    assert not litter


@pytest.fixture
def opens(root, walk):
    """`opens(policy=..., root=...)` makes a door that is closed at the end."""
    doors = []

    def make(policy=None, at=root, **options):
        doors.append(LocalFiles(at, policy or Policy(), walk=walk, **options))
        return doors[-1]

    yield make
    for door in doors:
        door.close()


@pytest.fixture
def door(opens):
    return opens()
