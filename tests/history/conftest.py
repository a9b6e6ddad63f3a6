"""A workspace whose history lies in a state directory of the test's own."""

import os

import pytest

from fsagent_tools import Workspace


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "fsagent"


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


def too_large(path):
    """Make a file of more than is copied before a command, which takes no room."""
    path.touch()
    os.truncate(path, (10 << 20) + 1)


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
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[key] = ("file", status.st_mode & 0o7777, file.read())
            else:
                found[key] = ("other", status.st_mode)
    return found
