"""Files that the policy closes to commands, at any depth."""

import os
import shutil
import subprocess
import tempfile
from functools import partial

import pytest

from fsagent_tools import Policy, Workspace, toolset
from fsagent_tools.errors import PathDenied
from fsagent_tools.policy import Limits, ProcessPolicy
from fsagent_tools.process.closed import Survey
from fsagent_tools.sandbox import landlock
from tests.conftest import PATIENCE

GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
BWRAP = pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
ENGINES = ["auto", pytest.param("bwrap", marks=BWRAP)]
DENIED = (".env", "secrets/**", "*.{pem,key}")
FILES = ("a.txt", ".env", "sub/deep/.env", "secrets/one", "secrets/inner/two", "keys/x.pem")


@pytest.fixture(autouse=True)
def _no_records_of_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "none"))


@pytest.fixture
def project(root):
    """A repository, with another in it, and files that nobody may read."""
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"TOPSECRET of {name}\n" if name != "a.txt" else "open\n")
    for place in (root, root / "vendor/lib"):
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run([*GIT, "init", "-q", place], check=True)
        subprocess.run([*GIT, "-C", place, "commit", "-qm", "1", "--allow-empty"], check=True)
    return root


@pytest.fixture
def bash(root):
    opened = []

    def open_shell(engine="auto", **policy):
        process = ProcessPolicy(engine=engine)
        workspace = Workspace(root, policy=Policy(process=process, **policy))
        opened.append(workspace)
        tool = toolset("workspace").bind(workspace)["bash"]

        def run(command, **hidden):
            out = tool.call({"command": command, "timeout": PATIENCE}, **hidden)
            if engine == "auto" and not out.data["sandbox"].startswith("namespaces"):
                pytest.skip("this system allows no namespaces")
            return out

        return run

    yield open_shell
    for workspace in opened:
        workspace.close()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sandbox", ["workspace-write", "read-only"])
def test_what_is_denied_cannot_be_read_by_a_command(project, bash, sandbox, engine):
    sh = bash(engine, denied_paths=DENIED)
    for attack in (
        "cat .env sub/deep/.env secrets/one secrets/*/two keys/x.pem",
        "grep -r TOPSECRET .",
        "find . -type f -exec cat {} +",
        "cat secrets/*; ls secrets; cp -r secrets copy; cat copy/*",
        "ln .env hard; cat hard; ln -s .env soft; cat soft; mv .env open.txt; cat open.txt",
        "mv secrets open; cat open/one; mv sub sub2; cat sub2/deep/.env",
        "chmod 777 secrets .env; chown 0 secrets; cat secrets/one .env",
        "umount .env; umount -l secrets; cat .env secrets/one",
        "python3 -c \"import os; print(os.listdir('secrets'))\"",
        "cat /proc/$PPID/root$PWD/.env /proc/1/root$PWD/.env",
    ):
        out = sh(attack, sandbox=sandbox)
        assert "TOPSECRET" not in out.text, attack
        assert "inner" not in out.text, attack
    assert sh("cat a.txt", sandbox=sandbox).text == "open"
    assert {name for name in FILES if (project / name).is_file()} == {*FILES}


def test_a_denied_file_that_was_made_anew_between_two_commands_is_hidden_again(project, bash):
    sh = bash(denied_paths=DENIED)
    sh("true")
    for _ in range(3):
        (project / ".env").unlink()
        (project / ".env").write_text("TOPSECRET")  # often with the inode of the last one
        assert "TOPSECRET" not in sh("cat .env; cat sub/deep/.env").text


def test_a_denied_place_outside_is_closed_to_commands_too(tmp_path, root, bash):
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "id").write_text("TOPSECRET")
    assert "TOPSECRET" in bash()(f"cat {keys}/id").text
    assert "TOPSECRET" not in bash(denied_paths=[f"{keys}/**"])(f"cat {keys}/id").text


def test_a_state_directory_is_closed_to_commands_though_they_may_write_around_it(tmp_path, root):
    (state := tmp_path / "state").mkdir()
    policy = Policy(process=ProcessPolicy(writable=(str(tmp_path),)))
    workspace = Workspace(root, policy=policy, state=state)
    workspace.write_text("a.txt", "TOPSECRET\n")
    workspace.write_text("a.txt", "two\n")
    kept = {path: path.stat().st_mtime_ns for path in state.rglob("*")}
    sh = toolset("workspace").bind(workspace)["bash"]
    attack = (
        f"cd ..; touch around; grep -r TOPSECRET state; ls -R state; touch state/x; rm -r {state}"
    )
    out = sh.call({"command": attack, "timeout": PATIENCE})
    if not out.data["sandbox"].startswith("namespaces"):
        pytest.skip("this system allows no namespaces")
    workspace.close()
    assert (tmp_path / "around").exists()
    assert "TOPSECRET" not in out.text
    assert "history" not in out.text
    assert not (state / "x").exists()
    assert kept.keys() <= {*state.rglob("*")}


def test_a_denied_place_is_not_hidden_when_commands_work_in_it(tmp_path, root):
    (tmp_path / "apart").mkdir()
    places = [tempfile.gettempdir(), str(tmp_path), str(root), f"{tmp_path}/apart"]
    denied = Policy(denied_paths=[f"{place}/**" for place in places])
    assert Survey(str(root), denied).look().hidden == (f"{tmp_path}/apart",)


