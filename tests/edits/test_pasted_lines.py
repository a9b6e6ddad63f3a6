"""Marks that were copied into new text, and lists of lines that end with an empty one."""

import pytest

from fsagent_tools import Workspace, toolset

CODE = "def f(x):\n    y = x\n    return y\n\n\ndef g():\n    return 2\n"
PROSE = "One line.\nTwo lines.\nThree lines.\nFour lines.\n"


@pytest.fixture
def ids(root, session):
    (root / "a.py").write_text(CODE)
    (root / "a.rst").write_text(PROSE)
    return lambda name: session.ids(name)


@pytest.mark.parametrize(
    "new",
    [
        "2:     y = x + 1\n3:     return y",
        "2:    y = x + 1\n3:    return y",
        "     2\t    y = x + 1\n     3\t    return y",
        "2→    y = x + 1\n3→    return y",
        "2|    y = x + 1\n3|    return y",
        "2 |     y = x + 1\n3 |     return y",
        "+    y = x + 1\n+    return y",
        "```python\n    y = x + 1\n    return y\n```",
    ],
)
def test_marks_before_or_around_all_lines_are_asked_about(root, session, ids, new):
    first, last = ids("a.py")[1:3]
    change = {"start_line_id": first, "end_line_id": last, "new_content": new}
    out = session.edit(change, path="a.py")
    assert "Send the bare lines." in out.text
    assert (root / "a.py").read_text() == CODE


@pytest.mark.parametrize(
    "new",
    [
        "2\tOther lines.\n3\tAnd more.",
        "7→Other lines.\n8→And more.",
        "+Other lines.\n+And more.",
        "```\nOther lines.\n```",
    ],
)
def test_marks_are_asked_about_where_nothing_parses(root, session, ids, new):
    line = ids("a.rst")[1]
    out = session.edit({"line_id": line, "new_content": new}, path="a.rst")
    assert out.code == "INVALID_CHANGE"
    assert "Send the bare lines." in out.text
    assert (root / "a.rst").read_text() == PROSE
    sure = {"line_id": f"{line} Two lines.", "new_content": new}
    assert session.edit(sure, path="a.rst").ok
    assert (root / "a.rst").read_text() == PROSE.replace("Two lines.", new)


def test_words_before_all_new_lines_that_are_ids_of_the_file_are_asked_about(root):
    (root / "a.rst").write_text(PROSE)
    tools = toolset("lines").bind(Workspace(root))
    shown = tools["read"].call({"file_path": "a.rst"}).text.splitlines()
    (first, words), last = shown[0].split("\t"), shown[1].split("\t")[0]

    def edit(new):
        change = {"line_id": f"{first} {words}", "new_content": new}
        return tools["edit_lines"].call({"file_path": "a.rst", "changes": [change]})

    for new in (f"{first} One.", f"{first} One.\n\n{last} Two."):
        assert "Lines begin with line IDs" in edit(new).text
        assert (root / "a.rst").read_text() == PROSE
    assert edit(f"{first} One.\nTwo.").ok


@pytest.mark.parametrize("place", ["line_id", "after_line_id"])
def test_marks_are_asked_about_at_another_depth_too(root, session, place):
    (root / "a.rst").write_text(text := "One::\n\n    two lines\n    three lines\n")
    line = session.ids("a.rst")[2]
    out = session.edit({place: line, "new_content": "```\nother lines\n```"}, path="a.rst")
    assert "Send the bare lines." in out.text
    assert (root / "a.rst").read_text() == text


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("1. one\n2. two\n", "2. other"),
        ("1: one\n2: two\n", "2: other"),
        ("1\tone\n2\ttwo\n3\tthree\n", "2\tother"),
        ("10 PRINT 1\n2 PRINT 2\n30 GOTO 10\n", "2 PRINT 3"),
        ("a\nb\n", "2024-01-02 12:00 other"),
        ("a\nb\n", "2 others"),
        ("a\nb\n", "4: one\n6: two"),
        ("+ one\n+ two\n", "+ something else"),
        ("a\nb\n", "+1 for it"),
        ("a\nb\nc\n```\n", "```sh\nls\n```"),
        ("a\nb\n", "```sh\nb\n```"),
        ("a\nb\n", "- one\n+ two"),
        ("a\nb\n", "```sh"),
    ],
)
def test_text_that_looks_so_is_left_alone(root, session, text, new):
    (root / "a.txt").write_text(text)
    line = session.ids()[1]
    out = session.edit({"line_id": line, "new_content": new})
    assert out.ok, out.text
    lines = text.split("\n")
    assert (root / "a.txt").read_text() == "\n".join([lines[0], new, *lines[2:]])


@pytest.mark.parametrize(
    "new",
    ["2: other", "+other", "other\n```", "```\nother", "  a first line", "one more\n    c d e f"],
)
def test_one_line_with_a_mark_or_a_neighbour_at_another_depth_is_asked_about(root, session, new):
    (root / "a.txt").write_text(text := "a first line\nb\nc d e f\n")
    line = session.ids()[1]
    out = session.edit({"line_id": line, "new_content": new})
    assert out.code == "INVALID_CHANGE", out.text
    assert (root / "a.txt").read_text() == text


@pytest.mark.parametrize("line", [1, 2, 6])
def test_an_empty_element_at_the_end_of_a_list_is_a_line(root, session, ids, line):
    named, lines = ids("a.py"), CODE.split("\n")
    new = f"{lines[line]}  # changed"
    assert session.edit({"line_id": named[line], "new_content": [new, ""]}, path="a.py").ok
    assert (root / "a.py").read_text() == CODE.replace(lines[line], f"{new}\n")


@pytest.mark.parametrize("prefix", ["{} ", "{}\t", "LID:{}] ", "[{}] ", "[LID:{}] "])
def test_half_a_prefix_of_a_known_line_is_none_of_its_text(root, session, prefix):
    (root / "a.txt").write_text("  one\n  two\n")
    ids = session.ids()
    change = {"line_id": ids[0], "new_content": prefix.format(ids[0]) + "  three"}
    assert session.edit(change).ok
    assert (root / "a.txt").read_text() == "  three\n  two\n"


def test_inserted_lines_have_no_placeholder(root, session):
    (root / "a.js").write_text("a();\nb();\n")
    after = session.ids("a.js")[0]
    new = "c();\n// ... rest of the code unchanged ..."
    out = session.edit({"after_line_id": after, "new_content": new}, path="a.js")
    assert out.code == "INVALID_CHANGE"
    assert "placeholder" in out.text
