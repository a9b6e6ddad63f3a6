import tempfile
from pathlib import Path

import pytest

from fsagent_tools import Policy, Tool, Workspace
from fsagent_tools.policy import ProcessPolicy
from fsagent_tools.types import Entry
from tests.conftest import PATIENCE


@pytest.fixture
def tmp_path():
    """Not in /tmp, of which commands have a private one: they have to see what they attack."""
    place = Path.home() / ".cache"
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


@pytest.fixture(params=["namespaces", "landlock"])
def sh(request, tmp_path, lacking):
    """Run a command in the workspace `tmp_path/ws` under a process policy, at both levels."""
    (tmp_path / "ws").mkdir()
    if request.param == "landlock":
        lacking("namespaces")
    yield from _shell(tmp_path / "ws", request.param)


@pytest.fixture
def namespace_sh(tmp_path):
    (tmp_path / "ws").mkdir()
    yield from _shell(tmp_path / "ws", "namespaces")


@pytest.fixture
def landlock_sh(tmp_path, lacking):
    (tmp_path / "ws").mkdir()
    lacking("namespaces")
    yield from _shell(tmp_path / "ws", "landlock")


def _shell(root, level):
    opened = {}

    def start(command, timeout=PATIENCE, hidden=(), **process):
        policy = Policy(process=ProcessPolicy(**process))
        if policy not in opened:
            opened[policy] = Workspace(root, policy=policy)
        tool = Tool(Entry("bash", show=("timeout", "working_dir")), opened[policy])
        out = tool.call({"command": command, "timeout": timeout}, **dict(hidden))
        if not process and not (out.data or {}).get("sandbox", level).startswith(level):
            pytest.skip(f"this system has no {level}")
        return out

    yield start
    for workspace in opened.values():
        workspace.close()
