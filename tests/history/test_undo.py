"""Undo, redo and checkpoints: exact where nobody came between, careful where somebody did."""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing
from itertools import takewhile
from pathlib import Path

import pytest

from fsagent_tools import MemoryFiles, Policy, Workspace, errors, identified, toolset
from tests.conftest import PATIENCE, no_new_descriptor
from tests.history.conftest import tree

LINES = b"".join(b"line %d\n" % number for number in range(1, 21))


def test_an_undo_gives_back_the_file_and_a_redo_the_change(workspace, root):
    (root / "a.py").write_bytes(LINES)
    before = tree(root)
    workspace.edit_text("a.py", "line 3\n", "LINE 3\n")
    changed = tree(root)
    done = workspace.undo()
    assert done.paths == ("a.py",)
    assert "-LINE 3\n+line 3" in done.diff
    assert tree(root) == before
    workspace.redo()
    assert tree(root) == changed


def test_several_steps_are_taken_back_at_once_and_one_after_the_other(workspace, root):
    states = [tree(root)]
    for number in range(4):
        workspace.write_bytes("a", b"%d" % number)
        states.append(tree(root))
    workspace.undo()
    assert tree(root) == states[3]
    workspace.undo(2)
    assert tree(root) == states[1]
    workspace.redo()
    assert tree(root) == states[3]
    workspace.redo()
    assert tree(root) == states[4]
    with pytest.raises(errors.Missing):
        workspace.redo()
    workspace.undo(100)
    assert tree(root) == states[0]
    with pytest.raises(errors.Missing):
        workspace.undo()


def test_a_checkpoint_comes_back_whatever_was_undone_since(workspace, root):
    workspace.write_bytes("a", b"one")
    workspace.write_bytes("b", b"b")
    first, at_first = workspace.checkpoint("first"), tree(root)
    workspace.undo()
    workspace.remove("a")
    workspace.write_bytes("c/d/e", b"new")
    second, at_second = workspace.checkpoint(), tree(root)
    workspace.undo(to=first)
    assert tree(root) == at_first
    workspace.undo(to=second)
    assert tree(root) == at_second
    assert [step.name for step in workspace.history if step.kind == "checkpoint"] == ["first", ""]


@pytest.mark.parametrize("data", [b"", b"\0\1\2" * 1000, b"x" * 300_000])
def test_empty_binary_and_large_files_come_back(workspace, root, data):
    (root / "f").write_bytes(data)
    (root / "f").chmod(0o751)
    before = tree(root)
    workspace.write_bytes("f", b"other")
    workspace.remove("f")
    workspace.undo(2)
    assert tree(root) == before


def test_trees_links_and_directories_come_back(workspace, root):
    (root / "d" / "empty").mkdir(parents=True)
    (root / "d" / "f").write_bytes(b"f")
    (root / "d" / "run").write_bytes(b"#!")
    (root / "d" / "run").chmod(0o755)
    (root / "d" / "link").symlink_to("f")
    (root / "d").chmod(0o700)
    before = tree(root)
    workspace.remove("d", recursive=True)
    assert tree(root) == {}
    workspace.undo()
    assert tree(root) == before
    workspace.move("d", "e")
    workspace.copy("e", "g")
    workspace.move("e/f", "g/f", overwrite=True)
    workspace.remove("g", recursive=True)
    workspace.undo(4)
    assert tree(root) == before
    workspace.redo()
    assert {*tree(root)} == {"e", "e/empty", "e/link", "e/run"}


def test_files_that_changed_places_change_them_back(workspace, root):
    (root / "a").write_bytes(b"A")
    (root / "b").write_bytes(b"B")
    before = tree(root)
    for source, goal in (("a", "t"), ("b", "a"), ("t", "b")):
        workspace.move(source, goal)
    assert (root / "a").read_bytes() == b"B"
    workspace.undo(3)
    assert tree(root) == before


def test_other_names_of_a_file_follow_its_undo(workspace, root):
    (root / "a").write_bytes(b"old")
    os.link(root / "a", root / "b")
    workspace.write_bytes("a", b"new and longer")
    assert (root / "b").read_bytes() == b"new and longer"
    workspace.undo()
    assert (root / "b").read_bytes() == b"old"
    assert os.path.samefile(root / "a", root / "b")
    workspace.remove("a")
    (root / "b").write_bytes(b"changed by others")
    workspace.undo()
    assert (root / "a").read_bytes() == b"old"


