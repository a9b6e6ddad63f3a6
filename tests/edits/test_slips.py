"""New text that shows a mistake beside its file is refused; quoting more confirms it."""

import pytest

from fsagent_tools import Workspace, toolset

TEXT = """class A:
    def one(self):
        total = 0
        for item in self.items:
            total += item
        return total

    def two(self):
        return "2"
"""
WHOLE = TEXT.removesuffix("\n").replace("total += item", "total += item.price")
HEAD = "class A:"
ONE = '        return "2"'
CALLS = {
    "a whole file over its first line": (HEAD, WHOLE, "goes on to line 9"),
    "a whole method over its head": (
        "    def one(self):",
        "    def one(self):\n        total = 0\n        for item in self.items:\n"
        "            total += item.price\n        return total",
        "goes on to line 6, 'return total', but lines 3-6 stay",
    ),
    "character entities": (ONE, "        return 2 &lt; 3", "character entities"),
    "curly quotes": (ONE, "        return “3”", "curly quotes"),
    "quotes written out": (ONE, '        return \\"3\\"', "written out"),
    "no-break blanks": (ONE, "        return\N{NO-BREAK SPACE}3", "blanks"),
    "zero-width blanks": (ONE, "        return 3\N{ZERO WIDTH SPACE}", "blanks"),
    "a line twice in a row": (
        ONE,
        "        x = 3\n        x = 3\n        return x",
        "twice in a row",
    ),
    "the line below, deeper": (
        "        for item in self.items:",
        "        for item in self.items[1:]:\n                total += item",
        "ends with the line below",
    ),
    "dots that open a block which goes on": (
        ONE,
        "        if self:\n            ...\n            return 3",
        "A placeholder stands for omitted text",
    ),
    "line ends written out between lines that begin alike": (
        HEAD,
        "import a\\nimport b\\nclass B:",
        "line ends written out",
    ),
    "a text twice": (ONE, "        x = 3\n        return x\n" * 2, "second half"),
}


def sent(root, name, old, new, text=TEXT):
    """What an edit that names or quotes a line says, and the file afterwards."""
    path = root / "a.py"
    path.write_text(text)
    tools = toolset(name).bind(Workspace(root, line_ids="words"))
    if name == "workspace":
        rows = tools["read"].call({"file_path": "a.py"}).text.split("\n")
        line_id = next(row for row in rows if row.endswith(f"\t{old}")).replace("\t", " ")
        change = {"line_id": line_id, "new_content": new}
        out = tools["edit_lines"].call({"file_path": "a.py", "changes": [change]})
    else:
        tools["Read"].call({"file_path": str(path)})
        new = new if old.endswith("\n") else new.removesuffix("\n")
        out = tools["Edit"].call({"file_path": str(path), "old_string": old, "new_string": new})
    return out, path.read_text()


