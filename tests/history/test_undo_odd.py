"""What is rare: further names, files that become directories, a torn journal, a lost place."""

import os
import shutil
import subprocess
import sys
import tempfile

import pytest

from fsagent_tools import errors
from fsagent_tools.files.open_file import birth_ns
from fsagent_tools.history import archive, prune
from fsagent_tools.history.restore import Restorer
from tests.history.conftest import full, tree


def kept(state):
    return [*state.glob("*/history/kept/*")]


def journal(state):
    (found,) = state.glob("*/history/*.journal")
    return found


def test_two_names_of_one_file_come_back_both(workspace, root):
    (root / "a").write_bytes(b"old")
    os.link(root / "a", root / "b")
    before = tree(root)
    workspace.remove("a")
    workspace.remove("b")
    workspace.undo(2)
    assert tree(root) == before


def test_a_move_over_another_name_of_the_same_file_is_taken_back(workspace, root):
    (root / "a").write_bytes(b"old")
    os.link(root / "a", root / "b")
    before = tree(root)
    workspace.files.move("a", "b", overwrite=True)
    assert [path.name for path in root.iterdir() if path.is_file()] == ["b"]
    workspace.undo()
    assert tree(root) == before


@pytest.mark.parametrize(
    "command",
    [
        "rm f; mkdir -p f/in; echo x > f/in/g",
        "rm -r d; echo file > d",
        "rm -r d f; echo file > d; mkdir f",
        "rm -r d f; ln -s d f; ln -s f d",
        "mv f g; mv d f; mv g d",
    ],
)
def test_files_and_directories_that_change_places_change_them_back(workspace, root, command):
    (root / "f").write_bytes(b"old")
    (root / "d" / "e").mkdir(parents=True)
    (root / "d" / "e" / "x").write_bytes(b"x")
    states = [tree(root)]
    for words in (
        command,
        "true",
        "rm -rf f d",
        "mkdir f; echo 1 > d",
        "rm -r f d; mkdir d; echo 2 > f",
    ):
        assert workspace.run(words).exit_code == 0
        if words != "true":
            states.append(tree(root))
    for state in states[-2::-1]:
        workspace.undo()
        assert tree(root) == state
    workspace.redo()
    assert tree(root) == states[1]


def test_a_directory_of_others_stands_in_the_way_of_a_file(workspace, root):
    (root / "f").write_bytes(b"old")
    workspace.write_bytes("b", b"b")
    workspace.run("rm f; mkdir f")
    (root / "f" / "theirs").write_bytes(b"theirs")
    before = tree(root)
    with pytest.raises(errors.Conflict, match="f: it holds files of others"):
        workspace.undo()
    assert tree(root) == before


def test_a_line_that_was_cut_off_takes_no_other_with_it(opens, root, state):
    first = opens()
    first.write_bytes("a", b"1")
    first.close()
    with journal(state).open("ab") as file:
        file.write(b'{"at": 12')
    second = opens()
    second.write_bytes("a", b"2")
    second.undo()
    assert (root / "a").read_bytes() == b"1"


def test_a_further_name_that_a_killed_process_left_is_dropped(opens, root, state, monkeypatch):
    """It died after the old file got its further name, and before the new one was there."""
    first = opens()
    (root / "a").write_bytes(b"1")
    for old in (b"0", b"1"):  # so that one is kept
        first.write_bytes("b", old)
    first.close()
    os.link(root / "a", journal(state).parent / "kept" / "1-1-1")

    def names_after_another_process(under_way):
        code = (
            "from fsagent_tools import Workspace; from fsagent_tools.history import prune; "
            f"prune.UNDER_WAY = {under_way}; w = Workspace('.'); "
            "[w.write_bytes('c', data) for data in (b'1', b'2')]"  # so that one is kept
        )
        subprocess.run([sys.executable, "-c", code], cwd=root, check=True)
        return os.stat(root / "a").st_nlink

    assert names_after_another_process(prune.UNDER_WAY) == 2  # a change that may go on
    monkeypatch.setattr(prune, "UNDER_WAY", -1.0)
    second = opens()
    second.write_bytes("b", b"2")
    assert os.stat(root / "a").st_nlink == 2  # a process looks once, however many sessions it has
    assert names_after_another_process(prune.UNDER_WAY) == 1
    second.undo()
    assert (root / "b").read_bytes() == b"1"