@pytest.mark.parametrize("theirs", [b"line 15\n", b"LINE 3\n"])
def test_what_others_changed_since_is_left_and_named_with_both_versions(workspace, root, theirs):
    (root / "a").write_bytes(LINES)
    (root / "b").write_bytes(b"b")
    workspace.edit_text("a", "line 3\n", "LINE 3\n")
    workspace.write_bytes("b", b"B")
    (root / "a").write_bytes((root / "a").read_bytes().replace(theirs, b"THEIRS\n"))
    before = tree(root)
    with pytest.raises(errors.Conflict) as caught:
        workspace.undo(2)
    assert "-THEIRS" in str(caught.value)
    assert "+line 3" in str(caught.value)
    assert tree(root) == before
    assert [one.path for one in workspace.undo(2, dry_run=True).conflicts] == ["a"]
    workspace.undo(2, paths=["b"])
    assert (root / "b").read_bytes() == b"b"


def test_a_refusal_shows_so_much_of_each_diff_and_says_where_the_rest_is(workspace, root):
    lines = [f"line {n} of a text\n" for n in range(400)]
    for name in "abcdefgh":
        (root / name).write_text("".join(lines))
        workspace.write_bytes(name, b"ours\n")
        (root / name).write_text("".join(line.upper() for line in lines))
    with pytest.raises(errors.Conflict) as caught:
        workspace.undo(8)
    told = str(caught.value)
    assert len(told) < 8_000
    assert "h: somebody changed" in told  # each is named, also where there is no room for its diff
    whole = caught.value.details["conflicts"][0]["diff"].split("\n")
    assert len(whole) > 800
    at = told.split("\n").index(whole[0])
    shown = [*takewhile(lambda line: line[0] != "(", told.split("\n")[at:])]
    assert shown == whole[: len(shown)]
    assert f"({len(whole) - len(shown):,} more lines; `conflicts` has all)" in told


def test_a_line_without_end_does_not_fill_a_refusal(workspace, root):
    (root / "a").write_text("x" * 100_000)
    workspace.write_bytes("a", b"ours")
    (root / "a").write_text("y" * 100_000)
    with pytest.raises(errors.Conflict) as caught:
        workspace.undo()
    assert len(str(caught.value)) < 4_000


def test_what_the_session_did_not_change_is_not_touched(workspace, root):
    (root / "theirs").write_bytes(b"1")
    workspace.write_bytes("mine/f", b"x")

    def stamps():  # but not the time of the last read
        status = os.lstat(root / "theirs")
        return status.st_ino, status.st_mode, status.st_mtime_ns, status.st_ctime_ns

    mark = stamps()
    (root / "mine" / "theirs").write_bytes(b"2")
    done = workspace.undo()
    assert done.left == ("mine",)
    assert {*tree(root)} == {"theirs", "mine", "mine/theirs"}
    assert stamps() == mark


def test_what_failed_was_no_step(workspace, root):
    (root / "d").mkdir()
    workspace.write_bytes("a", b"1")
    workspace.write_bytes("b", b"2")
    with pytest.raises(errors.ToolError):
        workspace.copy("d", "b", overwrite=True)
    workspace.undo()
    assert {*tree(root)} == {"d", "a"}


def test_what_somebody_made_since_is_not_overwritten(workspace, root):
    (root / "a").write_bytes(b"mine")
    workspace.remove("a")
    (root / "a").write_bytes(b"theirs")
    with pytest.raises(errors.Conflict, match="there is another one now"):
        workspace.undo()
    workspace.write_bytes("b", b"made")
    (root / "b").write_bytes(b"changed")
    with pytest.raises(errors.Conflict, match="somebody changed it since"):
        workspace.undo()
    assert (root / "a").read_bytes() == b"theirs"
    assert (root / "b").read_bytes() == b"changed"


def test_a_file_that_became_a_link_to_elsewhere_is_refused(workspace, root, tmp_path):
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "d").mkdir()
    (root / "d" / "f").write_bytes(b"1")
    workspace.write_bytes("d/f", b"2")
    (root / "d").rename(root / "was")
    (root / "d").symlink_to(tmp_path)
    (tmp_path / "f").write_bytes(b"2")
    with pytest.raises(errors.ToolError):
        workspace.undo()
    assert (tmp_path / "f").read_bytes() == b"2"


def test_the_policy_binds_an_undo_and_closes_old_contents(opens, root):
    (root / "a").write_bytes(b"password")
    first = opens()
    first.write_bytes("a", b"other")
    closed = opens(policy=Policy(denied_paths=["a"]))
    assert not any(step.changes for step in closed.history.steps(everybody=True))
    with pytest.raises(errors.ToolError) as caught:
        closed.history.undo(everybody=True)
    assert "password" not in str(caught.value)
    assert (root / "a").read_bytes() == b"other"


