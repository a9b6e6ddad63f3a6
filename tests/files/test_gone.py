"""A root that was deleted while it was open is not taken for an empty one."""

import shutil

import pytest

from fsagent_tools import Workspace, toolset

CALLS = {
    "read": {"file_path": "a.txt"},
    "write": {"file_path": "a.txt", "content": "x"},
    "ls": {},
    "glob": {"pattern": "*"},
    "grep": {"pattern": "a"},
    "bash": {"command": "true"},
}


@pytest.mark.parametrize("again", [False, True])
def test_a_deleted_root_is_named_by_every_tool_until_the_host_opens_another(tmp_path, again):
    root = tmp_path / "root"
    root.mkdir()
    workspace = Workspace(root)
    tools = toolset("workspace").bind(workspace)
    assert tools["ls"].call({}).ok
    shutil.rmtree(root)
    if again:
        root.mkdir()
    for name, arguments in CALLS.items():
        out = tools[name].call(arguments)
        assert out.code == "FILE_NOT_FOUND", (name, out.text)
        assert f"The workspace root {root} was deleted" in out.text
    if again:
        workspace.close()
        assert tools["write"].call(CALLS["write"]).ok
        assert (root / "a.txt").read_text() == "x"
