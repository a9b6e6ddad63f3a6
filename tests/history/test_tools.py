"""Undo, redo and checkpoints of what tools changed: exact, and careful about others."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fsagent_tools import MemoryFiles, Policy, Workspace, errors, identified, toolset
from tests.history.conftest import tree

LINES = b"".join(b"line %d\n" % number for number in range(1, 21))


def test_undo_restores_the_file_and_redo_the_change(workspace, root):
    (root / "a.py").write_bytes(LINES)
    before = tree(root)
    workspace.edit_text("a.py", "line 3\n", "LINE 3\n")
    changed = tree(root)
    done = workspace.undo()
    assert done.paths == ("a.py",)
    assert "-LINE 3\n+line 3" in done.diff
    assert tree(root) == before
    assert workspace.redo().paths == ("a.py",)
    assert tree(root) == changed


def test_a_checkpoint_is_first_looked_for_among_ones_own(workspace, root):
    others = Workspace(root)
    workspace.checkpoint("start")
    workspace.write_bytes("a", b"1")
    others.checkpoint("start")
    others.write_bytes("b", b"2")
    assert workspace.undo(to="start").paths == ("a",)
    assert (root / "b").read_bytes() == b"2"
    others.close()


def test_steps_are_undone_together_or_one_by_one(workspace, root):
    states = [tree(root)]
    for number in range(4):
        workspace.write_bytes("a", b"%d" % number)
        states.append(tree(root))
    workspace.undo()
    assert tree(root) == states[3]
    workspace.undo(2)
    assert tree(root) == states[1]
    for state in states[3:]:
        workspace.redo()
        assert tree(root) == state
    with pytest.raises(errors.Missing):
        workspace.redo()
    workspace.undo(100)
    assert tree(root) == states[0]
    with pytest.raises(errors.Missing):
        workspace.undo()


def test_a_change_after_an_undo_ends_what_can_be_redone(workspace):
    workspace.write_bytes("a", b"1")
    workspace.undo()
    workspace.write_bytes("b", b"2")
    with pytest.raises(errors.Missing):
        workspace.redo()


@pytest.mark.parametrize("by", ["name", "id"])
def test_a_checkpoint_is_restored_whatever_was_undone_since(workspace, root, by):
    workspace.write_bytes("a", b"one")
    workspace.write_bytes("b", b"b")
    mark = workspace.checkpoint("first")
    at = "first" if by == "name" else mark
    then = tree(root)
    workspace.undo()
    workspace.remove("a")
    workspace.write_bytes("c", b"c")
    workspace.run("echo d > d; rm -f b")
    assert "+c" in workspace.diff(at)
    workspace.undo(to=at)
    assert tree(root) == then
    assert workspace.diff(at) == ""
    assert workspace.undo(to=at).steps == workspace.undo(to=at, dry_run=True).steps
    workspace.undo()  # b, which is in effect again
    assert sorted(tree(root)) == ["a"]


def test_the_newest_checkpoint_of_a_name_counts_and_an_unknown_one_is_refused(workspace, root):
    for data in (b"1", b"2"):
        workspace.write_bytes("a", data)
        workspace.checkpoint("here")
    workspace.write_bytes("a", b"3")
    workspace.undo(to="here")
    assert (root / "a").read_bytes() == b"2"
    with pytest.raises(errors.Missing, match="The newest are"):
        workspace.undo(to="there")


@pytest.mark.parametrize("data", [b"", bytes(range(256)) * 9, b"x" * (11 << 20), b"a\r\nb"])
def test_empty_binary_and_large_files_are_restored(workspace, root, data):
    (root / "a").write_bytes(data)
    (root / "a").chmod(0o640)
    before = tree(root)
    workspace.write_bytes("a", b"other")
    workspace.remove("a")
    workspace.undo(2)
    assert tree(root) == before


def test_trees_links_modes_and_odd_names_are_restored(workspace, root):
    (root / "d" / "empty").mkdir(parents=True)
    (root / "d" / "run").write_bytes(b"#!")
    (root / "d" / "run").chmod(0o4750)
    (root / "d" / "link").symlink_to("run")
    Path(os.fsdecode(os.fsencode(root) + b"/d/odd\xff")).write_bytes(b"odd")
    (root / "d").chmod(0o711)
    before = tree(root)
    for change in (
        lambda: workspace.remove("d", recursive=True),
        lambda: workspace.move("d", "e"),
        lambda: workspace.copy("d", "f"),
        lambda: workspace.files.make_directory("g/h"),
    ):
        change()
        assert tree(root) != before
        workspace.undo()
        assert tree(root) == before


def test_steps_on_one_path_after_a_move_are_undone_in_turn(workspace, root):
    (root / "a").write_bytes(b"a")
    (root / "b").write_bytes(b"b")
    before = tree(root)
    workspace.move("a", "c")
    workspace.move("b", "a")
    workspace.write_bytes("a", b"more")
    workspace.move("c", "a", overwrite=True)
    workspace.undo(4)
    assert tree(root) == before


@pytest.mark.parametrize("theirs", ["changed", "removed", "mode", "replaced by a directory"])
def test_what_others_changed_since_is_named_and_left_and_the_rest_is_restored(
    workspace, root, theirs
):
    (root / "a").write_bytes(b"old a")
    (root / "b").write_bytes(b"old b")
    start = workspace.checkpoint()
    workspace.write_bytes("a", b"new a")
    workspace.write_bytes("b", b"new b")
    if theirs == "changed":
        (root / "a").write_bytes(b"theirs")
    elif theirs == "mode":
        (root / "a").chmod(0o600)
    else:
        (root / "a").unlink()
        _ = theirs == "removed" or (root / "a").mkdir()
    then = tree(root)["a"] if theirs != "removed" else None
    planned = workspace.undo(to=start, dry_run=True)
    done = workspace.undo(to=start)
    assert (done.paths, [one.path for one in done.left]) == (("b",), ["a"])
    assert planned.left == done.left
    assert "since" in done.left[0].reason
    assert tree(root).get("a") == then
    assert (root / "b").read_bytes() == b"old b"


def test_what_another_session_changed_in_between_is_not_taken_away(opens, root):
    ours, other = opens(), opens()
    for workspace, data in ((ours, b"1"), (other, b"2"), (ours, b"3")):
        workspace.write_bytes("a", data)
    ours.undo()
    assert (root / "a").read_bytes() == b"2"
    with pytest.raises(errors.Conflict, match="a: somebody"):
        ours.undo()
    assert (root / "a").read_bytes() == b"2"


def test_a_refusal_shows_what_undo_would_have_changed(workspace, root):
    workspace.write_bytes("a", b"ours\n")
    (root / "a").write_bytes(b"theirs\n" * 100)
    with pytest.raises(errors.Conflict) as refused:
        workspace.undo()
    assert "Nothing was undone" in refused.value.message
    assert "-theirs" in refused.value.message
    assert len(refused.value.message) < 3000
    assert refused.value.details["conflicts"][0]["path"] == "a"


def test_a_file_that_became_a_link_to_elsewhere_is_not_written_through(workspace, root, tmp_path):
    (tmp_path / "theirs").write_bytes(b"theirs")
    workspace.write_bytes("a", b"1")
    workspace.write_bytes("a", b"2")
    (root / "a").unlink()
    (root / "a").symlink_to(tmp_path / "theirs")
    with pytest.raises(errors.Conflict):
        workspace.undo()
    assert (tmp_path / "theirs").read_bytes() == b"theirs"


def test_a_directory_with_files_of_others_stays_and_is_named(workspace, root):
    workspace.write_bytes("d/a", b"1", create_dirs=True)
    (root / "d" / "theirs").write_bytes(b"theirs")
    done = workspace.undo()
    assert done.paths == ("d/a",)
    assert [(one.path, one.reason) for one in done.left] == [
        ("d", "it holds files that undo does not remove")
    ]
    assert (root / "d" / "theirs").read_bytes() == b"theirs"


def test_paths_undo_the_last_step_that_touched_them(workspace, root):
    workspace.write_bytes("a.txt", b"1")
    workspace.write_bytes("d/b.txt", b"1", create_dirs=True)
    workspace.write_bytes("c.txt", b"1")
    assert workspace.undo(paths=["a.txt"]).paths == ("a.txt",)
    assert sorted(tree(root)) == ["c.txt", "d", "d/b.txt"]
    workspace.undo(paths=[str(root / "d")])
    assert sorted(tree(root)) == ["c.txt"]
    workspace.redo()
    assert sorted(tree(root)) == ["c.txt", "d", "d/b.txt"]
    with pytest.raises(errors.Missing, match=r"no step that changed nope\.txt"):
        workspace.undo(paths=["nope.txt"])
    with pytest.raises(errors.OutsideWorkspace):
        workspace.undo(paths=["../x"])


@pytest.mark.parametrize("given", [{"steps": "1"}, {"paths": "a"}, {"paths": [1]}])
def test_an_argument_of_another_kind_is_refused_by_name(workspace, given):
    with pytest.raises(errors.InvalidArguments, match=next(iter(given))):
        workspace.undo(**given)


def test_a_dry_run_changes_nothing_and_tells_all(workspace, root):
    workspace.write_bytes("a", b"1\n")
    before = tree(root)
    planned = workspace.undo(dry_run=True)
    assert tree(root) == before
    assert len(workspace.history.steps()) == 1
    done = workspace.undo()
    assert (planned.steps, planned.paths, planned.diff) == (done.steps, done.paths, done.diff)


def test_what_was_put_right_by_hand_is_no_conflict(workspace, root):
    (root / "a").write_bytes(b"old")
    (root / "b").write_bytes(b"old")
    start = workspace.checkpoint()
    workspace.write_bytes("a", b"new")
    workspace.write_bytes("b", b"new")
    (root / "a").write_bytes(b"old")
    done = workspace.undo(to=start)
    assert (done.paths, done.left) == (("b",), ())


def test_the_policy_binds_an_undo_and_hides_old_contents(opens, root):
    workspace = opens()
    workspace.write_bytes("secret/a", b"hidden\n", create_dirs=True)
    workspace.write_bytes("b", b"1\n")
    session = {"session": "s"}
    closed = opens(policy=Policy(denied_paths=("secret",)))
    assert "hidden" not in closed.diff(everybody=True)
    with identified(**session):
        done = closed.history.undo(2, everybody=True)
    assert done.paths == ("b",)
    assert {one.path for one in done.left} == {"secret", "secret/a"}
    assert (root / "secret" / "a").exists()


def test_a_session_undoes_its_own_steps_only(opens, root):
    ours, other = opens(), opens()
    ours.write_bytes("a", b"1")
    other.write_bytes("b", b"1")
    ours.undo()
    assert sorted(tree(root)) == ["b"]
    with pytest.raises(errors.Missing):
        ours.undo()
    assert len(ours.history.steps(everybody=True)) == 3


def test_a_named_session_goes_on_in_another_workspace_and_its_user_is_known(opens, root):
    with identified(session="7", user="ada", call="c1"):
        toolset("filesystem").bind(opens())["write"].call({"path": "a", "content": "1"})
    again = opens()
    with identified(session="7"):
        (step,) = again.history
        assert (step.tool, step.session, step.user, step.call) == ("write", "7", "ada", "c1")
        again.undo()
    assert tree(root) == {}


def test_the_history_tells_steps_with_their_diffs(workspace, root):
    workspace.write_bytes("a", b"1\n")
    workspace.move("a", "b")
    workspace.write_bytes("b", bytes(range(256)))
    workspace.remove("b")
    steps = workspace.history.steps()
    told = [[(one.verb, one.path, one.went_to) for one in step.changes] for step in steps]
    assert told == [
        [("created", "a", "")],
        [("moved", "a", "b")],
        [("changed", "b", "")],
        [("removed", "b", "")],
    ]
    assert steps[0].diff() == "new file a\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+1"
    assert steps[1].diff() == "moved a -> b"
    assert steps[2].diff() == "Binary file b (2 -> 256 bytes)"


def test_what_was_refused_is_no_step(workspace, root):
    (root / "a").write_bytes(b"1")
    (root / "a").chmod(0o444)
    with pytest.raises(errors.ToolError):
        workspace.write_bytes("a", b"2")
    with pytest.raises(errors.ToolError):
        workspace.move("nowhere", "b")
    assert workspace.history.steps() == []


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


def test_a_mode_that_closes_a_file_comes_back(workspace, root):
    (root / "key").write_bytes(b"secret")
    (root / "key").chmod(0o600)
    workspace.remove("key")
    workspace.undo()
    assert stat.S_IMODE((root / "key").stat().st_mode) == 0o600


def test_without_a_history_the_refusal_says_so(root):
    for workspace, error in (
        (Workspace(root, history=False), errors.NotConfigured),
        (Workspace(root, policy=Policy(readonly=True)), errors.ReadOnly),
        (Workspace(files=MemoryFiles({})), errors.Denied),
    ):
        with pytest.raises(error):
            workspace.undo()


def test_files_below_a_further_root_are_restored(opens, root, tmp_path):
    further = tmp_path / "further"
    (further / "d").mkdir(parents=True)
    (further / "d" / "a").write_bytes(b"old")
    workspace = opens(policy=Policy(allowed_paths=("**", f"{further}/**")))
    before = tree(further)
    workspace.write_bytes(f"{further}/d/a", b"new")
    workspace.move(f"{further}/d", "moved")
    workspace.undo(2)
    assert tree(further) == before
    assert tree(root) == {}


AS_OTHER = """
import os, sys
from fsagent_tools import Workspace
def change(root):
    workspace = Workspace(root)
    workspace.write_bytes("a", b"new")
    workspace.remove("d", recursive=True)
    after = workspace.history.commands.before()
    os.system(f"cd {root} && chmod 600 a && rm -r e && echo new > n")
    assert after() == ()
    print(workspace.undo(3).left)
