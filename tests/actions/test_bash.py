"""The bash tool as a model and a host see it."""

import gc
import json
import os
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from fsagent_tools.actions.bash import bash
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.policy import Limits, Policy, ProcessPolicy
from fsagent_tools.process import launcher
from fsagent_tools.sandbox import landlock
from fsagent_tools.tools import Entry, Tool
from fsagent_tools.workspace import Workspace
from tests.conftest import DEADLINES, PATIENCE, alive, eventually


@pytest.fixture
def open_tool(tmp_path):
    """The bash tool on a workspace in `tmp_path/ws`; its parent is outside."""
    (tmp_path / "ws").mkdir()
    opened = []

    def tool(**policy):
        workspace = Workspace(tmp_path / "ws", policy=Policy(**policy))
        opened.append(workspace)
        return Tool(Entry(bash, show=("timeout", "working_dir")), workspace)

    yield tool
    for workspace in opened:
        workspace.close()


def free(**process):
    return {"process": ProcessPolicy(sandbox="off", **process)}


def test_a_model_sees_three_parameters(open_tool):
    schema = open_tool().schema
    assert list(schema["properties"]) == ["command", "timeout", "working_dir"]
    assert schema["required"] == ["command"]


def test_the_result_has_the_documented_keys_first(open_tool):
    out = open_tool().call({"command": "echo hi; echo no >&2"})
    assert list(out.to_dict().items())[:4] == [
        ("success", True),
        ("output", "hi\n"),
        ("stderr", "no\n"),
        ("exit_code", 0),
    ]
    assert (out.data["truncated"], out.data["timed_out"]) == (False, False)
    assert out.text == "hi\n[stderr]\nno"
    json.dumps(out.to_dict())


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("true", "[exit code 0]"),
        ("exit 3", "[exit code 3]"),
        ("echo a; exit 3", "a\n[exit code 3]"),
        ("kill -9 $$", "[exit code 137: SIGKILL]"),
        ("printf '1%%\\r2%%\\r100%%\\n'", "100%"),
        ("printf 'dos\\r\\nlines\\r\\n'", "dos\r\nlines"),
    ],
)
def test_the_text_is_short_and_never_empty(open_tool, command, text):
    out = open_tool().call({"command": command})
    assert out.ok
    assert out.text.strip("\r") == text


def test_a_time_out_is_an_error_that_carries_the_output(open_tool):
    for seconds in DEADLINES:
        out = open_tool().call({"command": "echo partial; sleep 600", "timeout": seconds})
        assert (out.ok, out.code) == (False, "TIMEOUT")
        if out.data["output"]:
            break
    assert f"stopped after {seconds} s (timeout). Output so far:\npartial\n" in out.text
    assert out.data["timed_out"]
    assert out.data["output"] == "partial\n"


def test_output_left_out_is_said_and_how_to_get_it(open_tool):
    out = open_tool().call({"command": "seq 100000"}, max_output=1000)
    assert out.data["truncated"]
    assert "1\n2\n" in out.text
    assert "99999\n100000\n" in out.text
    assert "bytes left out" in out.text
    assert "grep, head or tail" in out.text


def test_a_process_left_in_the_background_is_named(open_tool):
    out = open_tool().call({"command": "sleep 8001 & echo started"})
    assert "[left in the background and ended: sleep (" in out.text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"command": ""}, "VALIDATION_ERROR", "command"),
        ({"command": " \n"}, "VALIDATION_ERROR", "empty"),
        ({"command": "echo a\0b"}, "VALIDATION_ERROR", "NUL"),
        ({"command": "echo \ud800"}, "VALIDATION_ERROR", "surrogate"),
        ({"command": "pwd", "timeout": 0}, "VALIDATION_ERROR", "timeout"),
        ({"command": "pwd", "working_dir": ".."}, "PATH_OUTSIDE_WORKSPACE", ".."),
        ({"command": "pwd", "working_dir": "/"}, "PATH_OUTSIDE_WORKSPACE", "/"),
        ({"command": "pwd", "working_dir": "gone"}, "FILE_NOT_FOUND", "gone"),
        ({"command": "pwd", "working_dir": "file"}, "NOT_A_DIRECTORY", "file"),
        ({"command": "pwd", "working_dir": "out"}, "PATH_OUTSIDE_WORKSPACE", "out"),
    ],
)
def test_a_bad_argument_is_a_clear_error(open_tool, tmp_path, arguments, code, words):
    (tmp_path / "ws/file").touch()
    (tmp_path / "ws/out").symlink_to(tmp_path)
    out = open_tool().call(arguments)
    assert (out.code, words in out.text) == (code, True), out.text


def test_working_dir_is_where_the_command_runs(open_tool, tmp_path):
    (tmp_path / "ws/a b").mkdir()
    out = open_tool().call({"command": "pwd; echo $PWD; pwd -P", "working_dir": "a b"})
    assert out.text == "\n".join([str(tmp_path.resolve() / "ws/a b")] * 3)


def test_a_workspace_that_deleted_itself_gives_a_clear_error(open_tool, tmp_path):
    tool = open_tool(**free())
    assert tool.call({"command": 'rm -rf "$PWD"; echo gone'}).text == "gone"
    out = tool.call({"command": "echo hi"})
    assert not out.ok or out.data["exit_code"] == 0


