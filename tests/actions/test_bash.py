"""The bash tool as a model and a host see it."""

import gc
import json
import os
import re
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path

import pytest

from fsagent_tools import Policy, Tool, Workspace, emitting, toolset
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.policy import Limits, ProcessPolicy
from fsagent_tools.shell import output
from fsagent_tools.shell.shell import LONGEST_ARGUMENT
from fsagent_tools.types import Entry
from tests.conftest import DEADLINES, alive, eventually


@pytest.fixture
def open_tool(tmp_path):
    """The bash tool on a workspace in `tmp_path/ws`; its parent is outside."""
    (tmp_path / "ws").mkdir()
    opened = []

    def tool(**policy):
        workspace = Workspace(tmp_path / "ws", policy=Policy(**policy))
        opened.append(workspace)
        return Tool(Entry("bash", show=("timeout", "working_dir")), workspace)

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
        ("output", "hi\nno\n"),
        ("stderr", ""),
        ("exit_code", 0),
    ]
    assert (out.data["truncated"], out.data["timed_out"]) == (False, False)
    assert out.text == "hi\nno"
    json.dumps(out.to_dict())


def test_the_streams_come_in_the_order_of_a_terminal(open_tool):
    numbers = "for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done"
    lines = (
        open_tool().call({"command": f"{numbers}; nothere; echo $?"}).data["output"].splitlines()
    )
    assert lines[:10] == [f"{stream}{i}" for i in range(1, 6) for stream in "oe"]
    assert ("not found" in lines[10], lines[11]) == (True, "127")


