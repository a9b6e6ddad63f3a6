"""An edit after which a file that parsed does not any more is done, and told."""

import pytest

from fsagent_tools import Workspace, toolset

FILES = {
    "a.py": ("def f():\n    return 1\n", "    return 1", "    return (1"),
    "b.py": ("def f():\n    a = 1\n    return a\n", "    return a", "    return )"),
    "a.json": ('{\n  "a": 1,\n  "b": 2\n}\n', '  "b": 2', '  "b": ,'),
    "a.yaml": ("a: 1\nb: [2]\n", "b: [2]", "b: [2"),
    "a.toml": ("a = 1\nb = 2\n", "b = 2", "b = "),
    "a.ts": ("f(1);\ng(2);\n", "g(2);", "g(2;"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("tool", ["edit_lines", "edit_file", "write"])
def test_a_text_that_no_longer_parses_is_written_and_told(root, tool, name):
    text, old, new = FILES[name]
    (root / name).write_text(text)
    tools = toolset("file_ops" if tool == "edit_file" else "workspace").bind(Workspace(root))
    if tool == "edit_lines":
        rows = tools["read"].call({"file_path": name}).text.split("\n")
        line_id = next(row for row in rows if row.endswith(old))
        changes = [{"line_id": line_id, "new_content": new}]
        out = tools[tool].call({"file_path": name, "changes": changes})
    elif tool == "edit_file":
        out = tools[tool].call({"path": name, "old_string": old, "new_string": new})
    else:
        out = tools[tool].call({"file_path": name, "content": text.replace(old, new)})
    assert out.ok, out.text
    assert (root / name).read_text() == text.replace(old, new)
    assert out.text.split("\n")[-1].startswith("Syntax error after this edit: line ")
    assert "lint" not in out.data


def test_what_did_not_parse_before_is_nobodys_fault(root):
    (root / "a.py").write_text("def f(:\n    return 1\n")
    tools = toolset("file_ops").bind(Workspace(root))
    call = {"path": "a.py", "old_string": "return 1", "new_string": "return (1"}
    assert "Syntax error" not in tools["edit_file"].call(call).text
