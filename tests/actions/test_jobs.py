"""Background commands as a model and a host see them."""

import shutil
import sys
import time

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.shell import runner
from fsagent_tools.shell.jobs import Job
from tests.conftest import PATIENCE, alive, eventually, no_new_descriptor


@pytest.fixture
def tools(root):
    workspace = Workspace(root)
    yield toolset("workspace").bind(workspace)
    workspace.close()


@pytest.fixture
def jobs(tools):
    def call(action, job="1", **arguments):
        return tools["jobs"].call({"timeout": PATIENCE, "action": action, "job": job, **arguments})

    return call


def start(tools, command, **hidden):
    return tools["bash"].call({"command": command, "background": True}, **hidden)


def test_a_model_can_ask_for_a_job_and_nobody_else_has_the_tool(tools):
    assert "background" in tools["bash"].schema["properties"]
    assert list(tools["jobs"].schema["properties"]) == ["action", "job", "input", "timeout"]
    for name in ("line_ids", "compact", "file_ops", "filesystem"):
        assert "jobs" not in {entry.shown_name for entry in toolset(name).entries}


def test_a_job_is_read_waited_for_and_told_once(tools, jobs, root):
    started = start(tools, "echo one; until [ -e go ]; do sleep 0.05; done; echo two; exit 4")
    assert started.data["running"]
    assert started.text.endswith("[running as job 1]")
    told = [started.text]

    def has_spoken():
        told.append(jobs("read").text)
        return "one" in "".join(told)

    assert eventually(has_spoken)
    (root / "go").touch()
    done = jobs("wait")
    assert (done.data["output"], done.data["exit_code"], done.data["running"]) == (
        "two\n",
        4,
        False,
    )
    assert jobs("read").text == "[exit code 4]"
    assert jobs("read", job=1).text == "[exit code 4]"


def test_what_a_running_python_has_printed_can_be_read(tools, jobs):
    script = "import time; print('one'); time.sleep(1e6)"
    told = [start(tools, f'{sys.executable} -c "{script}"').text]
    assert eventually(lambda: told.append(jobs("read").text) or "one" in "".join(told))


def test_the_list_says_what_runs_and_how_the_rest_ended(tools, jobs):
    assert jobs("list").text == "No command is running in the background."
    start(tools, "sleep 8102")
    start(tools, "exit 3")
    jobs("wait", "2")
    first, second = jobs("list").text.split("\n")
    assert first.startswith("1: running, ")
    assert first.endswith(" s: sleep 8102")
    assert second.startswith("2: exit code 3, ")
    assert [row["running"] for row in jobs("list").data["jobs"]] == [True, False]


def test_the_list_tells_the_host_when_a_job_began_and_how_much_of_it_was_read(tools, jobs, root):
    start(tools, "printf 12345; until [ -e go ]; do sleep 0.05; done; printf 678; exit 4")
    start(tools, "sleep 8108")
    assert eventually(lambda: jobs("list").data["jobs"][0]["written"] == 5)
    jobs("read")
    (root / "go").touch()
    assert eventually(lambda: not jobs("list").data["jobs"][0]["running"])
    jobs("stop", "2")
    first, second = jobs("list").data["jobs"]
    assert abs(time.time() - first["started"]) < 3600
    assert (first["state"], first["exit_code"]) == ("exited", 4)
    assert (first["written"], first["told"]) == (8, 5)
    assert (second["command"], second["state"]) == ("sleep 8108", "stopped")


def test_a_job_reads_what_it_is_told(tools, jobs):
    start(tools, "while read line; do echo got $line; done; echo end")
    assert jobs("write", input="a\nb\n").data["running"]
    last = tools["jobs"].call({"action": "write", "job": "1", "input": "c\n"}, last=True)
    assert last.ok
    seen = last.data["output"] + jobs("wait").data["output"]
    assert seen.endswith("got c\nend\n")
    assert jobs("write", input="d").code == "COMMAND_FAILED"


def test_a_job_that_does_not_read_is_no_trap(tools, jobs):
    start(tools, "sleep 8103")
    out = jobs("write", input="x" * 1_000_000, timeout=1)
    assert (out.code, "did not read its input within 1 s" in out.text) == ("TIMEOUT", True)
    assert jobs("stop").data["running"] is False
    assert not alive("sleep 8103")