def test_host_settings_reach_the_command(open_tool):
    tool = open_tool(
        process=ProcessPolicy(sandbox="off", limits=Limits(open_files=64, file_size="1MB"))
    )
    out = tool.call({"command": "echo $A; ulimit -n; ulimit -f"}, env={"A": "b c"})
    assert out.text == "b c\n64\n1024"
    assert tool.call({"command": "true"}, env={"A=": "b"}).code == "VALIDATION_ERROR"


def test_a_call_may_tighten_the_policy_but_not_loosen_it(open_tool):
    tool = open_tool()
    assert tool.call({"command": "true"}, network=True).code == "PERMISSION_DENIED"
    loose = tool.call({"command": "true"}, sandbox="off")
    assert loose.data["sandbox"] == tool.call({"command": "true"}).data["sandbox"]


@pytest.mark.parametrize(
    "settings",
    [
        {"sandbox": "none"},
        {"engine": "docker"},
        {"env_allow": "HOME"},
        {"sandbox": "off", "require_sandbox": True},
    ],
)
def test_a_wrong_setting_is_refused_at_once(settings):
    with pytest.raises(ConfigInvalid):
        ProcessPolicy(**settings)


def test_a_wrong_limit_is_refused_by_name():
    with pytest.raises(ConfigInvalid, match=r"limits\.memory"):
        Limits(memory="lots")


@pytest.mark.parametrize("policy", [{"readonly": True}, {"process": ProcessPolicy("read-only")}])
def test_a_policy_that_cannot_be_enforced_runs_nothing(open_tool, monkeypatch, tmp_path, policy):
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    monkeypatch.setattr(launcher, "NAMESPACES", False)
    out = open_tool(**policy).call({"command": "touch ran"})
    assert (out.code, "Landlock" in out.text) == ("COMMAND_FAILED", True)
    assert not (tmp_path / "ws/ran").exists()


def test_a_policy_that_demands_nothing_says_what_little_there_was(open_tool, monkeypatch):
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    monkeypatch.setattr(launcher, "NAMESPACES", False)
    assert open_tool().call({"command": "true"}).data["sandbox"] == "seccomp"
    strict = open_tool(process=ProcessPolicy(require_sandbox=True))
    assert strict.call({"command": "true"}).code == "COMMAND_FAILED"


def job(tool, command, **hidden):
    return tool.call({"command": command, "timeout": PATIENCE}, **hidden)


def test_a_background_job_is_read_waited_for_and_told_once(open_tool, tmp_path):
    tool = open_tool()
    started = job(tool, "echo one; until [ -e go ]; do sleep 0.05; done; echo two; exit 4",
                  background=True)  # fmt: skip
    assert started.data["running"]
    assert started.text.endswith("[job 1 is running]")
    told = [started.text]

    def has_spoken():
        told.append(job(tool, "read", job="1").text)
        return "one" in "".join(told)

    assert eventually(has_spoken)
    (tmp_path / "ws/go").touch()
    done = job(tool, "wait", job="1")
    assert (done.data["output"], done.data["exit_code"], done.data["running"]) == (
        "two\n",
        4,
        False,
    )
    assert job(tool, "read", job="1").data["output"] == ""


def test_waiting_for_a_job_ends_with_the_timeout(open_tool):
    tool = open_tool()
    job(tool, "sleep 8002", background=True)
    out = tool.call({"command": "wait", "timeout": 1}, job="1")
    assert out.ok
    assert out.data["running"]


def test_a_killed_job_leaves_no_process(open_tool):
    tool = open_tool()
    job(tool, "setsid sleep 8003 & sleep 8003", background=True)
    assert eventually(lambda: alive("sleep 8003") == 2)
    out = job(tool, "kill", job="1")
    assert (out.data["running"], out.data["exit_code"]) == (False, 143)
    assert not alive("sleep 8003")


@pytest.mark.parametrize(
    ("command", "name", "code"),
    [("read", "9", "JOB_NOT_FOUND"), ("ls", "1", "VALIDATION_ERROR")],
)
def test_a_wrong_job_call_says_what_is_right(open_tool, command, name, code):
    tool = open_tool()
    job(tool, "sleep 8004", background=True)
    out = job(tool, command, job=name)
    assert out.code == code
    assert "read, wait, kill" in out.text or "Jobs of this workspace: 1" in out.text


def test_jobs_and_the_temporary_directory_die_with_the_workspace(tmp_path):
    workspace = Workspace(tmp_path)
    tool = Tool(Entry(bash, show=("timeout", "working_dir")), workspace)
    job(tool, "sleep 8005", background=True)
    temp = Path(workspace.services.jobs.temp_dir)
    assert temp.is_dir()
    gone = weakref.ref(workspace)
    del workspace, tool
    gc.collect()
    assert gone() is None
    assert not alive("sleep 8005")
    assert not temp.exists()


def test_a_closed_workspace_can_be_used_again(open_tool):
    tool = open_tool()
    job(tool, "sleep 8007", background=True)
    tool.workspace.close()
    assert not alive("sleep 8007")
    assert job(tool, "read", job="1").code == "JOB_NOT_FOUND"
    assert tool.call({"command": "touch $TMPDIR/a && echo hi"}).text == "hi"


def test_jobs_end_when_the_interpreter_does(tmp_path):
    script = f"""
from fsagent_tools.actions.bash import bash
from fsagent_tools.tools import Entry, Tool
from fsagent_tools.workspace import Workspace
ws = Workspace({str(tmp_path)!r})
Tool(Entry(bash), ws).call({{"command": "sleep 8006"}}, background=True)
print(ws.services.jobs.temp_dir)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert not os.path.exists(done.stdout.strip())
    assert not alive("sleep 8006")
