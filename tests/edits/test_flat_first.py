"""New text whose first line lost its indentation, and what says nothing of depth."""

import pytest

from fsagent_tools import Workspace, toolset

JS = "f(() => {\n  if (a) {\n    b();\n  }\n});\n"
PY = "def f():\n    if a:\n        b()\n"
C = "int f() {\n#if A\n    a();\n#endif\n    b();\n}\n"
TS = "class A {\n    f() {\n        a();\n        b();\n    }\n}\n"


@pytest.mark.parametrize(
    ("name", "text", "first", "last", "new", "meant"),
    [
        ("a.js", JS, 1, 3, "if (a) {\n    c();\n  }", JS.replace("b", "c")),
        ("a.js", JS, 1, 3, "if (a) {\n  c();\n}", JS.replace("b", "c")),
        ("a.py", PY, 1, 2, "if a:\n        c()", PY.replace("b", "c")),
        ("a.py", PY, 1, 2, "if a:\n    c()", PY.replace("b", "c")),
        ("a.c", C, 2, 3, "    c();\n#endif", C.replace("a()", "c()")),
        ("a.c", C, 2, 2, "#define B\n    c();", C.replace("    a", "#define B\n    c")),
        ("a.ts", TS, 2, 3, "a(1);\nb(1);", TS.replace("()", "(1)").replace("f(1)", "f()")),
    ],
)
def test_the_block_gets_the_depth_that_its_braces_or_other_lines_give_it(
    root, name, text, first, last, new, meant
):
    (root / name).write_text(text)
    tools = toolset("workspace").bind(Workspace(root))
    rows = tools["read"].call({"file_path": name}).text.split("\n")
    change = {"start_line_id": rows[first], "end_line_id": rows[last], "new_content": new}
    out = tools["edit_lines"].call({"file_path": name, "changes": [change]})
    assert out.ok, out.text
    assert (root / name).read_text() == meant
    assert ("re-indented" in out.text) == (f"\n{new}" not in meant)