def test_a_program_that_prints_much_writes_in_blocks(open_tool, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    assert open_tool().call({"command": "echo [$PYTHONUNBUFFERED]"}).text == "[]"


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


def test_a_time_out_without_output_says_so_and_what_to_do_on_a_line_of_its_own(open_tool):
    out = open_tool().call({"command": "sleep 600", "timeout": 1})
    said, *_, advice = out.text.splitlines()
    assert said == "Error: The command was stopped after 1 s (timeout). It printed nothing."
    assert advice.startswith("Raise `timeout`")


def test_without_a_place_for_temporary_files_that_is_what_a_command_lacks(open_tool, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    out = open_tool().call({"command": "true"})
    assert out.code == "COMMAND_FAILED"
    assert "No temporary file can be made here" in out.text
    assert "TMPDIR" in out.text


def test_a_variable_of_the_call_does_not_choose_where_we_write_its_script(open_tool, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    long = f"echo said $TMPDIR #{'x' * LONGEST_ARGUMENT}"
    out = open_tool().call({"command": long}, env={"TMPDIR": str(outside)})
    assert out.text == f"said {outside}"
    assert not os.listdir(outside)


@pytest.mark.usefixtures("home")
def test_git_waits_for_no_editor(open_tool, tmp_path):
    tool = open_tool()
    who = "git config user.name n; git config user.email e@x"
    out = tool.call({"command": f"git init -q; {who}; touch a; git add a; git commit"})
    assert out.data["exit_code"] == 1, out.text
    assert "Aborting commit due to empty commit message" in out.text
    kept = 'git commit -qm one; git commit --amend; git log --format=%s; echo "$GIT_EDITOR"'
    assert tool.call({"command": kept}).text.endswith("one\ntrue")
    own = tool.call({"command": "echo $GIT_EDITOR"}, env={"GIT_EDITOR": "ed"})
    assert own.text == "ed"


def test_output_left_out_is_said(open_tool):
    out = open_tool().call({"command": "seq 100000"}, max_output=1000)
    assert out.data["truncated"]
    assert "1\n2\n" in out.text
    assert "99999\n100000\n" in out.text
    assert "bytes left out" in out.text


def test_what_is_left_out_is_kept_in_a_file_that_read_and_grep_open(tmp_path):
    workspace = Workspace(tmp_path)
    tools = toolset("workspace").bind(workspace)
    loud = tools["bash"].call({"command": "seq 30000; echo secret$((6*7)) >&2; seq 30000"})
    path = loud.data["whole"]
    assert loud.text.endswith(f"[output shortened: all of it is in {path}]")
    assert "secret42" not in loud.text
    assert len(Path(path).read_text().split("\n")) == 60_002
    assert (
        tools["grep"].call({"pattern": "secret", "path": path}).data["matches"][0]["file"] == path
    )
    assert "\n29999" in tools["read"].call(
        {"file_path": path, "offset": 29990, "limit": 20}
    ).text.replace("] ", "]\n")
    for name, arguments in (
        ("write", {"file_path": path, "content": "x"}),
        ("ls", {"path": path.rpartition("/")[0]}),
        ("glob", {"pattern": "*", "path": path.rpartition("/")[0]}),
        ("read", {"file_path": f"{os.path.dirname(path)}/../../etc/passwd"}),
        ("read", {"file_path": "/etc/passwd"}),
    ):
        assert tools[name].call(arguments).code in ("PATH_OUTSIDE_WORKSPACE", "PERMISSION_DENIED")
    tools["bash"].call({"command": "ln -s /etc/passwd $TMPDIR/link; ln -s / $TMPDIR/all"})
    for link in ("link", "all/etc/passwd"):
        there = f"{path.rpartition('/')[0]}/{link}"
        assert tools["read"].call({"file_path": there}).code == "PATH_OUTSIDE_WORKSPACE"
    workspace.close()
    assert not os.path.exists(path)


def test_the_file_of_a_flood_is_bounded_and_of_many_the_oldest_go(tmp_path, monkeypatch):
    for name, size in (("MOST_KEPT", 100_000), ("ALL_KEPT", 350_000)):
        monkeypatch.setattr(output, name, size)
    tool = Tool(Entry("bash"), Workspace(tmp_path))
    floods = [tool.call({"command": "yes | head -c 3000000"}).data["whole"] for _ in range(6)]
    assert [os.path.exists(path) for path in floods] == [False] * 3 + [True] * 3
    assert [os.path.getsize(path) for path in floods[3:]] == [100_000] * 3


def test_both_streams_are_shown_in_the_order_in_which_they_were_read(open_tool, tmp_path):
    tool, heard = open_tool(), []

    def hear(text):
        heard.append(text)
        (tmp_path / f"ws/{len(heard)}").touch()

    wait = "until [ -e {} ]; do sleep 0.01; done; "
    with emitting(hear):
        out = tool.call(
            {"command": f"echo a; {wait.format(1)} echo b >&2; {wait.format(2)} echo c"}
        )
    assert out.text == "a\nb\nc"
    assert out.data["output"] == "a\nb\nc\n"


def test_colours_titles_and_progress_cost_nothing_of_the_limit(open_tool):
    bar = "for i in $(seq 3000); do printf '\\r%4d of 3000 done' $i; done; echo"
    title = "printf '\\033]0;title\\007\\033[1;31mred\\033[0m\\033(B\\a b\\bc\\n'"
    out = open_tool().call({"command": f"{bar}; {title}"}, max_output=100)
    assert out.text == "3000 of 3000 done\nred c"
    assert not out.data["truncated"]


def test_what_a_command_prompts_for_is_shown_though_its_line_has_no_end(open_tool):
    assert open_tool().call({"command": "printf 'name? '; printf 'x\\r'"}).data["output"] == (
        "name? x\r"
    )


def test_directory_and_variables_stay_where_a_host_wants_it(open_tool, tmp_path):
    (tmp_path / "ws/a b/c").mkdir(parents=True)
    tool = open_tool()

    def sh(command, **arguments):
        return tool.call({"command": command, **arguments}, session="a").text

    root = str((tmp_path / "ws").resolve())
    assert sh("cd 'a b'; export GREETING=\"it's\"; false") == "[exit code 1]"
    assert sh("echo $GREETING; pwd; cd c") == f"it's\n{root}/a b"
    assert sh("pwd") == f"{root}/a b/c"
    assert sh("pwd", working_dir="a b") == f"{root}/a b"
    assert tool.call({"command": "pwd; echo $GREETING"}).text == root
    own = {"GREETING": "x y"}
    assert tool.call({"command": "echo $GREETING"}, session="a", env=own).text == "x y"
    assert tool.call({"command": "pwd; echo $GREETING"}, session="b").text == root


def test_an_activated_environment_lasts_in_a_session(open_tool, tmp_path):
    (tmp_path / "ws/activate").write_text(
        "VIRTUAL_ENV=$PWD; export VIRTUAL_ENV; _OLD=kept\ndeactivate() { echo gone $_OLD; }\n"
        "alias hi='echo hello'\n"
    )
    tool = open_tool()
    assert tool.call({"command": ". ./activate"}, session="a").data["exit_code"] == 0
    assert tool.call({"command": "sleep 60", "timeout": 1}, session="a").code == "TIMEOUT"
    out = tool.call({"command": "deactivate; hi; echo ${VIRTUAL_ENV##*/}"}, session="a")
    assert out.text == "gone kept\nhello\nws"
    assert "not found" in tool.call({"command": "hi"}).text
    refused = tool.call({"command": "true"}, session="../x")
    assert (refused.ok, "session" in refused.text) == (False, True)


@pytest.mark.parametrize(
    ("before", "printed"),
    [
        ("PATH=/nowhere; word=x", ""),
        ("unset PATH; word=x", ""),
        ("set -x; word=x", r"\+\+ word=x"),
        ("set -C; word=x", ""),
        ("mv() { echo called; }; cd() { echo called; }; declare() { echo called; }; word=x", ""),
        ("word=x; exit 0", ""),
        ("word=x; kill -TERM $$", r"\[exit code 143: SIGTERM\]"),
        (
            "yes | head -c 200000 > /dev/null; sleep 100 & word=x",
            r"\[stopped with the command, as they ran in the background: .*",
        ),
    ],
)
def test_a_session_outlives_what_a_command_does_to_its_shell(open_tool, before, printed):
    tool = open_tool()
    said = tool.call({"command": before}, session="a").text.removesuffix("[exit code 0]")
    assert re.fullmatch(printed, said.rstrip())
    assert tool.call({"command": "PATH=/bin:/usr/bin; echo $word"}, session="a").text == "x"


def test_a_session_says_that_its_directory_is_gone(open_tool, tmp_path):
    tool, root = open_tool(), str((tmp_path / "ws").resolve())
    tool.call({"command": "mkdir d; cd d; word=x; rmdir ../d"}, session="a")
    out = tool.call({"command": "pwd; echo $word"}, session="a")
    assert out.data["exit_code"] == 0
    assert f"cd: {root}/d: No such file or directory\n{root}\nx" in out.text
    assert tool.call({"command": "pwd"}, session="a").text == root


def test_a_fresh_shell_begins_with_the_hosts_commands(open_tool):
    tool = open_tool(process=ProcessPolicy(startup="greet() {\n echo hi $1\n}"))
    for session in ("", "a", "a"):
        assert tool.call({"command": "greet you; exit 3"}, session=session).text == (
            "hi you\n[exit code 3]"
        )


def test_what_a_host_redacts_is_neither_shown_nor_kept(open_tool):
    tool = open_tool(process=ProcessPolicy(redact=[r"sk-\w+", "pass(word)?"]))
    out = tool.call({"command": "echo key sk-abc1 >&2; printf 'my password'"})
    assert "sk-abc1" not in repr(out)
    assert "my [redacted]" in out.text
    long = tool.call({"command": "seq 20000; echo sk-abc2"}, max_output=50)
    assert "sk-abc2" not in Path(long.data["whole"]).read_text()


@pytest.mark.parametrize(
    "wrong", [{"redact": ["("]}, {"redact": "x"}, {"redact": [1]}, {"startup": 1}]
)
def test_wrong_rules_for_a_shell_are_named(wrong):
    with pytest.raises(ConfigInvalid, match=next(iter(wrong))):
        ProcessPolicy(**wrong)


def test_a_process_left_in_the_background_is_named(open_tool):
    out = open_tool().call({"command": "sleep 8001 & echo started"})
    assert "[stopped with the command, as they ran in the background: sleep (" in out.text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"command": ""}, "VALIDATION_ERROR", "command"),
        ({"command": " \n"}, "VALIDATION_ERROR", "empty"),
        ({"command": "echo a\0b"}, "VALIDATION_ERROR", "NUL"),
        ({"command": "echo \ud800"}, "VALIDATION_ERROR", "surrogate"),
        ({"command": "pwd", "timeout": -1}, "VALIDATION_ERROR", "timeout"),
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
    assert tool.call({"command": 'rm -rf "$PWD"; echo gone'}).text.endswith("gone")
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
        {"require_sandbox": "bwrap"},
        {"network": ["http://example.com"]},
        {"network": "example.com"},
        {"env_allow": "HOME"},
        {"readable": "/srv"},
        {"caches": ""},
        {"caches": 1},
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
def test_a_policy_that_cannot_be_enforced_runs_nothing(open_tool, lacking, tmp_path, policy):
    lacking("bubblewrap", "landlock")
    out = open_tool(**policy).call({"command": "touch ran"})
    assert (out.code, "Landlock" in out.text) == ("COMMAND_FAILED", True)
    assert not (tmp_path / "ws/ran").exists()


def test_a_policy_that_demands_nothing_says_what_little_there_was(open_tool, lacking):
    lacking("bubblewrap", "landlock")
    assert open_tool().call({"command": "true"}).data["sandbox"] == "seccomp"
    strict = open_tool(process=ProcessPolicy(require_sandbox=True))
    assert strict.call({"command": "true"}).code == "COMMAND_FAILED"


def test_jobs_and_the_temporary_directory_die_with_the_workspace(tmp_path):
    workspace = Workspace(tmp_path)
    tool = Tool(Entry("bash", show=("timeout", "working_dir")), workspace)
    tool.call({"command": "sleep 8005"}, background=True)
    temp = Path(workspace.services.jobs.temp_dir)
    assert temp.is_dir()
    gone = weakref.ref(workspace)
    del workspace, tool
    gc.collect()
    assert gone() is None
    assert eventually(lambda: not alive("sleep 8005") and not temp.exists())


def test_jobs_end_when_the_interpreter_does(tmp_path):
    script = f"""
from fsagent_tools.actions.bash import bash
from fsagent_tools import toolset
from fsagent_tools.toolkit.toolset import Entry, Tool
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
    assert eventually(lambda: not alive("sleep 8006"))
