"""edit and insert on real files: what changes, what stays, what is told."""

import re

import pytest

from fsagent_tools import Policy, Tool, Toolset, Workspace, toolset
from fsagent_tools.types import Entry


@pytest.fixture
def tool(root):
    """`tool(action)` or `tool(action, policy)`, in one session."""
    opened = {}

    def bound(action, policy=None):
        workspace = opened.setdefault(policy, Workspace(root, policy=policy))
        return Tool(Entry(action), workspace)

    yield bound
    for workspace in opened.values():
        workspace.close()


def sent(old, new, path="a.txt"):
    return {"path": path, "old_string": old, "new_string": new}


FILES = {
    "LF": b"one\ntwo\nthree\n",
    "CRLF": b"one\r\ntwo\r\nthree\r\n",
    "mixed": b"one\r\ntwo\nthree\r\n",
    "bare CR": b"one\rtwo\rthree\r",
    "a CR inside a line": b"o\rne\ntwo\nthr\ree\n",
    "BOM": b"\xef\xbb\xbfone\ntwo\nthree\n",
    "UTF-16": "one\ntwo\nthree\n".encode("utf-16"),
    "UTF-16 BE CRLF": b"\xfe\xff" + "one\r\ntwo\r\nthree\r\n".encode("utf-16-be"),
    "latin-1": "ähnlich\ntwo\nträge Größe\n".encode("latin-1"),
    "no final newline": b"one\ntwo\nthree",
    "form feeds and odd separators": "one\f\ntwo\nthr\u2028ee\x85\n".encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_every_byte_outside_the_match_survives(name, tool, root):
    before = FILES[name]
    (root / "a.txt").write_bytes(before)
    out = tool("edit").call(sent("two", "2"))
    assert out.ok, out.text
    wide = "utf-16" if name == "UTF-16" else ""
    two, one = ("two".encode("utf-16-le"), "2".encode("utf-16-le")) if wide else (b"two", b"2")
    if name == "UTF-16 BE CRLF":
        two, one = "two".encode("utf-16-be"), "2".encode("utf-16-be")
    assert (root / "a.txt").read_bytes() == before.replace(two, one)
    assert (out.data["insertions"], out.data["deletions"]) == (1, 1)


@pytest.mark.parametrize("name", FILES)
def test_inserted_lines_take_the_endings_of_the_file(name, tool, root):
    (root / "a.txt").write_bytes(FILES[name])
    out = tool("insert").call({"path": "a.txt", "line": 2, "content": "new\nlines"})
    assert out.ok, out.text
    encoding = {"UTF-16": "utf-16", "UTF-16 BE CRLF": "utf-16", "latin-1": "latin-1"}.get(
        name, "utf-8"
    )
    text = (root / "a.txt").read_bytes().decode(encoding)
    end = {"CRLF": "\r\n", "mixed": "\r\n", "bare CR": "\r", "UTF-16 BE CRLF": "\r\n"}.get(
        name, "\n"
    )
    old = FILES[name].decode(encoding)
    assert text == old.replace("two", f"new{end}lines{end}two", 1)


@pytest.mark.parametrize(
    ("before", "line", "content", "after"),
    [
        (b"a\nb\n", 1, "x", b"x\na\nb\n"),
        (b"a\nb\n", 3, "x\n", b"a\nb\nx\n"),
        (b"a\nb", 3, "x", b"a\nb\nx"),
        (b"", 1, "x", b"x\n"),
        (b"a\r\n", 2, "x\ny", b"a\r\nx\r\ny\r\n"),
        (b"a\n", 1, "\n", b"\na\n"),
    ],
)
def test_insertion_before_a_line_or_behind_the_last(before, line, content, after, tool, root):
    (root / "a.txt").write_bytes(before)
    out = tool("insert").call({"path": "a.txt", "line": line, "content": content})
    assert out.ok, out.text
    assert (root / "a.txt").read_bytes() == after


@pytest.mark.parametrize("line", [0, -1, 4, 10**30])
def test_a_line_out_of_range_is_refused(line, tool, root):
    (root / "a.txt").write_bytes(b"a\nb\n")
    out = tool("insert").call({"path": "a.txt", "line": line, "content": "x"})
    assert out.code == "VALIDATION_ERROR"
    assert "line" in out.text
    assert (root / "a.txt").read_bytes() == b"a\nb\n"


def test_edit_can_insert_instead_and_then_quotes_nothing(tool, root):
    (root / "a.txt").write_bytes(b"a\nb\n")
    out = tool("edit").call({"path": "a.txt", "new_string": "x"}, insert_at_line=2)
    assert out.ok, out.text
    assert (root / "a.txt").read_bytes() == b"a\nx\nb\n"
    out = tool("edit").call(sent("a", "x"), insert_at_line=2)
    assert out.code == "VALIDATION_ERROR"
    out = tool("edit").call({"path": "a.txt", "new_string": "x"}, insert_at_line=9)
    assert "line=9 is past the end; a.txt has 3 lines." in out.text
    assert tool("edit").call({"path": "a.txt", "new_string": "x"}).code == "VALIDATION_ERROR"


def test_what_an_edit_returns(tool, root):
    (root / "a.txt").write_bytes(b"1\n2\n3\nold\n5\n6\n7\n")
    out = tool("edit").call(sent("old", "new\nlines"), marks="none")
    assert out.data == {
        "path": "a.txt",
        "absolute": str(root / "a.txt"),
        "size": 22,
        "lines": 8,
        "diff": "--- a/a.txt\n+++ b/a.txt\n@@ -1,7 +1,8 @@\n"
        " 1\n 2\n 3\n-old\n+new\n+lines\n 5\n 6\n 7",
        "insertions": 2,
        "deletions": 1,
        "replacements": 1,
        "strategy": "exact",
        "note": "",
        "preview": "2 2\n3 3\n4 new\n5 lines\n6 5\n7 6",
    }
    assert out.text == out.data["diff"]


def test_what_was_done_is_named_when_the_match_was_not_exact(tool, root):
    (root / "a.txt").write_bytes(b"\tif alpha:\n\t\ty\n")
    out = tool("edit").call(sent("    if alpha:", "    if beta:"))
    assert out.ok, out.text
    assert (root / "a.txt").read_bytes() == b"\tif beta:\n\t\ty\n"
    first = out.text.split("\n")[0]
    assert first.startswith(f"No exact match; matched by {out.data['strategy']}, re-indented")


def test_the_later_lines_of_a_python_block_get_the_indentation_of_the_first(tool, root):
    before = "def f(x):\n    if x:\n        return 1\n    return 0\n"
    (root / "a.py").write_text(before)
    out = tool("edit").call(sent("return 1", "if x > 3:\n    return 3\nreturn 1", "a.py"))
    assert "Re-indented by 8 columns." in out.text
    compile((root / "a.py").read_text(), "a.py", "exec")


def test_a_reading_that_does_not_parse_gives_way_to_one_that_does(tool, root):
    before = "class A:\n    class B:\n        def f():\n            return value\n"
    change = (
        "        return value",
        "            return value\n\n        def g():\n            pass",
    )
    (root / "a.py").write_text(before)
    assert tool("edit").call(sent(*change, "a.py")).ok
    compile((root / "a.py").read_text(), "a.py", "exec")


def test_some_of_several_occurrences_are_named(tool, root):
    (root / "a.txt").write_bytes(b"old\nold\nkeep\nold\n")
    out = tool("edit").call(sent("old", "new"), occurrences=2)
    assert out.text.startswith("Replaced 2 of 3 occurrences (lines 1, 2).\n")
    assert "Replaced 1 of 1" not in tool("edit").call(sent("old", "last"), occurrences=2).text
    (root / "a.txt").write_bytes(b"")
    assert "Replaced 3" not in tool("edit").call(sent("", "text"), occurrences=3).text


def test_a_line_that_would_stand_twice_is_refused_until_it_is_quoted(tool, root):
    (root / "a.txt").write_bytes(b"one\ntwo\nthree\n")
    for _ in range(2):
        out = tool("edit").call(sent("two", "2\nthree"))
        assert out.code == "INVALID_CHANGE"
        assert re.search(r"\[LID:\w{6}\] three$", out.text)
        assert (root / "a.txt").read_bytes() == b"one\ntwo\nthree\n"
    assert tool("edit").call(sent("two\nthree", "2\nthree\nthree")).ok
    assert (root / "a.txt").read_bytes() == b"one\n2\nthree\nthree\n"


def test_an_edit_by_text_carries_ids_and_returns_the_fresh_ones(session, root):
    (root / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\nsix\n")
    ids = session.ids()
    out = Tool(Entry("edit"), session.workspace).call(sent("three\n", "3\nand\n"))
    assert out.ok, out.text
    now = session.ids()
    assert [*now[:2], *now[4:]] == [*ids[:2], *ids[3:]]
    assert [line_id in out.text for line_id in now] == [False] * 2 + [True] * 3 + [False] * 2
    assert session.edit({"line_id": now[2], "new_content": "III"}).ok
    assert (root / "a.txt").read_text() == "one\ntwo\nIII\nand\nfour\nfive\nsix\n"


def test_a_miss_names_the_nearest_lines_with_ids_that_edit_lines_takes(session, root):
    (root / "a.py").write_text("def alpha(x):\n    return x\n\ndef beta(y):\n    return y + 1\n")
    out = Tool(Entry("edit"), session.workspace).call(
        sent("def betta(y, z):\n    return zz", "x", "a.py")
    )
    assert out.code == "STRING_NOT_FOUND"
    assert "Lines 4-5" in out.text
    assert "] def beta(y):\n" in out.text
    assert "Nothing was written." in out.text
    (line_id, _) = out.data["suggestions"][0]["line_ids"]
    assert f"[LID:{line_id}] def beta(y):" in out.text
    assert session.edit({"line_id": line_id, "new_content": "def gamma(y):"}, path="a.py").ok


@pytest.mark.parametrize("marks", ["ids", "none"])
def test_of_several_places_each_is_shown_with_lines_that_tell_it_from_the_others(marks, tool, root):
    (root / "a.py").write_text("def f():\n\treturn x\n\n\ndef g():\n\treturn x\n")
    out = tool("edit").call(sent("return x", "return y", "a.py"), marks=marks)
    assert out.code == "MULTIPLE_MATCHES"
    assert "Quote more of the neighbouring lines" in out.text.split("\n")[0]
    shown = [re.sub(r"^(\[LID:\w+\]|\d+) ", "", row) for row in out.text.split("\n")[1:]]
    assert shown == ["def f():", "\treturn x", "...", "def g():", "\treturn x"]


def test_a_miss_where_no_ids_are_shown_has_numbers(tool, root):
    (root / "a.py").write_text("def beta(y):\n\treturn y + 1 \n")
    out = tool("edit").call(
        sent("def betta(y, z):\n    return zz", "x", "a.py"), marks="none", max_suggestions=1
    )
    assert "\n1 def beta(y):\n2 \treturn y + 1" in out.text
    assert "LID" not in out.text
    assert (
        "Most similar"
        not in tool("edit").call(sent("def betta(y, z):", "x", "a.py"), max_suggestions=0).text
    )


@pytest.mark.parametrize(
    ("how", "after", "count"),
    [("first", b"x a a", 1), (2, b"x x a", 2), ("all", b"x x x", 3), (7, b"x x x", 3)],
)
def test_several_occurrences_where_they_were_asked_for(how, after, count, tool, root):
    (root / "a.txt").write_bytes(b"a a a")
    assert tool("edit").call(sent("a", "x")).code == "MULTIPLE_MATCHES"
    out = tool("edit").call(sent("a", "x"), occurrences=how)
    assert (root / "a.txt").read_bytes() == after
    assert out.data["replacements"] == count


def test_an_empty_file_is_filled_and_no_other_takes_an_empty_quote(tool, root):
    (root / "a.txt").write_bytes(b"")
    assert tool("edit").call(sent("", "text\n")).data["strategy"] == "exact"
    assert (root / "a.txt").read_bytes() == b"text\n"
    out = tool("edit").call(sent("", "more"))
    assert out.code == "VALIDATION_ERROR"
    assert (root / "a.txt").read_bytes() == b"text\n"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("one", "one", "VALIDATION_ERROR"),
        ("nowhere", "x", "STRING_NOT_FOUND"),
        ("one", "\ud800", "VALIDATION_ERROR"),
        ("one", "\u4e2d", "ENCODING_ERROR"),
        ("one", "# ... existing code ...", "INVALID_CHANGE"),
    ],
)
def test_a_refusal_leaves_every_byte(old, new, code, tool, root):
    raw = "one äöü größer\ntwo\n".encode("latin-1")
    (root / "a.txt").write_bytes(raw)
    out = tool("edit").call(sent(old, new))
    assert out.code == code, out.text
    assert (root / "a.txt").read_bytes() == raw