def test_waiting_for_a_job_ends_with_the_timeout(tools, jobs):
    start(tools, "sleep 8104")
    out = jobs("wait", timeout=1)
    assert out.ok
    assert out.data["running"]


def test_a_stopped_job_leaves_no_process(tools, jobs, monkeypatch):
    monkeypatch.setattr(runner, "GRACE", PATIENCE)  # SIGTERM is enough, given time
    start(tools, "setsid sleep 8105 & sleep 8105")
    assert eventually(lambda: alive("sleep 8105") == 2)
    out = jobs("stop")
    assert (out.data["running"], out.data["exit_code"]) == (False, 143)
    assert not alive("sleep 8105")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"action": "read", "job": "9"}, "JOB_NOT_FOUND"),
        ({"action": "read"}, "VALIDATION_ERROR"),
        ({"action": "kill", "job": "1"}, "VALIDATION_ERROR"),
        ({"job": "1", "input": "words"}, "VALIDATION_ERROR"),
    ],
)
def test_a_wrong_call_says_what_is_right(tools, arguments, code):
    start(tools, "sleep 8106")
    out = tools["jobs"].call(arguments)
    assert out.code == code
    assert any(
        words in out.text
        for words in ("workspace: 1", "There are: 1", "stop", 'is for `action` "write"')
    )


def test_a_closed_workspace_can_be_used_again(tools, jobs):
    start(tools, "sleep 8107")
    tools["bash"].workspace.close()
    assert not alive("sleep 8107")
    assert jobs("read").code == "JOB_NOT_FOUND"
    assert tools["bash"].call({"command": "touch $TMPDIR/a && echo hi"}).text == "hi"


def test_a_job_that_is_started_while_others_are_ended_is_ended_too(tools, monkeypatch):
    start(tools, "sleep 8109")
    jobs, stop, others = tools["bash"].workspace.services.jobs, Job.stop, ["sleep 8109"]

    def and_starts_another(job):
        if others:
            start(tools, others.pop())
        stop(job)

    monkeypatch.setattr(Job, "stop", and_starts_another)
    jobs.close()
    assert not alive("sleep 8109")
    assert jobs.all() == []


@pytest.mark.full
def test_no_descriptor_of_a_job_is_lost(tools, jobs):
    start(tools, "true")
    jobs("wait")
    with no_new_descriptor():
        for name in ("2", "3", "4"):
            start(tools, "cat")
            jobs("stop", name)


@pytest.mark.usefixtures("home")
def test_processes_in_parallel_and_a_commit_work_under_the_default_policy(tools, root):
    pool = "from multiprocessing import Pool; print(sum(Pool(2).map(abs, [-1, -2])))"
    out = tools["bash"].call({"command": f"python3 -c '{pool}'", "timeout": PATIENCE})
    if not out.data["sandbox"].startswith("bubblewrap"):
        pytest.skip("/dev/shm of its own needs namespaces")
    assert out.text == "3"
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    me = "git -c user.name=a -c user.email=a@b"
    made = tools["bash"].call(
        {"command": "git init -q . && echo x > f && git add f", "timeout": PATIENCE}
    )
    assert made.ok
    out = tools["bash"].call({"command": f"{me} commit -qm one && git log --format=%s"})
    assert out.text == "one"


def test_only_what_changes_a_job_is_asked_about(root):
    asked = []
    workspace = Workspace(root, approve=lambda request: asked.append(request) or True)
    tools = toolset("workspace").bind(workspace)
    start(tools, "cat")
    for action in ("list", "write", "read", "wait", "stop"):
        text = {"input": "hi\n"} if action == "write" else {}
        call = {"action": action, "job": "1", "timeout": 1, **text}
        assert tools["jobs"].call(call).ok
    assert [request.arguments.get("action", "run") for request in asked] == ["run", "write", "stop"]
    workspace.close()


def test_a_preview_reads_nothing_of_a_job(root):
    workspace = Workspace(root, approve=lambda request: True)
    tools = toolset("workspace").bind(workspace)
    start(tools, "until [ -e go ]; do sleep 0.05; done; echo one")
    (root / "go").touch()
    assert eventually(lambda: "exit" in tools["jobs"].call({"action": "list"}).text)
    assert tools["jobs"].preview({"action": "wait", "job": "1"}) is None
    assert tools["jobs"].preview({"action": "stop", "job": "1"}).effect.value == "execute"
    assert tools["jobs"].call({"action": "wait", "job": "1"}).data["output"] == "one\n"
    workspace.close()
