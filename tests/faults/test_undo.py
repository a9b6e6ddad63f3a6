"""Undo gives back every byte, and takes nothing from anybody else."""

import os
import shutil
import subprocess

import pytest

from fsagent_tools import Workspace, errors, toolset


@pytest.fixture
def workspace(root):
    workspace = Workspace(root)
    yield workspace
    workspace.close()


def tree(root):
    return {
        str(path.relative_to(root)): (path.lstat().st_mode, path.is_file() and path.read_bytes())
        for path in sorted(root.rglob("*"))
        if not {".ai", ".git"} & {*path.relative_to(root).parts}
    }


def filled(root):
    (root / "d/e").mkdir(parents=True)
    (root / "a.txt").write_bytes(b"one\r\ntwo")
    (root / "b.bin").write_bytes(bytes(range(256)))
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o750)
    (root / "d/e/deep.txt").write_text("deep\n")
    return tree(root)


CALLS = {
    "a new file": ("write", {"path": "new/er.txt", "content": "x", "create_dirs": True}),
    "a file written anew": ("write", {"path": "a.txt", "content": "other\n"}),
    "an edit": ("edit", {"path": "a.txt", "old_string": "two", "new_string": "zwei"}),
    "an insertion": ("insert", {"path": "a.txt", "line": 1, "content": "zero"}),
    "a removed program": ("rm", {"path": "run.sh"}),
    "a removed directory": ("rm", {"path": "d", "recursive": True}),
    "a move": ("mv", {"source": "d", "destination": "moved"}),
    "a move over a file": ("mv", {"source": "b.bin", "destination": "a.txt", "overwrite": True}),
    "a copy": ("cp", {"source": "d", "destination": "copy"}),
}


@pytest.mark.parametrize("what", CALLS)
def test_an_undo_gives_back_every_byte_and_mode(workspace, root, what):
    before = filled(root)
    name, arguments = CALLS[what]
    assert toolset("filesystem").bind(workspace)[name].call(arguments).ok
    assert tree(root) != before
    workspace.undo()
    assert tree(root) == before


COMMAND = "rm run.sh b.bin; echo more >> a.txt; mkdir n; echo new > n/n.txt; mv d moved"


def test_what_a_command_changed_comes_back(workspace, root):
    before = filled(root)
    assert toolset("workspace").bind(workspace)["bash"].call({"command": COMMAND}).ok
    assert tree(root) != before
    workspace.undo()
    assert tree(root) == before


def test_what_a_command_changed_comes_back_in_a_fresh_repository(workspace, root):
    """With a real text: git compresses it with a table of its own."""
    filled(root)
    shutil.copy(__file__, root / "code.py")
    before = tree(root)
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    tool = toolset("workspace").bind(workspace)["bash"]
    assert tool.call({"command": f"rm code.py; {COMMAND}"}).ok
    workspace.undo()
    assert tree(root) == before


def test_what_another_changed_since_stays(workspace, root):
    filled(root)
    tool = toolset("filesystem").bind(workspace)["write"]
    assert tool.call({"path": "a.txt", "content": "ours\n"}).ok
    (root / "a.txt").write_text("theirs, altogether\n")
    with pytest.raises(errors.Conflict, match=r"a\.txt"):
        workspace.undo()
    assert (root / "a.txt").read_text() == "theirs, altogether\n"


def test_an_undo_leads_through_no_link_that_came_since(workspace, root, outside):
    filled(root)
    tool = toolset("filesystem").bind(workspace)["rm"]
    assert tool.call({"path": "d/e/deep.txt"}).ok
    os.rmdir(root / "d/e")
    (root / "d/e").symlink_to(outside)
    with pytest.raises(errors.ToolError):
        workspace.undo()
    assert os.listdir(outside) == ["key.txt"]