def test_a_whole_line_goes_and_a_file_can_become_empty(tool, root):
    (root / "a.txt").write_bytes(b"one\ntwo\n")
    out = tool("edit").call(sent("one\n", ""))
    assert (out.data["insertions"], out.data["deletions"], out.data["lines"]) == (0, 1, 1)
    out = tool("edit").call(sent("two\n", ""))
    assert (root / "a.txt").read_bytes() == b""
    assert out.data["lines"] == 0
    assert "empty" in out.text


@pytest.mark.full
def test_ten_thousand_replacements_are_told_in_brief(tool, root):
    (root / "a.txt").write_bytes(b"old\nkeep\nkeep\nkeep\nkeep\nkeep\n" * 10_000)
    out = tool("edit").call(sent("old", "new"), occurrences="all")
    assert (root / "a.txt").read_bytes().count(b"new") == 10_000
    assert len(out.text) < 60_000
    assert out.data["deletions"] == 10_000


def test_a_read_only_policy_refuses(tool, root):
    (root / "a.txt").write_bytes(b"one\n")
    for action, arguments in [
        ("edit", sent("one", "two")),
        ("insert", {"path": "a.txt", "line": 1, "content": "x"}),
    ]:
        assert tool(action, Policy(readonly=True)).call(arguments).code == "READONLY"
        assert tool(action).permissions == ("fs.read", "fs.write")


