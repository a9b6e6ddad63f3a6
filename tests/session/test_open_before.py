"""A file that was opened before an edit is read as it is after it."""

from fsagent_tools import Workspace, toolset


def test_a_read_that_waited_for_an_edit_takes_no_id_back(root):
    (root / "a.txt").write_text("one\ntwo\n")
    workspace = Workspace(root, line_ids="tag")
    tools = toolset("workspace").bind(workspace)
    rows = tools["read"].call({"file_path": "a.txt"}).text.splitlines()
    change = {"line_id": rows[0], "new_content": "ONE\nmore"}
    with workspace.files.open("a.txt") as before:
        edited = tools["edit_lines"].call({"file_path": "a.txt", "changes": [change]}).text
        with workspace.session.reading(before, workspace.style) as document:
            assert document.lines.count == 3
    again = tools["read"].call({"file_path": "a.txt"}).text
    assert all(row in edited or row == rows[1] for row in again.splitlines())