def test_an_undo_of_nothing_is_said_and_is_no_step(workspace, root):
    workspace.write_bytes("a", b"1")
    mark = workspace.checkpoint()
    for dry in (True, False):
        assert workspace.undo(to=mark, dry_run=dry).paths == ()
    assert [step.kind for step in workspace.history] == ["change", "checkpoint"]


def test_an_undo_of_some_paths_is_taken_back_by_a_redo(workspace, root):
    workspace.write_bytes("a", b"1")
    workspace.write_bytes("b", b"1")
    mark = workspace.checkpoint()
    workspace.write_bytes("a", b"2")
    workspace.write_bytes("b", b"2")
    workspace.undo(to=mark, paths=["a"])
    assert ((root / "a").read_bytes(), (root / "b").read_bytes()) == (b"1", b"2")
    workspace.redo()
    assert ((root / "a").read_bytes(), (root / "b").read_bytes()) == (b"2", b"2")
    workspace.undo()
    assert ((root / "a").read_bytes(), (root / "b").read_bytes()) == (b"2", b"1")
    workspace.undo()
    assert ((root / "a").read_bytes(), (root / "b").read_bytes()) == (b"1", b"1")


def test_a_state_directory_that_went_away_is_made_again(workspace, root, state, caplog):
    (root / "a").write_bytes(b"1")
    workspace.run("true")
    workspace.write_bytes("a", b"2")
    workspace.checkpoint()
    shutil.rmtree(state)
    workspace.write_bytes("a", b"3")
    assert "is gone" in caplog.text
    workspace.write_bytes("a", b"4")
    workspace.run("echo 5 > a")
    workspace.undo(3)
    assert (root / "a").read_bytes() == b"2"
    with pytest.raises(errors.Missing):
        workspace.undo()
    assert "what was kept before was removed" in [step.name for step in workspace.history]


