"""Find-and-replace cases of public test suites, through the tools a model has."""

import pytest

from fsagent_tools import Workspace, toolset
from tests.conformance.test_matching import CONTRADICTING, core

pytestmark = pytest.mark.full

REFUSALS = {
    "not_found": "STRING_NOT_FOUND",
    "multiple_matches": "MULTIPLE_MATCHES",
    "identical": "VALIDATION_ERROR",
    "empty_old": "VALIDATION_ERROR",
    "file_missing": "FILE_NOT_FOUND",
}
APPROXIMATE = 0.2  # of the core rows need more than the exact text


def hidden(row):
    levels = [float(tag.partition("=")[2]) for tag in row["tags"] if tag.startswith("threshold=")]
    return {"fuzzy_threshold": levels[0], "typos_only": False} if levels else {}


def compact(tools, row, change):
    call = {"file_path": "a.txt", "old_string": change["old_string"]}
    options = {"replace_all": bool(change.get("replace_all")), "gate": False, **hidden(row)}
    return tools["Edit"].call({**call, "new_string": change["new_string"]}, **options)


def file_ops(tools, _, change):
    old, new = change["old_string"], change["new_string"]
    if not change.get("replace_all"):
        call = {"file_path": "a.txt", "old_string": old, "new_string": new}
        return tools["edit_file"].call(call)
    call = {"file_path": "a.txt", "search_string": old, "replace_string": new}
    return tools["search_replace"].call({**call, "replace_all": True})


def outcome(row, folder, name, edit):
    """(last outcome, text afterwards) of the row's edits on a fresh file."""
    folder.mkdir(parents=True)
    if row["original"] is not None:
        (folder / "a.txt").write_bytes(row["original"].encode())
    workspace = Workspace(folder)
    tools = toolset(name).bind(workspace)
    for change in row.get("edits", [row]):
        out = edit(tools, row, change)
        if not out.ok:
            break
    workspace.close()
    return out, (folder / "a.txt").read_bytes().decode() if out.ok else ""


def is_right(row, out, text):
    if row["expect_kind"] == "error":
        return out.code == REFUSALS[row["expect"]]
    fits = {"result": text == row["expect"], "contains": str(row["expect"]) in text}
    return out.ok and fits.get(row["expect_kind"], True)


@pytest.mark.parametrize(("name", "share"), [("edit_cases", 0.98), ("multi_edit_cases", 0.95)])
def test_core_rows_through_compact(name, share, tmp_path):
    rows = [row for row in core(name) if row["id"] not in CONTRADICTING]
    wrong = [
        row["id"]
        for row in rows
        if not is_right(row, *outcome(row, tmp_path / row["id"], "compact", compact))
    ]
    assert len(wrong) <= (1 - share) * len(rows), wrong
    refused = {row["id"] for row in rows if row["expect_kind"] == "error"}
    assert not refused & {*wrong}


def test_file_ops_never_does_more_than_the_exact_text(tmp_path):
    """Where it edits it is right; every refusal that is expected happens."""
    rows = [row for row in core("edit_cases") if row["id"] not in CONTRADICTING]
    done = 0
    for row in rows:
        out, text = outcome(row, tmp_path / row["id"], "file_ops", file_ops)
        if out.ok:
            done += 1
            assert is_right(row, out, text), row["id"]
        elif row["expect_kind"] == "error":
            assert out.code == REFUSALS[row["expect"]], row["id"]
    assert done > APPROXIMATE * len(rows)