def test_a_session_takes_back_its_own_steps_only(opens, root):
    mine, theirs = opens(), opens()
    mine.write_bytes("a", b"mine")
    theirs.write_bytes("b", b"theirs")
    mine.undo()
    assert {*tree(root)} == {"b"}
    with pytest.raises(errors.Missing):
        mine.undo()


def test_a_named_session_goes_on_in_another_workspace(opens, root):
    first, second = opens(), opens()
    with identified(session="thread"):
        first.write_bytes("a", b"1")
        before, mark = tree(root), first.checkpoint()
        first.write_bytes("a", b"2")
        first.close()
        second.write_bytes("b", b"3")
        second.undo(to=mark)
    assert tree(root) == before


def test_a_call_is_one_step_with_its_tool_and_call(workspace, root):
    tools = toolset("filesystem").bind(workspace)
    with identified(call="call-1"):
        assert tools["write"].call({"path": "x/y/z", "content": "1", "create_dirs": True}).ok
    (step,) = workspace.history
    assert (step.tool, step.call) == ("write", "call-1")
    assert [change.path for change in step.changes] == ["x", "x/y", "x/y/z"]
    workspace.undo()
    assert not list(root.iterdir())


def test_line_ids_after_an_undo_are_those_of_before(workspace, root):
    (root / "a").write_bytes(LINES)
    tools = toolset("workspace").bind(workspace)
    shown = tools["read"].call({"file_path": "a"}).text
    lines = shown.split("\n")
    changes = [{"start_line_id": lines[2], "end_line_id": lines[4], "new_content": "other"}]
    assert tools["edit_lines"].call({"file_path": "a", "changes": changes}).ok
    edited = tools["read"].call({"file_path": "a"}).text
    workspace.undo()
    assert tools["read"].call({"file_path": "a"}).text == shown
    workspace.redo()
    assert tools["read"].call({"file_path": "a"}).text == edited


def test_an_id_shown_since_then_stays_with_a_line_that_an_undo_leaves_alone(workspace, root):
    (root / "a").write_bytes(LINES)
    tools = toolset("workspace").bind(workspace)
    first = tools["read"].call({"file_path": "a", "limit": 2}).text.split("\n")
    edit = tools["edit_lines"].call
    changes = [{"line_id": first[0], "new_content": "other"}]
    assert edit({"file_path": "a", "changes": changes}).ok
    refused = edit({"file_path": "a", "changes": [{"line_id": "abcdef", "new_content": "x"}]})
    shown = [row for row in refused.text.split("\n") if row.startswith("[LID:")]
    assert len(shown) > 2
    workspace.undo()
    now = tools["read"].call({"file_path": "a"}).text.split("\n")
    assert now[:2] == first[:2]
    assert shown[1:] == now[1 : len(shown)]


def test_a_step_taken_back_twice_leaves_the_ids_that_lines_had_before_it(workspace, root):
    (root / "a").write_bytes(LINES)
    tools = toolset("workspace").bind(workspace)
    for count in (2, 4, 6):  # more is shown before each change
        shown = tools["read"].call({"file_path": "a", "limit": count}).text.split("\n")[:count]
        changes = [{"line_id": shown[-1], "new_content": f"other {count}"}]
        assert tools["edit_lines"].call({"file_path": "a", "changes": changes}).ok
        workspace.undo()
        now = tools["read"].call({"file_path": "a", "limit": count}).text.split("\n")[:count]
        assert now == shown


def test_the_history_tells_steps_with_their_diffs(workspace, root):
    workspace.write_bytes("a", b"one\ntwo\n")
    mark = workspace.checkpoint("begin")
    workspace.edit_text("a", "two", "2")
    workspace.move("a", "b")
    workspace.undo()
    steps = [*workspace.history]
    assert [step.kind for step in steps] == ["change", "checkpoint", "change", "change", "undo"]
    assert [step.undone for step in steps] == [False, False, False, True, False]
    assert "-two\n+2" in steps[2].diff()
    assert steps[3].diff() == "moved a -> b"
    assert "-two\n+2" in workspace.diff(mark)
    assert "+++ b/a" in workspace.diff()


def test_without_a_history_there_is_a_clear_refusal(root):
    for workspace in (
        Workspace(root, history=False),
        Workspace(root, policy=Policy(readonly=True)),
        Workspace(files=MemoryFiles({"a": "1"})),
    ):
        with pytest.raises((errors.NotConfigured, errors.Denied)):
            workspace.undo()


def test_a_state_directory_that_cannot_be_written_stops_no_work(
    root, monkeypatch, tmp_path, caplog
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "state"))
    workspace = Workspace(root)
    workspace.write_bytes("a", b"1")
    assert "No history is kept" in caplog.text