def test_a_denied_name_that_a_command_makes_is_told_and_closed_to_the_next(project, bash):
    sh = bash(denied_paths=DENIED)
    out = sh("mkdir -p a/b; echo TOPSECRET > a/.env; touch fine")
    assert out.data["made"] == ("a/.env",)
    assert "[closed from now on: a/.env]" in out.text
    assert "TOPSECRET" not in sh("cat a/.env").text


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_host_forbids_to_write_is_read_only(project, bash, engine):
    sh = bash(engine, write_denied=["keys/**"])
    for attack in ("echo x > keys/x.pem", "rm keys/x.pem", "mv keys keys2", "touch keys/new"):
        assert sh(attack).data["exit_code"], attack
    assert os.listdir(project / "keys") == ["x.pem"]


def test_without_protection_a_command_may_change_everything_inside(project, bash):
    sh = bash(write_denied=())
    out = sh(
        "git -C vendor/lib config core.pager less && echo x > vendor/lib/.git/hooks/post-merge"
    )
    assert (out.data["exit_code"], out.data["made"]) == (0, ())


def test_a_survey_sees_every_change_and_reads_only_what_changed(project, monkeypatch):
    survey = Survey(str(project), Policy(denied_paths=DENIED))
    first = survey.look()
    assert {os.path.relpath(path, project) for path in first.hidden} == {
        ".env",
        "keys/x.pem",
        "secrets",
        "sub/deep/.env",
    }
    assert f"{project}/sub" in first.pinned
    assert first.repositories == (f"{project}/.git",)
    steps = (
        lambda: (project / "sub/deep/.env").unlink(),
        lambda: (project / "sub/deep/other.key").touch(),
        lambda: (project / "sub").rename(project / "sub2"),
        lambda: (project / "sub2/deep/other.key").rename(project / "sub2/deep/name"),
        lambda: (project / "new/.idea").mkdir(parents=True),
        lambda: [(project / "bare" / name).mkdir(parents=True) for name in ("objects", "refs")],
    )
    for step in steps:
        before = os.stat(project / "sub").st_mtime_ns if (project / "sub").exists() else None
        step()
        if before and (project / "sub/deep").exists():
            os.utime(project / "sub/deep", ns=(before, before))  # a command may set it back
        fresh = Survey(str(project), Policy(denied_paths=DENIED)).look()
        assert survey.look() == fresh != first
        first = fresh


def test_a_survey_does_not_read_what_stayed_as_it_was(project, monkeypatch):
    monkeypatch.setattr("fsagent_tools.process.closed.SETTLED", 0)
    survey = Survey(str(project), Policy())
    survey.look()
    read, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: read.append(path) or scandir(path))
    (project / "sub/x").touch()
    survey.look()
    assert [path for path in read if ".git" not in path] == [f"{project}/sub"]


def test_where_it_cannot_be_closed_a_policy_that_requires_it_runs_nothing(project, lacking):
    if not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    lacking("namespaces")
    process = ProcessPolicy(require_sandbox=True, limits=Limits())
    workspace = Workspace(project, policy=Policy(process=process, denied_paths=DENIED))
    out = toolset("workspace").bind(workspace)["bash"].call({"command": "true"})
    workspace.close()
    assert (out.code, "denied_paths" in out.text) == ("COMMAND_FAILED", True)


def test_our_own_records_beneath_the_root_are_closed_to_every_tool(root, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(root / "deep/state"))
    code = root / "deep/state/fsagent/far/code.py"
    code.parent.mkdir(parents=True)
    code.write_text("TOPSECRET\n")
    (root / "deep/state/other.txt").write_text("open TOPSECRET\n")
    workspace = Workspace(root)
    tools, path = toolset("workspace").bind(workspace), str(code.relative_to(root))
    for name, given in (
        ("read", {"file_path": path}),
        ("write", {"file_path": path, "content": "x\n"}),
        ("write", {"file_path": "deep/state/fsagent/new.py", "content": "x\n"}),
        ("write", {"file_path": f"{root}/deep/state/fsagent/new.py", "content": "x\n"}),
        ("ls", {"path": "deep/state/fsagent"}),
    ):
        out = tools[name].call(given)
        assert out.code == "PATH_DENIED", (name, given, out.text)
        assert "TOPSECRET" not in out.text
    assert "code.py" not in tools["glob"].call({"pattern": "**/*.py"}).text
    found = tools["grep"].call({"pattern": "TOPSECRET"}).text
    assert "other.txt" in found
    assert "code.py" not in found
    for verb, *words in (
        (workspace.read_text, path),
        (workspace.move, "deep", "moved"),
        (workspace.copy, "deep", "copied"),
        (partial(workspace.remove, recursive=True), "deep"),
    ):
        with pytest.raises(PathDenied, match="own records"):
            verb(*words)
    out = tools["bash"].call({"command": "mv deep moved; cat */state/fsagent/far/code.py"})
    assert code.read_text() == "TOPSECRET\n" or not out.data["sandbox"].startswith("namespaces")
    workspace.close()
