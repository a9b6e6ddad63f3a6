"""A block that lost its depth: asked about where the parser cannot tell, whatever the machine."""

import pytest

from fsagent_tools import Workspace, toolset

TEXT = "class A:\n    def f(self):\n        return x\n    def g(self):\n        return y\n"


@pytest.fixture
def edited(root):
    def edit(more):
        (root / "a.py").write_text(TEXT + more)
        tools = toolset("workspace").bind(Workspace(root))
        row = tools["read"].call({"file_path": "a.py", "limit": 5}).text.split("\n")[2]
        change = {"line_id": row, "new_content": "    return x + 1"}
        out = tools["edit_lines"].call({"file_path": "a.py", "changes": [change]})
        return out, (root / "a.py").read_text()

    return edit


@pytest.mark.parametrize("size", [0, 200_000])
def test_a_parser_that_is_in_no_hurry_decides(edited, size):
    out, text = edited("# padding\n" * (size // 10))
    assert out.ok
    assert "re-indented by 4 columns" in out.text
    assert text.startswith(TEXT.replace("return x", "return x + 1"))


def test_what_is_too_much_for_the_parser_is_asked_about(edited):
    more = "# padding\n" * 60_000
    out, text = edited(more)
    assert out.code == "INVALID_CHANGE"
    assert "indentation" in out.text
    assert text == TEXT + more
