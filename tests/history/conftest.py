"""A workspace whose history lies in a state directory of the test's own."""

import os

import pytest

from fsagent_tools import Workspace


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "fsagent"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture
def opens(root):
    """`opens(...)` makes a workspace on the root that is closed at the end."""
    opened = []

    def make(**options):
        opened.append(Workspace(root, **options))
        return opened[-1]

    yield make
    for workspace in opened:
        workspace.close()


@pytest.fixture
def workspace(opens):
    return opens()


def tree(root):
    """Everything beneath a directory: kind, mode and content by path."""
    found = {}
    for above, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(above, name)
            status = os.lstat(path)
            key = os.path.relpath(path, root)
            if key.split("/")[0] == ".ai":
                continue
            if os.path.islink(path):
                found[key] = ("link", os.readlink(path))
            elif os.path.isdir(path):
                found[key] = ("directory", status.st_mode & 0o7777)
            else:
                with open(path, "rb") as file:
                    found[key] = ("file", status.st_mode & 0o7777, file.read())
    return found