@pytest.mark.parametrize("text", ["alpha\n%s\n", "alpha\r\n%s\r\n", "%s\r\n", "%s", "a\r%s\r"])
def test_suggestions_at_the_end_of_the_file_carry_their_ids(text, root, tool):
    line = "the quick %b brown 100% fox jumps over"
    (root / "a.txt").write_bytes((text % line).encode())
    out = tool("edit").call(sent("the quick %b brown 100% fox jumped over\nzzz", "new"))
    assert out.code == "STRING_NOT_FOUND"
    assert re.search(rf"^\[LID:[0-9a-f]{{6}}\] {line}$", out.text, re.M)


@pytest.mark.parametrize("tool", ["write", "edit", "undo"])
def test_a_diff_is_shown_in_part_where_lines_or_their_number_are_huge(root, tool):
    rows = toolset("filesystem").entries
    tools = Toolset("mine", (*rows, Entry("undo", show=("dry_run",)))).bind(Workspace(root))
    old = "a" * 200_000 + "\n" + "".join(f"line {n}\n" for n in range(3000))
    tools["write"].call({"path": "long", "content": old})
    whole = old.replace("a", "b").replace("line", "row")
    sent = {
        "write": {"path": "long", "content": whole},
        "edit": {"path": "long", "old_string": old, "new_string": whole},
        "undo": {"dry_run": True},
    }
    if tool == "undo":
        tools["write"].call(sent["write"])
    done = tools[tool].call(sent[tool])
    assert done.ok, done.text[:1000]
    assert len(done.text) < 10_000
    clipped = "… [198,000 more characters]" if tool == "edit" else "[column 1] "
    assert clipped in done.text
    left_out = (
        "(2,991 added lines not shown)" if tool == "edit" else "more lines of the diff not shown"
    )
    assert left_out in done.text
    assert len(done.data["diff"]) > 400_000