@pytest.mark.parametrize(("old", "new", "told"), CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("name", ["compact", "workspace"])
def test_a_text_that_does_not_fit_its_place_is_refused_and_told(root, name, old, new, told):
    out, after = sent(root, name, old, new)
    assert not out.ok
    assert told in out.text
    assert after == TEXT


@pytest.mark.parametrize("name", ["compact", "workspace"])
def test_a_spelling_that_the_file_has_may_be_sent(root, name):
    text = TEXT + '\nB = "“a” &amp; \\" \N{NO-BREAK SPACE}"\n'
    new = "        return '“3” &lt; \\\\\" \N{NO-BREAK SPACE}'"
    out, after = sent(root, name, ONE, new, text)
    assert out.ok, out.text
    assert new in after


@pytest.mark.parametrize("name", ["compact", "workspace"])
def test_a_line_that_was_there_twice_may_be_so_again(root, name):
    text = "a = [\n    0,\n    0,\n]\nb = 1\n"
    out, after = sent(root, name, "b = 1", "b = 2", text)
    assert out.ok, out.text
    assert after.endswith("b = 2\n")


@pytest.mark.parametrize("name", ["compact", "workspace"])
def test_signs_of_a_comment_may_come_twice(root, name):
    out, after = sent(root, name, " * b", " * b\n *\n *\n * c", "/*\n * a\n * b\n */\n")
    assert out.ok, out.text
    assert after == "/*\n * a\n * b\n *\n *\n * c\n */\n"


def test_words_of_the_line_below_do_not_confirm_one_of_signs_alone(root):
    text = '"""\nimport a\nx = 1\n'
    (root / "a.txt").write_text(text)
    tools = toolset("workspace").bind(Workspace(root, line_ids="words"))
    line_id = tools["read"].call({"file_path": "a.txt"}).text.split("\t")[0]
    change = {"line_id": f"{line_id} import a", "new_content": "import b"}
    out = tools["edit_lines"].call({"file_path": "a.txt", "changes": [change]})
    assert not out.ok
    assert "does not stand before 'import a'" in out.text
    assert (root / "a.txt").read_text() == text


def test_a_quote_with_more_around_it_confirms_what_was_refused(root):
    path = root / "a.txt"
    path.write_text("one\ntwo\n")
    edit = toolset("compact").bind(Workspace(root))["Edit"]
    call = {"file_path": str(path), "old_string": "one", "new_string": "1 &lt; 2"}
    assert not edit.call(call).ok
    assert not edit.call(call).ok
    more = {"old_string": "one\ntwo", "new_string": "1 &lt; 2\ntwo"}
    out = edit.call({**call, **more})
    assert out.ok, out.text
    assert path.read_text() == "1 &lt; 2\ntwo\n"


def test_neighbours_change_places_in_two_steps(root):
    out, after = sent(root, "compact", "second", "third", "first\nsecond\nthird\nfourth\n")
    assert out.ok, out.text
    assert after == "first\nthird\nthird\nfourth\n"


def test_a_quote_that_begins_with_a_line_end_is_found_at_another_depth(root):
    text = "def f():\n    x = 1\n    if a:\n        b()\n"
    old, new = "\nif a:\n    b()\n", "\nif a:\n    c()\n"
    out, after = sent(root, "compact", old, new, text)
    assert out.ok, out.text
    assert after == text.replace("b()", "c()")


def test_blank_lines_that_are_to_go_are_not_left_unsaid(root):
    text = "def f():\n    x = 1\n\n    if a:\n        b()\n"
    out, after = sent(root, "compact", "\n\nif a:\n    b()\n", "\nif a:\n    c()\n", text)
    assert not out.ok
    assert after == text


@pytest.mark.parametrize("new", ["/* e */", "\t\t/* e */"])
def test_an_exact_quote_is_replaced_by_what_was_sent(root, new):
    path = root / "a.css"
    path.write_text("body {\n\tx: 1;\n}\n\n\t#x {\n\t\ty: 1;\n\t}\n\n/* e */\n")
    edit = toolset("compact").bind(Workspace(root))["Edit"]
    old = "\t#x {\n\t\ty: 1;\n\t}\n\n/* e */"
    out = edit.call({"file_path": str(path), "old_string": old, "new_string": new})
    assert out.ok, out.text
    assert path.read_text() == f"body {{\n\tx: 1;\n}}\n\n{new}\n"


@pytest.mark.parametrize("name", ["a.kt", "a.js", "a.css"])
@pytest.mark.parametrize("new", ["c();\nd();", "     c();\n     d();", "\t\tc();\n\t\td();"])
def test_an_exact_quote_is_not_replaced_by_lines_between_the_levels_of_the_file(root, name, new):
    text = "a {\n    x {\n        b();\n    }\n}\n"
    path = root / name
    path.write_text(text)
    edit = toolset("compact").bind(Workspace(root))["Edit"]
    out = edit.call({"file_path": str(path), "old_string": "        b();", "new_string": new})
    assert not out.ok
    assert "can be read in two ways" in out.text
    assert path.read_text() == text
    meant = {"old_string": "    x {\n        b();", "new_string": f"    x {{\n{new}"}
    out = edit.call({"file_path": str(path), **meant})
    assert out.ok, out.text


def test_lines_of_another_level_may_take_the_place_of_an_exact_quote(root):
    path = root / "a.kt"
    path.write_text("a {\n    x {\n        b()\n    }\n}\n")
    edit = toolset("compact").bind(Workspace(root))["Edit"]
    call = {"file_path": str(path), "old_string": "        b()\n    }", "new_string": "    c()"}
    assert edit.call(call).ok
    assert path.read_text() == "a {\n    x {\n    c()\n}\n"


@pytest.mark.parametrize("name", ["compact", "workspace"])
def test_a_doubt_about_a_whole_text_is_confirmed_by_the_same_call(root, name):
    path = root / "a.txt"
    path.write_text("one")
    tools = toolset(name).bind(Workspace(root, line_ids="words"))
    if name == "compact":
        tool, call = "Edit", {"old_string": "one", "new_string": "1 &lt; 2"}
    else:
        line_id = tools["read"].call({"file_path": "a.txt"}).text.split("\t")[0]
        change = {"line_id": f"{line_id} one", "new_content": "1 &lt; 2"}
        tool, call = "edit_lines", {"changes": [change]}
    out = tools[tool].call({"file_path": "a.txt", **call})
    assert "If it is meant, send the same again." in out.text
    assert path.read_text() == "one"
    assert tools[tool].call({"file_path": "a.txt", **call}).ok
    assert path.read_text() == "1 &lt; 2"


def test_a_doubt_about_every_place_is_confirmed_by_the_same_call(root):
    path = root / "a.txt"
    path.write_text("one\nx\none\ny\n")
    edit = toolset("compact").bind(Workspace(root))["Edit"]
    call = {"old_string": "one", "new_string": "a &lt; b\nc", "replace_all": True}
    assert "send the same again" in edit.call({"file_path": str(path), **call}).text
    assert edit.call({"file_path": str(path), **call}).ok
    assert path.read_text() == "a &lt; b\nc\nx\na &lt; b\nc\ny\n"


def test_a_depth_is_confirmed_by_a_longer_quote_where_the_line_above_is_blank(root):
    path = root / "a.txt"
    path.write_text("top\n\n    one\n    two\n        three\n")
    edit = toolset("compact").bind(Workspace(root))["Edit"]
    call = {"file_path": str(path), "old_string": "    one", "new_string": "  1"}
    assert "read in two ways" in edit.call(call).text
    more = {"old_string": "    one\n    two", "new_string": "  1\n    two"}
    out = edit.call({**call, **more})
    assert out.ok, out.text
    assert path.read_text() == "top\n\n  1\n    two\n        three\n"


@pytest.mark.parametrize("ending", [".html", ".svg", ".tsx"])
def test_an_entity_is_plain_spelling_in_markup(root, ending):
    path = root / f"a{ending}"
    path.write_text("<p>one</p>\n")
    edit = toolset("compact").bind(Workspace(root))["Edit"]
    call = {"file_path": str(path), "old_string": "one", "new_string": "1 &lt; 2"}
    assert edit.call(call).ok


@pytest.mark.parametrize("name", ["compact", "workspace"])
def test_a_text_that_ends_as_a_line_below_but_deeper_holds_no_more_than_its_place(root, name):
    text = "if a:\n    b()\n    if c:\n        d()\n    e()\nreturn e\n"
    new = "    if a.b:\n        if c:\n            e()\n        return e"
    out, after = sent(root, name, "    b()", new, text)
    assert out.ok, out.text
    assert after == text.replace("    b()", new)