def test_what_is_too_much_for_the_disk_leaves_a_whole_journal(workspace, root, state, monkeypatch):
    workspace.write_bytes("a", b"1")

    def fails(fd, data):
        os.write(fd, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(archive, "write_all", fails)
        with pytest.raises(errors.ToolError):
            workspace.write_bytes("a", b"2")
    workspace.write_bytes("a", b"3")
    assert journal(state).read_bytes().endswith(b"\n")
    workspace.undo()
    assert (root / "a").read_bytes() == b"1"


def test_what_somebody_changes_while_it_is_taken_back_is_a_conflict(workspace, root, monkeypatch):
    workspace.write_text("a", "one\n")
    workspace.write_text("a", "two\n")
    run = Restorer.run

    def late(self, plans):
        (root / "a").write_text("meanwhile\n")
        return run(self, plans)

    monkeypatch.setattr(Restorer, "run", late)
    with pytest.raises(errors.Conflict):
        workspace.undo()
    assert (root / "a").read_text() == "meanwhile\n"


def test_what_is_back_already_is_not_brought_back_again(workspace, root):
    mark = workspace.checkpoint()
    (root / "a").write_text("one\n")
    workspace.run("true")
    workspace.run("rm a")
    workspace.undo()
    inode = (root / "a").stat().st_ino
    assert workspace.undo(to=mark).paths == ()
    assert (root / "a").stat().st_ino == inode


def test_both_names_of_a_file_that_a_command_changed_come_back(workspace, root):
    (root / "a").write_text("one\n")
    os.link(root / "a", root / "b")
    before = tree(root)
    ran = workspace.run("echo two >> b")
    assert ran.lost == ()
    workspace.undo()
    assert tree(root) == before
    assert os.path.samefile(root / "a", root / "b")
    workspace.run("echo two > a; rm b")
    workspace.undo()
    assert tree(root) == before


def test_a_mode_of_a_directory_is_told_as_one(workspace, root):
    (root / "d").mkdir(mode=0o755)
    workspace.run("chmod 700 d; touch f")
    assert "mode 755 -> 700 d" in workspace.diff()
    assert "directory" not in workspace.diff()
    assert "mode 700 -> 755 d" in workspace.undo().diff


def test_a_name_with_line_ends_makes_no_lines_of_a_diff(workspace, root):
    name = "a\n+++ b\n+forged\n"
    workspace.write_bytes(name, b"1\n")
    workspace.run("ln -s $'x\\n+forged' l; touch z")
    workspace.move(name, name + "2")
    told = workspace.diff() + "\n".join(c.diff() for s in workspace.history for c in s.changes)
    assert "\n+forged" not in told
    assert "+++ b/a\\n+++ b\\n+forged\\n" in told


def test_what_has_no_room_is_named(workspace, root, monkeypatch, state):
    workspace.write_bytes("a", b"1")
    for work in (
        lambda: workspace.write_bytes("a", b"2"),
        lambda: workspace.remove("a"),
        lambda: workspace.move("a", "b"),
        lambda: workspace.checkpoint("here"),
        workspace.undo,
    ):
        with monkeypatch.context() as patched:
            patched.setattr(archive, "write_all", full)
            with pytest.raises(errors.WriteFailed, match="No space left") as caught:
                work()
        assert str(state) in str(caught.value) or "the history as well" in str(caught.value)
        assert (root / "a").read_bytes() == b"1"


def test_an_old_content_without_a_place_is_not_overwritten(workspace, root, monkeypatch, state):
    (root / "a").write_bytes(b"1" * 100)
    os.link(root / "a", root / "b")  # so that it is copied
    monkeypatch.setattr(archive, "write_all", full)
    with pytest.raises(errors.WriteFailed, match=f"a was not changed.* in {state}"):
        workspace.write_bytes("a", b"2")
    assert (root / "b").read_bytes() == b"1" * 100


def test_a_directory_made_anew_at_an_old_path_has_a_history_of_its_own(opens, root):
    if not birth_ns(-100, str(root)):
        pytest.skip("this file system does not tell when a directory was made")
    first = opens()
    first.write_bytes("a", b"1")
    mark = first.checkpoint()
    first.write_bytes("a", b"2")
    first.close()
    shutil.rmtree(root)
    root.mkdir()
    (root / "a").write_bytes(b"2")
    for workspace in (first, opens()):
        assert workspace.history.steps(everybody=True) == []
        with pytest.raises(errors.Missing):
            workspace.undo()
        with pytest.raises(errors.Missing):
            workspace.undo(to=mark)
        workspace.close()
    last = opens()
    last.write_bytes("a", b"3")
    last.undo()
    assert (root / "a").read_bytes() == b"2"


@pytest.fixture
def four_megabytes(monkeypatch):
    """The most that is kept of one root; it is looked at after each megabyte."""
    for name, size in (("MOST_OF_ONE", 4 << 20), ("LARGE", 1 << 20)):
        monkeypatch.setattr(archive, name, size)


@pytest.mark.parametrize("sessions", [1, 20])
def test_the_history_stays_within_its_bound_while_it_is_written(
    sessions, opens, root, state, four_megabytes
):
    (root / "a").write_bytes(os.urandom(1 << 18))
    for _ in range(sessions):
        workspace = opens()
        for _ in range(60 // sessions):
            workspace.write_bytes("a", os.urandom(1 << 18))
            files = (path.stat() for path in state.rglob("*") if path.is_file())
            assert sum(one.st_blocks * 512 for one in files) <= 5 << 20  # with the journals
        workspace.undo()
        workspace.close()


@pytest.mark.parametrize("given", [{"steps": "a"}, {"steps": None}, {"paths": "a"}])
def test_an_argument_of_another_kind_is_refused_by_name(workspace, given):
    workspace.write_bytes("a", b"1")
    (name,) = given
    for undo in (workspace.undo, workspace.history.undo):
        with pytest.raises(errors.InvalidArguments, match=f"^{name} is"):
            undo(**given)


@pytest.mark.parametrize("change", ["remove", "write", "move"])
def test_a_file_above_the_bound_is_lost_and_nothing_else(workspace, root, four_megabytes, change):
    workspace.write_bytes("a", b"1")
    workspace.write_bytes("a", b"2")
    (root / "big").write_bytes(b"x" * (5 << 20))
    if change == "remove":
        workspace.remove("big")
    elif change == "write":
        workspace.write_bytes("big", b"y")
    else:
        workspace.write_bytes("b", b"y")
        workspace.files.move("b", "big", overwrite=True)
    (*_, step) = workspace.history
    assert step.lost == ("big",)
    assert workspace.undo().lost == ("big",)
    assert not (root / "big").exists() or (root / "big").read_bytes() == b"y"
    if change == "move":
        assert (root / "b").read_bytes() == b"y"
        workspace.undo()
    workspace.undo()
    assert (root / "a").read_bytes() == b"1"


@pytest.mark.parametrize("sizes", [[5 << 20], [1 << 20] * 6])
def test_what_only_moves_comes_back_however_large_it_is(workspace, root, four_megabytes, sizes):
    (root / "d").mkdir()
    for number, size in enumerate(sizes):
        (root / "d" / f"{number}").write_bytes(os.urandom(size))
    before = tree(root)
    for move in (lambda: workspace.move("d", "moved"), lambda: workspace.run("mv d moved")):
        move()
        assert workspace.history.steps()[-1].lost == ()
        workspace.undo()
        assert tree(root) == before


def test_what_could_not_be_kept_stays(workspace, root, four_megabytes):
    workspace.write_bytes("a", b"1")
    workspace.write_bytes("d/big", b"x" * (5 << 20))
    undone = workspace.undo()
    assert (undone.lost, undone.left) == (("d/big",), ("d",))
    assert (root / "d" / "big").stat().st_size == 5 << 20
    workspace.undo()
    assert not (root / "a").exists()


def test_the_journal_that_is_written_is_never_too_much(workspace, state):
    workspace.write_bytes("a", b"1")
    workspace.write_bytes("a", b"2")
    prune.prune([str(journal(state).parent)], 0)
    assert kept(state) == []
    assert len(workspace.history.steps()) == 2


def test_what_could_not_be_removed_is_no_step(workspace, root):
    workspace.write_bytes("a", b"1")
    (root / "d").mkdir()
    for name in ("keep", "d/keep"):
        (root / name).write_bytes(b"old")
    held = [root / "keep", root / "d" / "keep"]
    if subprocess.run(["chattr", "+i", *held], capture_output=True, check=False).returncode:
        pytest.skip("chattr +i does not work here")
    try:
        for name in ("keep", "d"):
            with pytest.raises(errors.Denied):
                workspace.remove(name, recursive=True)
    finally:
        subprocess.run(["chattr", "-i", *held], check=True)
    (step,) = workspace.history
    assert [change.path for change in step.changes] == ["a"]
    workspace.undo()
    assert not (root / "a").exists()


AS_NOBODY = """
import os, sys
from fsagent_tools import Workspace
def change(root):
    workspace = Workspace(root)
    workspace.write_bytes("a", b"new")
    said = open(f"{root}/a").read()
    workspace.undo()
    return said, open(f"{root}/a").read()
change(sys.argv[1])  # so that all is imported that nobody may read
os.environ["XDG_STATE_HOME"] = sys.argv[3]
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
print(*change(sys.argv[2]))
"""


def test_an_old_content_is_kept_where_no_rename_may_replace_it(root):
    """In a sticky directory of somebody else the file itself is written."""
    if os.getuid():
        pytest.skip("only root makes a directory of somebody else")
    (root / "a").write_bytes(b"old")
    with tempfile.TemporaryDirectory() as sticky, tempfile.TemporaryDirectory() as state:
        os.chmod(state, 0o777)
        os.chmod(sticky, 0o1777)
        with open(f"{sticky}/a", "wb") as file:
            file.write(b"old")
            os.fchmod(file.fileno(), 0o666)
        for path in (f"{sticky}/a", sticky):
            os.chown(path, 1, 1)
        inode = os.stat(f"{sticky}/a").st_ino
        command = [sys.executable, "-c", AS_NOBODY, root, sticky, state]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout.split() == ["new", "old"], done.stderr
        assert os.stat(f"{sticky}/a").st_ino == inode
