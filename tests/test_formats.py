"""What is kept on disk has a format; one of a later version is refused and left as it is."""

import json
import re

import pytest

from fsagent_tools import Workspace, select_tools
from fsagent_tools.errors import NotConfigured
from fsagent_tools.history.store import FORMAT
from fsagent_tools.lines.index import VERSION

FORMATS = {"history": FORMAT}
LATER = {name: known + 1 for name, known in FORMATS.items()}


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def root(tmp_path):
    (root := tmp_path / "root").mkdir()
    (root / "a.txt").write_text("one\ntwo\n")
    return root


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def tools_of(root):
    return {tool.name: tool for tool in select_tools(root)}


def later(state, name):
    """As if a later version had used the root since."""
    (mark,) = state.rglob(f"{name}.format")
    assert mark.read_text() == f"{FORMATS[name]}\n"
    mark.write_text(f"{LATER[name]}\n")


def told(name):
    known = rf"is of format {LATER[name]}, and .* knows formats up to {FORMATS[name]}\."
    return known + r" Nothing was changed\. Upgrade fsagent-tools here"


def test_changes_go_on_beside_a_later_history_without_an_undo(root, state, caplog):
    earlier = Workspace(root)
    earlier.write_text("a.txt", "three\n")
    earlier.close()  # else it folds its log into the store whenever it is collected
    later(state, "history")
    before = contents(state / "fsagent")
    workspace = Workspace(root)
    workspace.write_text("a.txt", "four\n")
    assert re.search(told("history"), caplog.text)
    with pytest.raises(NotConfigured, match=told("history")):
        workspace.undo()
    assert (root / "a.txt").read_text() == "four\n"
    assert contents(state / "fsagent") == before


def test_a_later_line_index_is_neither_used_nor_replaced(root):
    shown = tools_of(root)["read"].call({"file_path": "a.txt"}).text
    (index,) = root.rglob("line_index/*.json")
    index.write_text(json.dumps({**json.loads(index.read_text()), "version": VERSION + 1}))
    before = index.read_bytes()
    change = {"line_id": shown.splitlines()[0], "new_content": "1"}
    tools = tools_of(root)
    for _ in "12":
        for refused in (
            tools["read"].call({"file_path": "a.txt"}),
            tools["edit_lines"].call({"file_path": "a.txt", "changes": [change]}),
        ):
            known = rf"of a\.txt is of format {VERSION + 1}, and .* knows formats up to {VERSION}\."
            assert re.search(known, refused.text), refused.text
            assert "move .ai/cache/tools/read/line_index away" in refused.text
    assert index.read_bytes() == before
    assert (root / "a.txt").read_text() == "one\ntwo\n"


def test_a_later_line_index_goes_where_its_file_goes(root):
    tools_of(root)["read"].call({"file_path": "a.txt"})
    (index,) = root.rglob("line_index/*.json")
    index.write_text(json.dumps({**json.loads(index.read_text()), "version": VERSION + 1}))
    Workspace(root).move("a.txt", "b.txt")
    (moved,) = root.rglob("line_index/*.json")
    assert json.loads(moved.read_text())["version"] == VERSION + 1
    assert json.loads(moved.read_text())["file_path"] == "b.txt"


@pytest.mark.parametrize("text", ["", "x", "0\n"])
def test_a_mark_that_is_none_is_written_again(root, state, text):
    Workspace(root).write_text("a.txt", "x")
    (mark,) = state.rglob("history.format")
    mark.write_text(text)
    Workspace(root).write_text("a.txt", "y")
    assert mark.read_text() == f"{FORMATS['history']}\n"
