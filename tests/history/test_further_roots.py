"""Files beneath further roots, and roots on file systems of another kind."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fsagent_tools import Policy, errors
from tests.history.conftest import tree

UNSHARED = ["unshare", "--user", "--map-root-user", "--mount"]
ON_OVERLAY = """
import os, subprocess, sys
from fsagent_tools import Workspace
below, above, work, root = sys.argv[1:]
layers = f"lowerdir={below},upperdir={above},workdir={work}"
if subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, root]).returncode:
    sys.exit(77)
workspace = Workspace(root)
mark = workspace.checkpoint()
workspace.remove("f")
workspace.write_bytes("made", b"1")
workspace.undo(to=mark)
print(open(f"{root}/f").read(), os.path.exists(f"{root}/made"))
"""
ON_READ_ONLY = """
import json, os, subprocess, sys
from fsagent_tools import Policy, Workspace, errors
root, further = sys.argv[1:]
for words in (["--bind", further, further], ["-o", "remount,bind,ro", further]):
    if subprocess.run(["mount", *words]).returncode:
        sys.exit(77)
workspace = Workspace(root, policy=Policy(allowed_paths=["**", further]))
told = []
for source, target, overwrite in (("d", "d2", False), ("f", "g", True), ("f", "h", False)):
    try:
        workspace.files.move(f"{further}/{source}", target, overwrite=overwrite)
    except errors.ToolError as error:
        told.append(str(error))
print(json.dumps([told, sorted(os.listdir(root)), len(workspace.history.steps())]))
"""


def in_a_room(script, *words):
    """What a program prints that may mount something."""
    if subprocess.run([*UNSHARED, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespace may be made here")
    command = [*UNSHARED, sys.executable, "-c", script, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode == 77:
        pytest.skip(f"nothing of this kind may be mounted here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(params=["beside", "memory"])
def further(request, tmp_path):
    if request.param == "beside":
        yield tmp_path / "further"
        return
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no second file system here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as made:
        yield Path(made) / "further"


def test_what_is_beneath_a_further_root_comes_back(opens, root, further):
    (further / "d").mkdir(parents=True)
    for name in ("f", "g", "d/a"):
        (further / name).write_text(name)
    workspace = opens(policy=Policy(allowed_paths=["**", str(further)]))
    before = tree(root), tree(further)
    for change in (
        lambda: workspace.write_bytes(f"{further}/f", b"new"),
        lambda: workspace.write_bytes(f"{further}/e/made", b"new"),
        lambda: workspace.remove(f"{further}/g"),
        lambda: workspace.move(f"{further}/f", "moved"),
        lambda: workspace.move(f"{further}/d", "moved"),
    ):
        change()
        assert (tree(root), tree(further)) != before
        workspace.undo()
        assert (tree(root), tree(further)) == before


def test_a_move_away_from_a_file_system_for_reading_only_changes_nothing(root, tmp_path):
    further = tmp_path / "further"
    (further / "d").mkdir(parents=True)
    for path in (further / "d" / "a", further / "f"):
        path.write_text("theirs")
    (root / "g").write_text("ours")
    told, names, steps = json.loads(in_a_room(ON_READ_ONLY, root, further))
    assert [one.split(" could not be written (Read-only")[0] for one in told] == [
        f"{further}/{name}" for name in "dff"
    ]
    assert (names, steps) == (["g"], 0)
    assert (root / "g").read_text() == "ours"
    assert tree(further).keys() == {"d", "d/a", "f"}


def test_a_move_that_leaves_a_part_behind_says_so_and_keeps_the_copy(opens, root):
    if not os.access("/dev/shm", os.W_OK) or os.stat("/dev/shm").st_dev == root.stat().st_dev:
        pytest.skip("no second file system here")
    (root / "d" / "e").mkdir(parents=True)
    (root / "d" / "e" / "a").write_text("a")
    before = tree(root)
    if subprocess.run(["chattr", "+a", root / "d"], capture_output=True, check=False).returncode:
        pytest.skip("chattr +a does not work here")
    try:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as further:
            workspace = opens(policy=Policy(allowed_paths=["**", further]))
            with pytest.raises(errors.WriteFailed, match="moved is a whole copy of d, of which"):
                workspace.move("d", f"{further}/moved")
            assert tree(root).keys() == {"d", "d/e"}
            assert tree(f"{further}/moved").keys() == {"e", "e/a"}
            subprocess.run(["chattr", "-a", root / "d"], check=True)
            workspace.undo()
            assert tree(root) == before
            assert os.listdir(further) == []
    finally:
        subprocess.run(["chattr", "-a", root / "d"], check=True)


def test_a_root_that_an_overlay_copies_keeps_its_history(tmp_path):
    folders = [tmp_path / name for name in ("below", "above", "work", "ws")]
    for folder in folders[:3]:
        folder.mkdir()
    folders[3].mkdir(exist_ok=True)
    (folders[0] / "f").write_text("old")
    assert in_a_room(ON_OVERLAY, *folders).split() == ["old", "False"]
