"""A workspace whose history lies in a state directory of the test's own."""

import errno
import os
import subprocess
import sys

import pytest

from fsagent_tools import Workspace
from tests.conftest import PATIENCE

# PR_CAPBSET_DROP of CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: no program from here on has them
AS_ANYBODY = """
import ctypes, os, sys
for right in (1, 2):
    if ctypes.CDLL(None).prctl(24, right, 0, 0, 0):
        sys.exit("root may not give up its rights here")
os.execv(sys.executable, [sys.executable, "-m", "pytest", *sys.argv[1:]])
"""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if not pyfuncitem.get_closest_marker("unprivileged") or not opens_all(pyfuncitem):
        return None
    # without a directory of its own it would clean up, beside others, what earlier runs have left
    place = f"--basetemp={pyfuncitem.funcargs['tmp_path'] / 'inner'}"
    words = ["-q", "-p", "no:cacheprovider", "--rootdir", pyfuncitem.config.rootpath, place]
    command = [sys.executable, "-c", AS_ANYBODY, *words, f"{pyfuncitem.path}::{pyfuncitem.name}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=5 * PATIENCE)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    return True


def opens_all(item):
    """Whether no mode closes a directory to this process."""
    closed = item.funcargs["tmp_path"] / "closed"
    closed.mkdir(mode=0)
    try:
        return os.access(closed, os.R_OK)
    finally:
        closed.rmdir()


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


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


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
            else:
                with open(path, "rb") as file:
                    found[key] = ("file", status.st_mode & 0o7777, file.read())
    return found
