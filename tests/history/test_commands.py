"""What commands change comes back: from git's objects, from copies, or is named as lost."""

import errno
import os
import subprocess
import time

import pytest

from fsagent_tools import errors, toolset
from fsagent_tools.history import archive, copying, known
from fsagent_tools.history import look as watched
from tests.conftest import eventually
from tests.history.conftest import full, too_large, tree


def git(root, *words):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words],
        cwd=root,
        check=True,
        capture_output=True,
    )


def old(path, seconds=100):
    """As if nobody had touched it for a while: stamps of this moment are not trusted."""
    stamp = os.lstat(path).st_mtime - seconds
    os.utime(path, (stamp, stamp), follow_symlinks=False)


@pytest.fixture
def project(root):
    (root / "src").mkdir()
    for name in ("a.py", "src/b.py", "src/c.py"):
        (root / name).write_text(f"# {name}\n" * 50)
        old(root / name)
    (root / "src" / "run").write_text("#!/bin/sh\n")
    (root / "src" / "run").chmod(0o755)
    (root / ".gitignore").write_text("*.log\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    newest = max(path.stat().st_ctime_ns for path in root.rglob("*"))
    assert eventually(lambda: time.time_ns() - newest > 2 * watched.GRAIN)
    return root


def files(root):
    return {path: what for path, what in tree(root).items() if not path.startswith(".git/")}


def test_a_command_is_taken_back_as_a_whole(workspace, project):
    (project / "notes").write_text("untracked\n")
    (project / "bytes").write_bytes(b"\0\1\2" * 100)
    (project / "link").symlink_to("notes")
    before = files(project)
    ran = workspace.run(
        "echo x >> a.py; rm -r src; mkdir new; echo n > new/n; mv notes notes2; chmod 600 bytes;"
        " rm link; ln -s a.py link2; echo b > bytes; touch .gitignore"
    )
    assert ran.exit_code == 0, ran.both
    assert ran.lost == ()
    after = files(project)
    assert after != before
    workspace.undo()
    assert files(project) == before
    workspace.redo()
    assert files(project) == after
    workspace.undo()
    assert files(project) == before


def test_packed_blobs_with_deltas_come_back(workspace, project):
    lines = [f"line {n}\n" for n in range(2000)]
    for number in range(5):
        lines[number * 300] = f"changed {number}\n"
        (project / "big.py").write_text("".join(lines))
        git(project, "add", "-A")
        git(project, "commit", "-qm", f"{number}")
    git(project, "gc", "-q")
    assert not [*project.glob(".git/objects/??")]
    before = files(project)
    workspace.run("rm big.py a.py; git commit -qam gone 2>/dev/null")
    workspace.undo()
    assert files(project) == before


def test_a_blob_that_is_gone_is_refused_by_name(workspace, project):
    workspace.run("true")
    workspace.run("rm a.py")
    for path in project.glob(".git/objects/??/*"):
        path.unlink()
    with pytest.raises(Exception, match=r"a\.py: its old content is not kept any more"):
        workspace.undo()


def test_a_filtered_or_converted_file_is_kept_as_it_is(workspace, project):
    (project / ".gitattributes").write_text("*.txt text\n")
    (project / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "dos")
    before = files(project)
    workspace.run("rm dos.txt")
    workspace.undo()
    assert files(project) == before


def test_what_others_did_between_commands_stays(workspace, project):
    (project / "notes").write_text("one\n")
    workspace.run("echo mine > mine")
    (project / "notes").write_text("two\n")
    (project / "theirs").write_text("theirs\n")
    (project / "src" / "c.py").unlink()
    workspace.run("echo more >> notes")
    workspace.undo()
    assert (project / "notes").read_text() == "two\n"
    workspace.undo()
    assert not (project / "mine").exists()
    assert (project / "theirs").exists()
    assert not (project / "src" / "c.py").exists()


def test_tools_and_commands_are_taken_back_in_turn(workspace, project):
    states = [files(project)]
    workspace.edit_text("a.py", "# a.py\n", "one\n", occurrences="first")
    states.append(files(project))
    workspace.run("sed -i s/one/two/ a.py")
    states.append(files(project))
    workspace.move("a.py", "b.py")
    states.append(files(project))
    workspace.run("rm b.py")
    for state in reversed(states):
        workspace.undo()
        assert files(project) == state
        states.pop()
        if not states:
            break


def test_what_is_outside_the_budget_is_named(workspace, root):
    too_large(root / "big")
    (root / "small").write_bytes(b"x")
    tools = toolset("workspace").bind(workspace)
    told = tools["bash"].call({"command": "echo y > big; echo y > small"}).text
    assert "[not covered by undo: big]" in told
    workspace.undo()
    assert (root / "small").read_bytes() == b"x"
    assert (root / "big").read_bytes() == b"y\n"


def test_ignored_files_and_gits_own_are_left_alone(workspace, project):
    workspace.run(
        "echo x > out.log; git checkout -q -b other; mkdir -p node_modules; echo > node_modules/m"
    )
    assert [step.changes for step in workspace.history] == []


def test_a_background_job_is_taken_back_too(workspace, root):
    (root / "a").write_text("1")
    before = tree(root)
    tools = toolset("workspace").bind(workspace)
    tools["bash"].call({"command": "echo 2 > a; echo b > b", "background": True})
    (job,) = workspace.services.jobs.all()
    assert tools["jobs"].call({"job": job.name, "action": "wait"}).ok
    workspace.undo()
    assert tree(root) == before


def test_a_copy_that_failed_is_none(workspace, root, monkeypatch):
    (root / "a").write_bytes(b"whole")

    def fails(source, target, size):
        os.write(target, b"who")
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(copying, "fill", fails)
    ran = workspace.run("echo x > a")
    assert ran.lost == ("a",)
    assert (root / "a").read_bytes() == b"x\n"


def test_a_copy_that_a_killed_process_left_unfinished_is_made_again(opens, root, state):
    (root / "a").write_bytes(b"whole")
    old(root / "a")
    first = opens()
    first.run("true")
    (copy,) = state.glob("*/history/known/*")
    first.close()
    copy.write_bytes(b"wh")
    second = opens()
    second.run("echo x > a")
    second.undo()
    assert (root / "a").read_bytes() == b"whole"


@pytest.mark.parametrize("command", ["rm -r a; mv b a", "mv a t; mv b a; mv t b"])
def test_a_directory_that_takes_the_place_of_another_of_the_same_age(workspace, root, command):
    for name in "ab":  # mostly within one tick of the clock
        (root / name / "s").mkdir(parents=True)
        (root / name / "s" / "f").write_text(name)
    before = files(root)
    workspace.run("true")
    workspace.run(command)
    workspace.undo()
    assert files(root) == before


@pytest.mark.parametrize("made", ["echo more > made", "cp a.py made"])
def test_what_a_command_made_goes_also_when_another_only_touched_it(workspace, project, made):
    before, mark = files(project), workspace.checkpoint()
    workspace.run(made)
    workspace.run("touch made; cp made other; mv other made; touch -d 2020-01-01 a.py")
    assert len(workspace.history.steps()) == 2  # the checkpoint and the first command
    assert workspace.undo(to=mark).paths == ("made",)
    assert files(project) == before


@pytest.mark.parametrize("background", [False, True])
def test_a_command_for_which_the_history_has_no_room_is_answered(
    workspace, project, background, monkeypatch
):
    workspace.run("true")
    (project / "a.py").write_text("before")
    with monkeypatch.context() as patched:
        patched.setattr(archive, "write_all", full)
        tools = toolset("workspace").bind(workspace)
        script = "echo said; echo x > a.py; rm src/b.py"
        told = [tools["bash"].call({"command": script, "background": background})]
        if background:
            told.append(tools["jobs"].call({"job": "1", "action": "wait"}))
    assert all(answer.ok for answer in told)
    text = "".join(answer.text for answer in told)
    assert "said" in text
    assert "[not covered by undo: a.py, src/b.py]" in text
    (project / "a.py").write_text("x")
    workspace.run("rm a.py")
    workspace.undo()
    assert (project / "a.py").read_text() == "x"


@pytest.mark.parametrize("background", [False, True])
def test_a_command_before_which_nothing_can_be_copied_is_answered(
    workspace, project, background, monkeypatch
):
    monkeypatch.setattr(known.KnownCopies, "__init__", full)
    (project / "new").write_text("no other copy")
    tools = toolset("workspace").bind(workspace)
    for _ in range(2):
        assert tools["bash"].call({"command": "echo x >> new", "background": background}).ok
    for job in workspace.services.jobs.all():
        assert tools["jobs"].call({"job": job.name, "action": "wait"}).data["running"] is False
    workspace.close()


def test_what_was_not_recorded_while_a_job_ran_is_told_later(workspace, project, monkeypatch):
    workspace.run("true")
    tools = toolset("workspace").bind(workspace)
    script = "echo x > a.py; touch done; until [ -e go ]; do sleep 0.05; done"
    tools["bash"].call({"command": script, "background": True})
    assert eventually((project / "done").exists)
    with monkeypatch.context() as patched:
        patched.setattr(archive, "write_all", full)
        assert "a.py" in workspace.run("true").lost
    (project / "go").touch()


def test_an_undo_without_room_for_old_contents_is_refused_and_runs_later(
    workspace, project, monkeypatch
):
    before = files(project)
    workspace.run("rm a.py; echo x >> src/b.py")
    with monkeypatch.context() as patched:
        patched.setattr(archive, "write_all", full)
        with pytest.raises(errors.WriteFailed, match="No space left"):
            workspace.undo()
    workspace.undo()
    assert files(project) == before
