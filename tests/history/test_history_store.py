"""The store: of several processes, of killed ones, and within its bounds."""

import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import time

import pytest

from fsagent_tools import Workspace, errors, identified, toolset
from fsagent_tools.history import retention
from tests.conftest import PATIENCE
from tests.history.conftest import tree

pytestmark = pytest.mark.full

WRITING = """
import sys
from fsagent_tools import Workspace, identified

root, name, count = sys.argv[1:]
workspace = Workspace(root)
with identified(session=name):
    for number in range(int(count)):
        workspace.write_bytes(name, b"%d" % number)
        workspace.run(f"ln -s {number} {name}-{number}")  # at once: a file is empty first
        print(number, flush=True)
"""


def start(root, name, count):
    words = [sys.executable, "-c", WRITING, root, name, str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def stores(state):
    return [*state.rglob(retention.NAME)]


def test_processes_that_make_the_store_at_once_lose_no_step(root):
    before = tree(root)
    running = [start(root, name, 5) for name in "abcd"]
    for one in running:
        one.communicate(timeout=PATIENCE)
    assert [one.returncode for one in running] == [0] * 4
    workspace = Workspace(root)
    steps = workspace.history.steps(everybody=True)
    paths = [change.path for step in steps for change in step.changes]
    names = [f"{name}-{number}" for name in "abcd" for number in range(5)]
    assert sorted(paths) == sorted([*names, *"abcd" * 5])
    workspace.history.undo(len(steps), everybody=True)
    assert tree(root) == before
    workspace.close()


@pytest.mark.parametrize("seed", range(4))
def test_a_process_that_is_killed_leaves_a_store_that_opens_and_a_way_back(root, seed):
    before = tree(root)
    with start(root, "a", 10_000) as running:
        for _ in range(random.Random(seed).randrange(2, 8)):
            running.stdout.readline()
        time.sleep(random.Random(seed).random() / 20)
        running.kill()
    (root / ".fsagent-tmp-dead").unlink(missing_ok=True)
    workspace = Workspace(root)
    with identified(session="a"):
        known = {change.path for step in workspace.history for change in step.changes}
        left = {path for path in tree(root) if path not in known}
        assert len(left) <= 1  # of the command that ran
        workspace.undo(100_000)
    assert {path: what for path, what in tree(root).items() if path not in left} == before
    workspace.close()


def test_an_undo_that_was_killed_half_way_is_completed_by_the_next(workspace, root):
    start = workspace.checkpoint()
    for name in "abc":
        workspace.write_bytes(name, b"1")
    (root / "b").unlink()  # as far as it came
    done = workspace.undo(to=start)
    assert (done.paths, done.left, tree(root)) == (("a", "c"), (), {})


def test_a_forked_child_has_a_connection_of_its_own(workspace, root):
    workspace.write_bytes("a", b"1")
    if not (child := os.fork()):
        try:
            workspace.write_bytes("b", b"1")
        finally:
            os._exit(len(workspace.history.steps(everybody=True)) != 2)
    assert os.waitpid(child, 0)[1] == 0
    workspace.write_bytes("a", b"2")
    workspace.undo(2)
    assert sorted(tree(root)) == ["b"]


def test_a_store_that_was_removed_is_begun_anew_and_the_log_says_so(workspace, root, state, caplog):
    workspace.write_bytes("a", b"1")
    shutil.rmtree(state)
    workspace.write_bytes("a", b"2")
    assert "is gone" in caplog.text
    workspace.undo()
    assert (root / "a").read_bytes() == b"1"
    with pytest.raises(errors.Missing):
        workspace.undo()


def test_only_this_user_reads_it_and_commands_do_not_see_it(workspace, root, state):
    workspace.write_bytes("a", b"1")
    (store,) = stores(state)
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.parent.stat().st_mode) == 0o700
    tool = toolset("workspace").bind(workspace)["bash"]
    assert not tool.call({"command": f"ls {store.parent} && rm -r {store.parent}"}).ok or (
        store.exists()
    )


def test_one_damaged_content_is_named_and_the_rest_is_restored(workspace, root, state):
    for name in "ab":
        (root / name).write_bytes(name.encode())
    start = workspace.checkpoint()
    for name in "ab":
        workspace.remove(name)
    workspace.history.close()
    (store,) = stores(state)
    with sqlite3.connect(store) as database:
        database.execute("UPDATE content SET data = x'00' WHERE rowid = 1")
    done = workspace.undo(to=start)
    assert [(one.path, one.reason) for one in done.left] == [
        ("a", "its old content is not kept any more")
    ]
    assert done.paths == ("b",)


def test_a_state_directory_that_cannot_be_written_stops_no_work(opens, root, monkeypatch, caplog):
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    workspace = opens()
    workspace.write_bytes("a", b"1")
    assert workspace.run("echo 1").output == "1\n"
    assert "No history is kept" in caplog.text


def test_a_store_that_cannot_be_written_refuses_the_change(workspace, root, state):
    workspace.write_bytes("a", b"1")
    (store,) = stores(state)
    with sqlite3.connect(store, isolation_level=None) as database:
        database.execute(
            "CREATE TRIGGER full BEFORE INSERT ON change BEGIN"
            " SELECT RAISE(ABORT, 'the disk is full'); END"
        )
        with pytest.raises(errors.WriteFailed, match="the history has no place"):
            workspace.write_bytes("a", b"2")
        database.execute("DROP TRIGGER full")
    assert (root / "a").read_bytes() == b"1"
    assert len(workspace.history.steps()) == 1


def test_a_directory_made_anew_at_an_old_path_has_a_history_of_its_own(opens, root):
    workspace = opens()
    workspace.write_bytes("a", b"1")
    workspace.close()
    shutil.rmtree(root)
    root.mkdir()
    (root / "a").write_bytes(b"1")
    from fsagent_tools.files.resolve import AT_CWD, birth_ns, is_overlay

    if is_overlay(str(root)) or not birth_ns(AT_CWD, str(root)):
        pytest.skip("this file system does not tell when a directory was made")
    assert opens().history.steps(everybody=True) == []
    assert (root / "a").exists()


def test_it_stays_within_its_bound_while_it_is_written(workspace, root, state, monkeypatch):
    monkeypatch.setattr(retention.shrink, "__defaults__", (1 << 20,))
    for number in range(40):
        workspace.write_bytes("a", random.Random(number).randbytes(200_000))
        if not number % 10:
            workspace.history.store.prune()
    monkeypatch.setattr(retention, "_GRACE", -1)
    workspace.history.store.prune()
    (store,) = stores(state)
    assert store.stat().st_size < 3 << 20
    workspace.undo()
    assert (root / "a").read_bytes() == random.Random(38).randbytes(200_000)


def test_roots_that_are_gone_go_first_and_what_is_unused_for_a_month(tmp_path, state, monkeypatch):
    folders = {}
    for name in ("gone", "old", "kept", "here"):
        (tmp_path / name).mkdir()
        workspace = Workspace(tmp_path / name)
        workspace.write_bytes("a", random.Random(1).randbytes(300_000))
        workspace.remove("a")
        workspace.close()
        (folders[name],) = {store.parent for store in stores(state)} - {*folders.values()}
    shutil.rmtree(tmp_path / "gone")
    for path in folders["old"].iterdir():
        os.utime(path, (1, time.time() - 31 * 86_400))
    monkeypatch.setattr(retention, "MAX_BYTES", 900_000)
    retention.prune(str(folders["here"]), at_once=True)
    assert {name for name, folder in folders.items() if folder.exists()} == {"kept", "here"}