change(sys.argv[1])  # so that all is imported that others may not read
os.environ["XDG_STATE_HOME"] = sys.argv[3]
os.setgroups([]); os.setgid(65534); os.setuid(65534)
change(sys.argv[2])
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_restores_files(tmp_path):
    with tempfile.TemporaryDirectory() as open_to_all:
        Path(open_to_all).chmod(0o711)
        roots = [Path(open_to_all, name) for name in ("first", "second")]
        state = Path(open_to_all, "state")
        for root in (*roots, state):
            for name in ("d", "e"):
                (root / name).mkdir(parents=True)
                (root / name / "b").write_bytes(b"b")
            (root / "a").write_bytes(b"old")
        for path in (roots[1], state, *roots[1].rglob("*")):
            os.chown(path, 65534, 65534)
        before = tree(roots[1])
        words = [sys.executable, "-c", AS_OTHER, *roots, state]
        done = subprocess.run(words, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "()\n()\n"), done.stderr
        assert tree(roots[1]) == before


def test_what_rm_takes_that_no_undo_restores_is_named(workspace, root):
    (root / "pkg" / "node_modules" / "p").mkdir(parents=True)
    (root / "pkg" / "a.js").write_text("1")
    rm = toolset("filesystem").bind(workspace)["rm"]
    told = rm.call({"path": "pkg", "recursive": True}).text
    assert told == "Deleted pkg\n[not covered by undo: pkg/node_modules]"
    assert workspace.undo().paths == ("pkg", "pkg/a.js")
    assert (root / "pkg" / "a.js").read_text() == "1"
    assert rm.call({"path": "pkg", "recursive": True}).text == "Deleted pkg"
