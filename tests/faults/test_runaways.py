"""What would not end is ended, what would fill the memory is cut, and nothing stays behind."""

import os
import shutil

import pytest

from fsagent_tools import Policy, Workspace, toolset
from tests.conftest import alive, eventually, soon

needs_bwrap = pytest.mark.skipif(not shutil.which("bwrap"), reason="bwrap is not installed")


def test_a_command_that_waits_for_input_gets_none(start):
    with soon():
        assert start()["bash"].call({"command": "cat; read x; echo over"}).text.startswith("over")


def test_a_command_is_ended_with_its_time(start):
    out = start()["bash"].call({"command": "sleep 97311", "timeout": 1})
    assert out.code == "TIMEOUT"
    assert eventually(lambda: not alive("sleep 97311"))


def test_one_that_ignores_signals_is_ended_too(start):
    command = "trap '' TERM INT HUP; while :; do sleep 97312; done"
    assert start()["bash"].call({"command": command, "timeout": 1}).code == "TIMEOUT"
    assert eventually(lambda: not alive("sleep 97312"))


@needs_bwrap
def test_what_a_command_leaves_in_the_background_ends_with_it(start):
    command = "(setsid nohup sleep 97313 >/dev/null 2>&1 &); echo left"
    assert "left" in start()["bash"].call({"command": command}).text
    assert eventually(lambda: not alive("sleep 97313"))


def test_a_job_ends_with_its_workspace(root):
    workspace = Workspace(root)
    tool = toolset("workspace").bind(workspace)["bash"]
    assert tool.call({"command": "sleep 97314", "background": True}).ok
    workspace.close()
    assert eventually(lambda: not alive("sleep 97314"))


def test_a_flood_of_output_is_cut(start):
    out = start()["bash"].call({"command": "yes flood | head -c 50000000"})
    assert out.ok
    assert len(out.text) < 200_000
    assert out.data["truncated"]


def test_a_pipe_is_not_waited_for(start, root):
    os.mkfifo(root / "pipe")
    tools = start("filesystem")
    with soon():
        for name in ("read", "edit", "write", "insert", "grep", "file_stat"):
            more = {"old_string": "a", "new_string": "b", "content": "x", "line": 1, "pattern": "a"}
            shown = tools[name].schema["properties"]
            tools[name].call({"path": "pipe", **{k: v for k, v in more.items() if k in shown}})


def test_a_circle_of_links_ends(start, root):
    (root / "yin").symlink_to("yang")
    (root / "yang").symlink_to("yin")
    (root / "dir").mkdir()
    (root / "dir/up").symlink_to("..")
    tools = start("filesystem")
    with soon():
        assert not tools["read"].call({"path": "yin"}).ok
        assert tools["ls"].call({"path": ".", "recursive": True}).ok
        assert tools["find"].call({"pattern": "**/*"}).ok


def test_a_regex_that_goes_back_forever_ends(start, root):
    (root / "a.txt").write_text("a" * 40 + "!\n")
    with soon():
        start()["grep"].call({"pattern": "(a+)+$"})


def test_a_huge_file_is_refused_before_it_is_read(start, root):
    with open(root / "huge.txt", "wb") as file:
        file.truncate(1 << 40)
    tools = start(policy=Policy(max_file_size="10MB"))
    with soon():
        for name, more in {"read": {}, "write": {"content": "x"}, "lsp": {}}.items():
            assert not tools[name].call({"file_path": "huge.txt", **more}).ok
    assert (root / "huge.txt").stat().st_size == 1 << 40


def test_a_line_of_megabytes_is_shown_in_part(start, root):
    (root / "a.txt").write_text("x" * 5_000_000 + "\n")
    tools = start()
    assert len(tools["read"].call({"file_path": "a.txt"}).text) < 100_000
    assert len(tools["grep"].call({"pattern": "x"}).text) < 100_000
