"""The command line: configuration and approval, as a person uses them."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from importlib.metadata import version
from itertools import pairwise

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.cli import main
from fsagent_tools.cli.roots import project_root
from fsagent_tools.toolsets import TOOLSETS


@pytest.fixture
def fsagent(tmp_path):
    """Runs the command in a project of its own; `user` is the user's file."""
    (tmp_path / "project").mkdir()
    (tmp_path / "home/fsagent").mkdir(parents=True)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("FSAGENT_")}

    def run(*argv, start=subprocess.run, env=None, **options):
        ended = {"timeout": 60, "capture_output": "stdout" not in options}
        return start(
            [sys.executable, "-m", "fsagent_tools.cli", *argv],
            cwd=tmp_path / "project",
            env={**clean, "XDG_CONFIG_HOME": str(tmp_path / "home"), **(env or {})},
            text=True,
            **(ended if start is subprocess.run else {}),
            **options,
        )

    run.user, run.project = tmp_path / "home/fsagent/config.yaml", tmp_path / "project"
    return run


def test_settings_are_shown_with_their_origin(fsagent):
    assert "nothing is configured" in fsagent("config", "show").stdout
    fsagent.user.write_text("max_file_size: 1MB\ndenied_paths: [a]\n")
    shown = fsagent("config", "show", "--origin", env={"FSAGENT_READONLY": "1"}).stdout
    assert f"max_file_size: '1MB'    # {fsagent.user}" in shown
    assert f"denied_paths: ['a']    # {fsagent.user}" in shown
    assert "readonly: True    # FSAGENT_READONLY" in shown
    assert "#" not in fsagent("config", "show").stdout


def test_a_file_is_checked(fsagent):
    file = fsagent.project / "c.yaml"
    file.write_text("readonly: true\n")
    fine = fsagent("config", "check", "c.yaml")
    assert (fine.returncode, fine.stdout) == (0, "c.yaml: fine\n")
    file.write_text("readonl: true\n")
    wrong = fsagent("config", "check", "c.yaml")
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("c.yaml: readonl: there is no such key. There are: readonly")
    assert "_written" not in wrong.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("toolset: workspaces", "no toolset 'workspaces'"),
        ("line_ids: words", ""),
        ("_written: [[a]]", "no such key"),
        ("denied_paths: a", "denied_paths: should be a list (got 'a')"),
        ("allowed_actions: [reed]", "allowed_actions: there is no 'reed'"),
        ("toolset: deepagents\nallowed_actions: [ls, read_file]", ""),
        ("- a", "has to be a mapping"),
    ],
)
def test_a_check_finds_what_a_command_then_stumbles_over(here, capsys, text, told):
    (here / "c.yaml").write_text(text)
    used = main(["ls", "--config", "c.yaml"])
    capsys.readouterr()
    checked = main(["config", "check", "c.yaml"])
    assert (used == 0) is (checked == 0)
    if used:
        assert told in capsys.readouterr().err


def test_a_configured_policy_holds_for_commands(fsagent):
    fsagent.user.write_text("readonly: true\ntoolset: filesystem\n")
    refused = fsagent("mkdir", "d")
    assert refused.returncode == 1
    assert "read-only" in refused.stderr
    file = fsagent.project / "loose.yaml"
    file.write_text("readonly: false\n")
    assert fsagent("mkdir", "d", "--config", "loose.yaml").returncode == 0
    assert (fsagent.project / "d").is_dir()


def test_a_wrong_configuration_stops_every_command(fsagent):
    fsagent.user.write_text("readonl: true\n")
    stopped = fsagent("ls")
    assert stopped.returncode == 2
    assert f"{fsagent.user}: readonl: there is no such key" in stopped.stderr


def test_nobody_at_the_terminal_approves_nothing(fsagent):
    refused = fsagent("--approve", "write", "a.txt", "hello", stdin=subprocess.DEVNULL)
    assert refused.returncode == 1
    assert "+hello" in refused.stderr
    assert "nobody is at the terminal" in refused.stderr
    assert not (fsagent.project / "a.txt").exists()


