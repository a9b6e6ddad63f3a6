"""Workspaces that nobody calls hold nothing open, however many there are."""

import gc
import subprocess
import sys
import weakref

import pytest

from fsagent_tools import Workspace, Workspaces, select_tools
from tests.conftest import alive, eventually

pytestmark = pytest.mark.full

MANY = """
import os, resource, sys, tempfile
from pathlib import Path
from fsagent_tools import Workspace, toolset

resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
base = Path(sys.argv[1])
users = []
for number in range(1500):
    home = base / str(number)
    home.mkdir()
    (home / "a.py").write_text("x = 1\\n")
    tools = toolset("compact").bind(Workspace(home))
    assert tools["Read"].call({"file_path": "a.py"}).ok
    assert tools["Write"].call({"file_path": "b.py", "content": "y = 1\\n"}).ok
    users.append(tools)
for tools in (users[0], users[700]):  # what they have seen is still known
    sent = {"file_path": "a.py", "old_string": "x", "new_string": "z"}
    out = tools["Edit"].call(sent)
    assert out.ok, out.text
print(len(os.listdir("/proc/self/fd")))
"""


def test_fifteen_hundred_workspaces_need_few_descriptors(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MANY, tmp_path], capture_output=True, text=True, check=False
    )
    assert not done.stderr
    assert int(done.stdout) < 300


@pytest.fixture
def crowd(tmp_path):
    """A function: user, tool, arguments -> the outcome, in a pool that keeps three idle ones."""

    def home(user):
        (tmp_path / str(user)).mkdir(exist_ok=True)
        return tmp_path / str(user)

    pool = Workspaces(home, keep=3)
    tools = {tool.name: tool for tool in select_tools(pool, only=["bash", "jobs", "ls"])}

    def call(user, name, **arguments):
        with tools[name].within(user) as tool:
            return tool.call(arguments)

    yield call
    pool.close()


def test_a_running_command_outlives_other_users(crowd):
    assert crowd("a", "bash", command="exec sleep 31415926", background=True).ok
    for user in range(8):
        assert crowd(user, "ls").ok
    assert "1: running" in crowd("a", "jobs").text
    assert eventually(lambda: alive("sleep 31415926"))
    assert crowd("a", "jobs", action="stop", job="1").ok


def test_of_many_with_running_commands_the_first_ones_end_and_their_users_are_told(crowd):
    for number in range(5):
        command = f"exec sleep 2718281{number}"
        assert crowd(f"u{number}", "bash", command=command, background=True).ok
    told = crowd("u0", "jobs").text
    assert "Ended, as others needed the place" in told
    assert "exec sleep 27182810" in told
    assert "as `list` says" in crowd("u0", "jobs", action="read", job="1").text
    assert eventually(lambda: not alive("sleep 27182810"))
    assert "1: running" in crowd("u4", "jobs").text


def test_views_of_a_workspace_do_not_add_up(tmp_path):
    workspace = Workspace(tmp_path)
    views = [weakref.ref(workspace.view(beneath=[str(n)])) for n in range(200)]
    gc.collect()
    assert sum(view() is not None for view in views) < 100
    assert workspace.view(beneath=["199"]) is views[-1]()