def test_what_a_refusal_quotes_stands_on_lines_of_its_own(tool, root):
    (root / "a.py").write_text("a = 1\nb = 2\nc = 3\n")
    out = tool("edit").call(sent("b = 2", "b = 7\nc = 3", "a.py"))
    assert re.search(r"\n\[LID:\w{6}\] c = 3$", out.text)


def test_a_text_stays_a_text_without_nul(tool, root):
    (root / "a.txt").write_text("a = 1\n")
    for call in (
        lambda: tool("edit").call(sent("1", "'\0'")),
        lambda: tool("insert").call({"path": "a.txt", "line": 1, "content": "\0\n"}),
    ):
        out = call()
        assert "NUL" in out.text
        assert (root / "a.txt").read_text() == "a = 1\n"


def test_a_mark_that_comes_along_with_the_first_line_is_not_written_twice(tool, root):
    (root / "a.py").write_bytes(b"\xef\xbb\xbfimport os\nx = 1\n")
    assert tool("edit").call(sent("import os", "\ufeffimport sys", "a.py")).ok
    assert (root / "a.py").read_bytes() == b"\xef\xbb\xbfimport sys\nx = 1\n"


def test_places_on_one_line_are_shown_once(tool, root):
    (root / "a.txt").write_text("One\n-----\n\nTwo\n---\n")
    out = tool("edit").call(sent("---", "~~~"))
    assert out.code == "MULTIPLE_MATCHES"
    assert "fits 4 places: lines 2, 5." in out.text
    assert re.findall(r"\[LID:\w{6}\] (.+)", out.text) == ["-----", "Two", "---"]


def test_of_many_lines_that_were_sent_the_ends_are_told(root):
    old, new = ("\n".join(f"{word} {n}" for n in range(40)) for word in ("old", "new"))
    (root / "a.txt").write_text(f"top\n{old}\nend\n")
    tools = toolset("compact").bind(Workspace(root))
    call = {"file_path": str(root / "a.txt"), "old_string": old, "new_string": new}
    done = tools["Edit"].call(call)
    assert [row for row in done.text.split("\n") if row.startswith("(")] == [
        "(30 removed lines not shown)",
        "(30 added lines not shown)",
    ]
    assert done.data["diff"].count("\n+new") == 40