@pytest.mark.parametrize(("answer", "written"), [("y\n", True), ("\n", False)])
def test_the_terminal_is_asked(answer, written, fsagent):
    master, slave = pty.openpty()
    os.write(master, b"y\n")  # before the question, which it does not answer
    words = ("write", "a.txt", "hello\x1b[2J", "--approve")
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with fsagent(*words, start=subprocess.Popen, stdin=slave, **pipes) as asking:
        shown = ""
        while not shown.endswith("why not: "):
            shown += asking.stderr.read(1)
            assert asking.poll() is None, shown
        os.write(master, answer.encode())
        code = asking.wait(60)
    os.close(slave)
    os.close(master)
    assert "Allow write a.txt? [y/N]" in shown
    assert "hello\\x1b[2J" in shown
    assert (fsagent.project / "a.txt").exists() is written
    assert code == (0 if written else 1)


def test_a_terminal_shows_the_last_line_of_a_command_that_runs(fsagent):
    master, slave = pty.openpty()
    command = (
        f"echo first; printf '\\033[2Jsecond {'x' * 600}\n'; until test -e seen; do sleep 0.1; done"
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": slave}
    with fsagent("bash", command, start=subprocess.Popen, **pipes) as running:
        os.close(slave)
        shown = ""
        while "xxx" not in shown:
            shown += os.read(master, 4096).decode()
        (fsagent.project / "seen").touch()
        assert running.wait(60) == 0
    os.close(master)
    assert "\x1b[2J" not in shown
    assert "bash … " in shown


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A project of its own as the current directory, and a home that configures nothing."""
    (tmp_path / "project/src").mkdir(parents=True)
    (tmp_path / "project/a.txt").write_text("alpha\nbeta\n")
    (tmp_path / "project/src/b.py").write_text("def beta():\n    return 1\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home/.config"))
    for name in [name for name in os.environ if name.startswith("FSAGENT_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


WORDS = {  # of one call of each action that needs some, by the action's name
    "read": ["a.txt"],
    "write": ["new.txt", "text"],
    "edit_lines": ["a.txt", "[]"],
    "edit": ["a.txt", "alpha", "ALPHA"],
    "insert": ["a.txt", "1", "first"],
    "glob": ["*.txt"],
    "grep": ["alpha"],
    "stat": ["a.txt"],
    "mkdir": ["made"],
    "mv": ["a.txt", "moved.txt"],
    "cp": ["a.txt", "copy.txt"],
    "rm": ["a.txt"],
    "bash": ["echo hi"],
    "webfetch": ["http://127.0.0.1:9/"],
    "websearch": ["words"],
    "diagnostics": ["a.txt"],
    "apply_patch": ["*** Begin Patch\n*** Delete File: a.txt\n*** End Patch"],
    "str_replace_based_edit_tool": ["view", "a.txt"],
    "rename": ["a.txt", "alpha", "beta"],
    "memory": ["create", "/memories/a.md", "--file-text", "text"],
}
REFUSED = (
    "edit_lines",
    "webfetch",
    "websearch",
    "rename",
)  # nothing there to answer them
TOOLS = [(name, entry) for name in TOOLSETS for entry in toolset(name).entries]


@pytest.mark.parametrize(
    ("name", "entry"), TOOLS, ids=lambda v: v if isinstance(v, str) else v.shown_name
)
def test_every_tool_of_every_toolset_runs(name, entry, here, capsys):
    words = WORDS.get(entry.shown_name if entry.commands else entry.action.name, ())
    code = main(["--toolset", name, entry.shown_name, *words])
    told = capsys.readouterr()
    assert code == (entry.action.name in REFUSED), told
    assert bool(told.err) is bool(code)
    assert told.out or code


@pytest.mark.parametrize(
    ("name", "entry"), TOOLS, ids=lambda v: v if isinstance(v, str) else v.shown_name
)
def test_every_parameter_is_a_word_or_an_option(name, entry, here, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--toolset", name, entry.shown_name, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for field in entry.visible if entry.commands else entry.action.params.model_fields:
        if field not in entry.pin:
            spelled = entry.spelling(field)
            assert spelled.upper() in shown or f"--{spelled.replace('_', '-')}" in shown


def test_the_habits_of_rg_fd_and_ls_hold(here, capsys):
    assert main(["grep", "beta", "a.txt", "src"]) == 0
    assert main(["grep", "BETA", "--no-case-sensitive", "-C", "1", "src"]) == 0
    assert main(["glob", "*.py", "src"]) == 0
    assert main(["ls", "src"]) == 0
    assert main(["read", "a.txt", "src/b.py", "--limit", "1"]) == 0
    told = capsys.readouterr().out
    assert "==> a.txt <==\na.txt\n2 " in told
    assert re.search("==> src/b.py <==\n[a-z]{3}\t", told)


def test_a_search_ends_with_the_exit_codes_of_rg(here, capsys):
    assert [main(["grep", "alpha"]), main(["grep", "gamma"]), main(["grep", "("])] == [0, 1, 2]
    (here / "none.txt").write_text("delta\n")
    assert main(["grep", "alpha", "a.txt", "none.txt"]) == 0
    assert main(["grep", "alpha", "a.txt", "absent"]) == 2
    assert main(["grep", "gamma", "a.txt", "none.txt"]) == 1


def test_what_is_not_found_is_no_output_for_a_pipe(here, capsys):
    for words in (["grep", "nowhere", "."], ["glob", "*.none"], ["ls", "--pattern", "*.none"]):
        main(words)
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("No")
        main([*words, "--json"])
        assert json.loads(capsys.readouterr().out)["count"] == 0


def test_a_command_ends_with_its_own_exit_code(here, capsys):
    ends = {"exit 3": 3, "true": 0, "kill -9 $$": 137}
    assert {words: main(["bash", words]) for words in ends} == ends
    assert main(["bash", "sleep 60", "--timeout", "1"]) == 124
    assert main(["bash", "true", "--working-dir", "missing"]) == 125
    assert main(["bash", "sleep 60", "--background"]) == 0
    assert "the job ends with this command" in capsys.readouterr().err
    assert main(["bash", "seq 30000"]) == 0
    assert "that file goes with this command" in capsys.readouterr().err
    assert main(["bash", "seq 30000", "--max-output", "1000000"]) == 0
    assert not capsys.readouterr().err


def test_behind_two_dashes_a_word_is_no_option(here, capsys):
    (here / "--json").write_text("beta\n")
    assert main(["read", "--marks", "none", "--", "--json"]) == 0
    assert main(["grep", "--", "beta", "--json"]) == 0
    assert main(["write", "--", "-", "-"]) == 0
    assert (here / "-").read_text() == "-"


def test_wrong_words_behind_two_dashes_are_told_as_they_were_typed(here, capsys):
    assert main(["bash", "--", "ls", "-la"]) == 2
    told = capsys.readouterr().err
    assert "unrecognized arguments: -la" in told


def test_every_parameter_is_explained_and_the_choices_are_named(here, capsys):
    for name in toolset("workspace").bind(Workspace(here)):
        with pytest.raises(SystemExit):
            main([name, "--help"])
        lines = capsys.readouterr().out.splitlines()
        last = [a for a, b in pairwise(lines) if a.startswith("  --") and b.startswith("  --")]
        assert not [line for line in last if len(line.split()) <= 2], name
    with pytest.raises(SystemExit):
        main(["read", "--help"])
    assert "--marks {ids,numbers,none}" in capsys.readouterr().out


def test_a_choice_is_taken_as_the_help_spells_it(here, capsys):
    assert main(["write", "new.txt", "x", "--atomic", "True"]) == 0
    assert main(["write", "new.txt", "y", "--atomic", "False"]) == 1
    assert "atomic: should be True" in capsys.readouterr().err


@pytest.mark.parametrize("root", ["absent", "a.txt"])
@pytest.mark.parametrize("words", [["ls"], ["log"], ["config", "show"], ["tools"]])
def test_a_root_that_is_no_directory_is_wrong_usage(words, root, here, capsys):
    assert main(["--root", root, *words]) == 2
    told = f"fsagent: --root: {root} is not a directory. Name the directory of the project.\n"
    assert capsys.readouterr().err == told


def test_an_undo_of_a_path_is_of_the_last_step_that_changed_it(here, capsys):
    main(["write", "new.txt", "x"])
    main(["write", "other.txt", "x"])
    assert main(["undo", "new.txt"]) == 0
    assert sorted(path.name for path in here.glob("*.txt")) == ["a.txt", "other.txt"]
    capsys.readouterr()
    assert main(["undo", "new.txt"]) == 1
    assert "no step that changed new.txt" in capsys.readouterr().err


def test_an_empty_root_is_not_the_project_above(here, capsys):
    assert main(["--root", "", "write", "new.txt", "x"]) == 2
    assert "--root is empty" in capsys.readouterr().err
    assert not (here / "new.txt").exists()


@pytest.mark.parametrize(
    "words", [["undo", "--steps", "0"], ["undo", "--steps=-1"], ["log", "-n0"]]
)
def test_a_count_below_one_is_wrong_usage(words, here, capsys):
    main(["write", "new.txt", "x"])
    assert main(words) == 2
    assert "is not a whole number from 1" in capsys.readouterr().err


@pytest.mark.full
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_reason_to_fail(fsagent, closed):
    (fsagent.project / "a.txt").write_text("alpha\n")
    for words, code in (("read a.txt", 0), ("read b.txt", 1), ("write c.txt -", 0)):
        command = f"{sys.executable} -m fsagent_tools.cli {words} {closed}"
        done = subprocess.run(["bash", "-c", command], cwd=fsagent.project, capture_output=True)
        assert (done.returncode, b"Traceback" in done.stderr) == (code, False), done.stderr


@pytest.mark.full
def test_output_that_cannot_be_written_is_told_in_one_line(fsagent):
    with open("/dev/full", "w") as full:
        done = fsagent("tools", stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 74
    assert done.stderr == "fsagent: the output could not be written: No space left on device\n"
    for words in (["--help"], ["read", "--help"], ["config", "--help"]):
        for unbuffered in ("", "1"):
            with open("/dev/full", "w") as full:
                env = {"PYTHONUNBUFFERED": unbuffered}
                done = fsagent(*words, env=env, stdout=full, stderr=subprocess.PIPE)
            assert (done.returncode, len(done.stderr.splitlines())) == (74, 1), words
    full_both = f"{sys.executable} -m fsagent_tools.cli {{}} >/dev/full 2>&1"
    for words in ("tools", "read absent", "nonsense"):
        assert subprocess.call(["bash", "-c", full_both.format(words)], cwd=fsagent.project) == 74


def test_below_the_root_paths_are_taken_from_where_one_stands(here, monkeypatch, capsys):
    (here / ".git").mkdir()
    monkeypatch.chdir(here / "src")
    assert main(["read", "b.py", "../a.txt"]) == 0
    assert main(["glob", "*"]) == 0
    assert main(["bash", "pwd"]) == 0
    told = capsys.readouterr()
    assert "==> src/b.py <==" in told.out
    assert "==> a.txt <==" in told.out
    assert f"\n{here / 'src'}\n" in told.out
    assert told.err == f"fsagent: the project is {here}\n" * 3
    assert not (here / "src/.ai").exists()


def test_the_project_file_wins_over_git_and_home_is_never_a_project(tmp_path, monkeypatch):
    (tmp_path / "home/outer/inner/deep").mkdir(parents=True)
    (tmp_path / "home/.git").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    deep = tmp_path / "home/outer/inner/deep"
    assert project_root(deep) is None
    (tmp_path / "home/outer/inner/.git").mkdir()
    assert project_root(deep) == tmp_path / "home/outer/inner"
    (tmp_path / "home/outer/.fsagent.yaml").touch()
    assert project_root(deep) == tmp_path / "home/outer"


def test_wrong_words_show_the_usage_of_their_command_and_are_told_as_json_too(here, capsys):
    assert main(["grep", "x", "--bogus"]) == 2
    told = capsys.readouterr().err
    assert "usage: fsagent grep PATTERN [PATH ...] [OPTION ...]" in told
    assert told.endswith("unrecognized arguments: --bogus; see `fsagent grep --help`\n")
    assert main(["grep", "--json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert answer["success"] is False
    assert "PATTERN" in answer["error"]
    assert main([]) == 2
    assert main(["reed"]) == 2
    assert main(["--toolset", "nope", "ls", "--json"]) == 2
    assert "nope" in json.loads(capsys.readouterr().out)["error"]


def test_words_after_two_dashes_are_no_options(here, capsys):
    assert main(["write", "note.txt", "--", "--json"]) == 0
    assert (here / "note.txt").read_text() == "--json"


def test_the_version_is_told(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"fsagent {version('fsagent-tools')}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_completion_script_is_printed(shell, here, capsys):
    pytest.importorskip("shtab", reason="needs shtab")
    assert main(["completion", shell]) == 0
    assert "--end-line" in capsys.readouterr().out


def test_a_closed_pipe_ends_quietly(fsagent):
    (fsagent.project / "long.txt").write_text("line\n" * 1500)
    command = f"{sys.executable} -m fsagent_tools.cli read long.txt | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=fsagent.project, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_an_ascii_terminal_gets_escapes(fsagent):
    (fsagent.project / "a.txt").write_text("caf\u00e9\n")
    done = fsagent("read", "a.txt", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert done.stdout.endswith("caf\\xe9\n")


INTERRUPTIBLE = """
import signal, sys
from fsagent_tools.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""


def test_ctrl_c_is_no_traceback(fsagent):
    """Also where these tests run in the background, and what they start ignores SIGINT."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "write", "a.txt", "-"],
        cwd=fsagent.project,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write("x" * 300_000)  # more than a pipe holds: it has begun to read
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "fsagent: interrupted\n"


def test_a_terminal_never_gets_the_control_characters_of_a_file(fsagent):
    (fsagent.project / "a.txt").write_text("\x1b]0;title\x07\x1b[2J\n")
    assert "\x1b[2J" in fsagent("read", "a.txt").stdout
    master, slave = pty.openpty()
    fsagent("read", "a.txt", stdout=slave, stderr=subprocess.DEVNULL, env={"NO_COLOR": "1"})
    os.close(slave)
    shown = os.read(master, 4096).decode()
    os.close(master)
    assert "\\x1b]0;title\\x07\\x1b[2J" in shown
    assert "\x1b" not in shown


def plain_read(root, before, after):
    """What a process prints behind its read of a file, with code before and after it."""
    (root / "a.py").write_text("x = 1\n")
    script = f"{before}\nfrom fsagent_tools.cli import main; main(['read', 'a.py'])\n{after}"
    bare = {name: value for name, value in os.environ.items() if not name.startswith("FSAGENT_")}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, env=bare, check=True)
    text, _, told = done.stdout.partition("\n")
    assert text.endswith("\tx = 1")
    return told


def test_a_plain_read_imports_no_other_action(root):
    """And no room that only other actions use; of documents and pictures, what names them alone."""
    script = (
        "own = 'actions.bash actions.grep actions.edit web lsp shell lint edits history search "
        "media.apart media.child media.image media.pdf'.split(); "
        "print(sorted({f'fsagent_tools.{name}' for name in own} & {*sys.modules}))"
    )
    assert plain_read(root, "import sys", script) == "[]\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("tools", 0),
        ("log", 0),
        ("diff", 0),
        ("diff absent", 1),
        ("undo", 1),
        ("checkpoint", 0),
        ("config show", 0),
        ("config show --origin", 0),
        ("config check c.yaml", 0),
        ("config check absent.yaml", 1),
        ("config", 2),
        ("index absent", 1),
    ],
)
def test_every_command_answers_in_json_where_that_is_asked_for(
    here, monkeypatch, capsys, words, code
):
    monkeypatch.setenv("FSAGENT_MAX_FILE_SIZE", "1MB")
    (here / "c.yaml").write_text("denied_paths: [a]\n")
    assert main([*words.split(), "--json"]) == code
    answer = json.loads(capsys.readouterr().out)
    if code:
        assert answer["success"] is False
        assert answer["error"]


def test_words_that_may_be_left_out_are_not_called_missing(here, capsys):
    assert main(["grep"]) == 2
    assert capsys.readouterr().err.endswith("arguments are required: PATTERN\n")


def test_a_directory_that_is_gone_is_told_in_one_line(here, monkeypatch, capsys):
    gone = here / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["ls"]) == 2
    told = "fsagent: The current directory is gone. Change to another, or name the project"
    assert capsys.readouterr().err.startswith(told)
    assert main(["--root", str(here), "read", "a.txt"]) == 0
    monkeypatch.chdir(here)


def test_standard_input_that_is_no_text_is_refused(fsagent):
    for errors in ("strict", "surrogateescape"):
        done = fsagent(
            *("write", "a.txt", "-"),
            input="caf\udce9",
            encoding="utf-8",
            errors="surrogateescape",
            env={"PYTHONIOENCODING": f"utf-8:{errors}"},
        )
        assert done.returncode == 2
        assert done.stderr == "fsagent: Standard input is not UTF-8 text. Convert it first.\n"
