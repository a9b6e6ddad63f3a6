"""Every path case for the tools that move, copy, remove, make and inspect."""

import json
import os

import pytest

from fsagent_tools import Workspace, toolset
from tests.conformance.test_path_cases import ROWS, build, fill, tree

pytestmark = pytest.mark.full

CALLS = {
    "mv": lambda path: ("mv", {"source": path, "destination": "moved"}),
    "mv to": lambda path: ("mv", {"source": "their", "destination": path, "overwrite": True}),
    "cp": lambda path: ("cp", {"source": path, "destination": "copied"}),
    "cp to": lambda path: ("cp", {"source": "their", "destination": path, "overwrite": True}),
    "rm": lambda path: ("rm", {"path": path, "recursive": True}),
    "mkdir": lambda path: ("mkdir", {"path": path}),
    "file_stat": lambda path: ("file_stat", {"path": path}),
}
ON_LINKS = {"mv", "mv to", "cp to", "rm", "file_stat"}  # act on the link, which may lie inside
READS = {"cp", "file_stat"}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_row_holds_for_the_tool(row, call, tmp_path):
    build(row["setup"], tmp_path)
    root = tmp_path / "ROOT"
    root.mkdir(exist_ok=True)
    (root / "their").write_text("ours")
    before, real_root = tree(tmp_path), os.path.realpath(root)
    workspace = Workspace(root)
    path = fill(row["request_path"], tmp_path)
    name, sent = CALLS[call](path)
    outcome = toolset("filesystem").bind(workspace)[name].call(sent)
    workspace.close()
    json.dumps(outcome.to_dict())
    assert tree(tmp_path) == before
    assert os.path.realpath(root) == real_root
    if outcome.ok and row.get("refusal") == "escape" and row["realpath_inside"] is False:
        holder = os.path.realpath(os.path.dirname(os.path.join(root, path).rstrip("/")))
        assert call in ON_LINKS, f"{call} reached outside"
        assert (holder + "/").startswith(real_root + "/")
    must_work = (
        row["allowed"] and row["realpath_inside"] and row["policy"] in ("beneath", "realpath")
    )
    if must_work and row.get("exists") and call in READS:
        # a root or a directory around its own copy is not copied
        around = call == "cp" and outcome.code in ("VALIDATION_ERROR", "PERMISSION_DENIED")
        assert outcome.ok or around, outcome
    if call == "file_stat" and outcome.ok and row.get("refusal") == "missing":
        assert os.path.lexists(os.path.join(root, path)), "made up"