def test_workspaces_that_write_keep_nothing_open(tmp_path):
    opened = []
    with no_new_descriptor():
        for number in range(30):
            (tmp_path / f"w{number}").mkdir()
            (tmp_path / f"w{number}" / "a").write_bytes(b"1")
            opened.append(Workspace(tmp_path / f"w{number}"))
        for _ in range(2):
            for workspace in opened:
                workspace.write_bytes("a", b"2")
                workspace.files.close()
    for workspace in opened:
        workspace.undo(2)
        assert workspace.read_bytes("a").data == b"1"
        workspace.close()


WRITING = """
import sys
from fsagent_tools import Workspace

workspace = Workspace(sys.argv[1])
for number in range(200):
    workspace.write_bytes(sys.argv[2], b"%d" % number)
"""


def test_processes_that_write_at_once_tell_of_all_that_they_did(workspace, root):
    command = [sys.executable, "-c", WRITING, root]
    running = [subprocess.Popen([*command, name]) for name in "ab"]
    assert [one.wait(PATIENCE) for one in running] == [0, 0]
    steps = workspace.history.steps(everybody=True)
    assert Counter(change.path for step in steps for change in step.changes) == {"a": 200, "b": 200}
    workspace.history.undo(400, everybody=True)
    assert tree(root) == {}


FORKING = """
import os, sys
from fsagent_tools import Workspace

workspace = Workspace(sys.argv[1])
workspace.write_bytes("a", b"1")
if not os.fork():
    workspace.write_bytes("d", b"2")
    Workspace(sys.argv[1]).write_bytes("b", b"3")
    os._exit(0)
os.wait()
workspace.write_bytes("c", b"4")
workspace.undo(2)
"""


def test_a_forked_child_has_steps_of_its_own(root):
    subprocess.run([sys.executable, "-c", FORKING, root], check=True, timeout=PATIENCE)
    assert {*tree(root)} == {"b", "d"}


def test_commands_do_not_see_what_is_kept(workspace, root, state):
    (root / "a").write_bytes(b"password")
    workspace.write_bytes("a", b"other")
    ran = workspace.run(f"ls -R {state}; cat {state}/*/history/kept/*; touch {state}/x")
    if not ran.sandbox.startswith("bubblewrap"):
        pytest.skip(f"needs bubblewrap: {ran.sandbox}")
    assert "password" not in ran.both
    assert "journal" not in ran.both
    assert not (state / "x").exists()


def test_a_state_directory_on_another_file_system_holds_copies(root, monkeypatch):
    if not os.access("/dev/shm", os.W_OK) or os.stat("/dev/shm").st_dev == os.stat(root).st_dev:
        pytest.skip("needs a second file system")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        monkeypatch.setenv("XDG_STATE_HOME", other)
        workspace = Workspace(root)
        (root / "d").mkdir()
        (root / "d" / "f").write_bytes(b"old")
        (root / "d" / "f").chmod(0o640)
        before = tree(root)
        workspace.write_bytes("d/f", b"new")
        workspace.move("d/f", "g")
        workspace.write_bytes("g", b"newer")
        workspace.remove("d", recursive=True)
        after = tree(root)
        workspace.undo(4)
        assert tree(root) == before
        workspace.redo()
        assert tree(root) == after
        workspace.undo(4)
        workspace.write_bytes("d/f", b"again")
        for kept in Path(other).glob("fsagent/*/history/kept/*"):
            if kept.read_bytes() == b"old":
                kept.write_bytes(b"bad")
        with pytest.raises(errors.Conflict, match="not kept any more"):
            workspace.undo()
        workspace.close()


def test_paths_are_meant_however_they_are_written(workspace, root):
    ways = ("d/a", "./d//a", "d/../d/a", str(root / "d" / "a"), "d/", str(root), ".")
    for way in ways:
        workspace.write_bytes("d/a", b"1", create_dirs=True)
        assert "d/a" in workspace.undo(paths=[way]).paths, way
    workspace.write_bytes("d/a", b"1", create_dirs=True)
    for way in ("../d/a", "/d/a", str(root) + "d/a", "d/../../d"):
        with pytest.raises(errors.OutsideWorkspace):
            workspace.undo(paths=[way])
    assert (root / "d" / "a").exists()


def test_an_absolute_path_through_a_link_to_the_root_is_meant(root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    with closing(Workspace(tmp_path / "link")) as workspace:
        for top in (tmp_path / "link", root):
            workspace.write_bytes("a", b"1")
            assert workspace.undo(paths=[str(top / "a")]).paths == ("a",)
