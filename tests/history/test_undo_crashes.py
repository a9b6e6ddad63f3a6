"""kill -9 at system calls of a change and of an undo: old or new, and the way back stays open."""

import os
import shutil
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from fsagent_tools import Workspace, errors, identified
from fsagent_tools.history.states import kept_name
from tests.conftest import Traced, needs_strace
from tests.history.conftest import tree

OLD, NEW = b"old\n" * 1000, b"new\n" * 1000
CALLS = "openat,openat2,write,fchmod,renameat,renameat2,rename,unlinkat,mkdirat,linkat,link,"
CALLS += "utimensat,close,newfstatat,flock,rmdir,unlink,chmod,fchmodat"
# The fault is armed by writing READY, so that only the operation itself is hit.
PROGRAM = """
import os, sys
from fsagent_tools import Workspace, identified
root, what = sys.argv[1:]
workspace = Workspace(root)
with identified(session="s"):
    workspace.write_bytes("warm", b"1")
    workspace.undo()
    if what == "undo":
        workspace.write_bytes("f", b"new\\n" * 1000)
        workspace.remove("d", recursive=True)
        workspace.write_bytes("made", b"x")
    run = {"write": lambda: workspace.write_bytes("f", b"new\\n" * 1000),
           "remove": lambda: workspace.remove("d", recursive=True),
           "move": lambda: workspace.move("f", "d/1", True),
           "undo": lambda: workspace.undo(3)}[what]
    os.write(1, b"READY\\n")
    run()
print("OK")
"""
TRACED = Traced(PROGRAM, CALLS)


def build(root):
    for folder in (root, os.environ["XDG_STATE_HOME"]):
        shutil.rmtree(folder, ignore_errors=True)
    (root / "d" / "e").mkdir(parents=True)
    (root / "f").write_bytes(OLD)
    for name in ("1", "e/2"):
        (root / "d" / name).write_bytes(OLD)
    return tree(root)


@pytest.fixture(autouse=True)
def _compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "compiled"))


def steps(root, what, tmp_path):
    build(root)
    compiled = [sys.executable, "-c", PROGRAM, root, what]  # not while calls are counted
    subprocess.run(compiled, check=True, capture_output=True, timeout=600)
    build(root)
    return TRACED.steps((root, what), tmp_path / "log", '"OK')


def kill_at(root, what, at):
    """After the kill, all that the session did is taken back: what was there at first is there."""
    before = build(root)
    TRACED.killed((root, what), at)
    for path, there in tree(root).items():
        whole = there[0] != "file" or there[-1] in (OLD, NEW, b"x", b"1")
        assert whole or path.startswith(".fsagent"), (path, at)
    workspace = Workspace(root)
    with identified(session="s"), suppress(errors.Missing):  # killed before it was noted
        workspace.undo(100, paths=["f", "d", "made", "warm"])
    after = tree(root)
    workspace.close()
    assert {p: w for p, w in after.items() if not p.startswith(".fsagent")} == before, at


@pytest.mark.parametrize("named", [False, True])
def test_a_name_that_a_killed_process_gave_does_not_have_a_file_written_in_place(tmp_path, named):
    root = tmp_path / "ws"
    root.mkdir()
    file = root / "f"
    with identified(session="s"), closing(Workspace(root)) as workspace:
        workspace.write_bytes("f", OLD)
        workspace.write_bytes("f", NEW)
    (kept,) = Path(os.environ["XDG_STATE_HOME"]).rglob("kept")
    status = file.stat()
    identity = (status.st_ino, status.st_mtime_ns, status.st_size)
    os.link(file, kept / kept_name(identity))  # and then it was killed, before the rename
    if named:
        os.link(file, root / "other")
    was = file.stat().st_ino
    with identified(session="s"), closing(Workspace(root)) as workspace:
        workspace.write_bytes("f", OLD)
        assert (file.stat().st_ino == was) == named
        assert file.stat().st_nlink == 1 + named
        workspace.undo()
        assert file.read_bytes() == NEW
        workspace.undo(2)
    assert not file.exists()


@pytest.mark.parametrize("change", ["remove", "move"])
def test_a_name_that_a_killed_process_gave_does_not_keep_a_file_out_of_transactions(
    tmp_path, change
):
    root = tmp_path / "ws"
    root.mkdir()
    file = root / "f"
    with closing(Workspace(root)) as workspace:
        workspace.write_bytes("f", OLD)
        kept = Path(workspace.history.archive.folder, "kept")
        status = file.stat()
        os.link(file, kept / kept_name((status.st_ino, status.st_mtime_ns, status.st_size)))
        with workspace.transaction():
            workspace.remove("f") if change == "remove" else workspace.move("f", "g")
        assert not file.exists()
        workspace.undo()
        assert file.read_bytes() == OLD


@needs_strace
@pytest.mark.parametrize("what", ["write", "remove", "move"])
def test_kill_9_at_some_system_calls_of_a_change_leaves_the_way_back(tmp_path, what):
    found = steps(tmp_path / "ws", what, tmp_path)
    chosen = [at for at in found if at[0] in ("write", "renameat", "renameat2", "rename", "linkat")]
    assert len(chosen) >= 2
    for at in (chosen[0], chosen[len(chosen) // 2], chosen[-1]):
        kill_at(tmp_path / "ws", what, at)


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize("what", ["write", "remove", "move", "undo"])
def test_kill_9_at_every_system_call_leaves_the_way_back(tmp_path, what):
    found = steps(tmp_path / "ws", what, tmp_path)
    assert len(found) > 10
    for at in found:
        kill_at(tmp_path / "ws", what, at)
