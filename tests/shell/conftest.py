"""Commands at the levels of confinement that this machine has."""

import tempfile
from pathlib import Path

import pytest

from fsagent_tools import Policy, Tool, Workspace
from fsagent_tools.policy import ProcessPolicy
from fsagent_tools.types import Entry
from tests.conftest import PATIENCE

LEVELS = {"bubblewrap": (), "landlock": ("bubblewrap",)}


@pytest.fixture
def tmp_path():
    """Not in /tmp, of which commands have a private one: they have to see what they attack."""
    place = Path.home() / ".cache"
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


@pytest.fixture
def start(tmp_path, lacking):
    """`start(level)` gives a function that runs a command in the workspace `tmp_path/ws`."""
    opened = {}
    (tmp_path / "ws").mkdir()

    def of_level(level):
        lacking(*LEVELS.get(level, ()))

        def sh(command, timeout=PATIENCE, hidden=(), policy=(), **process):
            wanted = Policy(process=ProcessPolicy(**process), **dict(policy))
            if wanted not in opened:
                opened[wanted] = Workspace(tmp_path / "ws", policy=wanted)
            tool = Tool(Entry("bash", show=("timeout", "working_dir")), opened[wanted])
            out = tool.call({"command": command, "timeout": timeout}, **dict(hidden))
            told = (out.data or {}).get("sandbox", level)
            if process.get("sandbox") != "off" and not told.startswith(level):
                pytest.skip(f"this system has no {level}")
            return out

        sh.level, sh.workspaces = level, opened
        return sh

    yield of_level
    for workspace in opened.values():
        workspace.close()


@pytest.fixture(params=LEVELS)
def sh(request, start):
    """Run a command, at both levels."""
    return start(request.param)


@pytest.fixture
def bwrap_sh(start):
    return start("bubblewrap")


@pytest.fixture
def landlock_sh(start):
    return start("landlock")
