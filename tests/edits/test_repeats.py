"""New text that has again what stands beside its place is refused, however many lines it is."""

import pytest

from fsagent_tools import Workspace, toolset

TEXT = "import a\nimport b\nx = 1\n\ny = 2\nz = 3\n"
CALLS = {
    "lines below": ("import a", "import c\nimport b\nx = 1"),
    "with a blank line": ("import b", "import c\nx = 1\n\ny = 2"),
    "lines above": ("x = 1", "import a\nimport b\nx = 10"),
    "one line": ("import b", "import c\nx = 1"),
}


@pytest.mark.parametrize(("old", "new"), CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("name", ["compact", "workspace"])
def test_lines_beside_the_place_are_not_written_again(root, name, old, new):
    path = root / "a.txt"
    path.write_text(TEXT)
    tools = toolset(name).bind(Workspace(root))
    if name == "workspace":
        row = tools["read"].call({"file_path": "a.txt"}).text.split("\n")
        line_id = next(line for line in row if line.endswith(old))
        call = {"file_path": "a.txt", "changes": [{"line_id": line_id, "new_content": new}]}
        out = tools["edit_lines"].call(call)
    else:
        out = tools["Edit"].call({"file_path": str(path), "old_string": old, "new_string": new})
    assert not out.ok
    assert "new text repeats the" in out.text
    assert path.read_text() == TEXT


@pytest.mark.parametrize(("old", "new"), CALLS.values(), ids=CALLS)
def test_where_exact_text_is_the_contract_they_are_not_either(root, old, new):
    (root / "a.txt").write_text(TEXT)
    call = {"path": "a.txt", "old_string": old, "new_string": new}
    out = toolset("file_ops").bind(Workspace(root))["edit_file"].call(call)
    assert not out.ok
    assert "new text repeats the" in out.text
    assert (root / "a.txt").read_text() == TEXT


def test_what_is_quoted_may_come_again(root):
    (root / "a.txt").write_text(TEXT)
    tools = toolset("file_ops").bind(Workspace(root))
    call = {"old_string": "import b\nx = 1\n", "new_string": "import c\nimport b\nx = 1\n"}
    out = tools["edit_file"].call({"path": "a.txt", **call})
    assert out.ok, out.text


def test_inserted_lines_are_not_those_beside_them(root):
    (root / "a.txt").write_text(TEXT)
    tools = toolset("workspace").bind(Workspace(root))
    row = tools["read"].call({"file_path": "a.txt"}).text.split("\n")[0]
    change = {"after_line_id": row, "new_content": "import c\nimport b\nx = 1"}
    out = tools["edit_lines"].call({"file_path": "a.txt", "changes": [change]})
    assert out.code == "INVALID_CHANGE"
    assert "repeats the 2 lines below" in out.text
