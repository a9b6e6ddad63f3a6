"""The toolset `lines`: the default tools in the style `words`, and what reads can do besides."""

import pytest

from fsagent_tools import Workspace, execute, select_tools, toolset
from fsagent_tools.toolkit.tokens import cost, definition

FILES = ("read", "write", "edit_lines", "glob", "grep", "ls")
MOST, MOST_EDIT = 620, 220  # tokens of their definitions


@pytest.fixture
def root(tmp_path):
    (tmp_path / "a.py").write_text("".join(f"x{n} = {n}\n" for n in range(60)))
    (tmp_path / "b.py").write_text("q = 1\n\nr = 2\n")
    return tmp_path


@pytest.fixture
def tools(root):
    return toolset("lines").bind(Workspace(root))


def told(tools, name, **arguments):
    out = tools[name].call(arguments)
    assert out.ok, out.text
    return out.text


def test_definitions_stay_cheap(tools):
    tokens = cost(definition(tool) for tool in tools.values())
    assert tokens["edit_lines"] <= MOST_EDIT
    assert sum(tokens[name] for name in FILES) <= MOST


def test_ids_are_words_unless_the_workspace_was_told_otherwise(root, tools):
    assert tools["read"].workspace.style.name == "words"
    assert select_tools(root)[0].workspace.style.name == "words"
    told_so = Workspace(root, line_ids="tag")
    assert toolset("lines").bind(told_so)["read"].workspace.style.name == "tag"
    used = Workspace(root)
    used.edit_text("a.py", "x0 = 0", "x0 = 1")
    assert select_tools(used)[0].workspace.style.name == "words"
    assert "\tq = 1" in execute("read", {"file_path": "b.py"}, root, "lines")["output"]


def test_each_toolset_keeps_its_style_and_what_one_has_read_counts_for_another(root):
    used = Workspace(root)
    tag, words, quoting = (toolset(name).bind(used) for name in ("workspace", "lines", "compact"))

    def ids(tools):
        rows = told(tools, "read", file_path="b.py").replace("] ", "]\t").split("\n")
        return dict(reversed(row.split("\t")) for row in rows if row.split("\t")[-1])

    def change(tools, line_id, new):
        changes = [{"line_id": line_id, "new_content": new}]
        return tools["edit_lines"].call({"file_path": "b.py", "changes": changes})

    tags, names = ids(tag), ids(words)
    assert tags["q = 1"].startswith("[LID:")
    assert names["q = 1"].isalpha()
    assert change(words, f"{names['q = 1']} q = 1", "q = 5\nq = 6").ok
    assert change(tag, tags["q = 1"], "q = 7").code == "STALE_LINE_IDS"
    assert change(tag, tags["r = 2"], "r = 6").ok
    told(quoting, "Edit", file_path="b.py", old_string="q = 5", new_string="q = 8")
    assert ids(tag)["q = 6"].startswith("[LID:")
    used.undo()
    used.undo()
    assert ids(tag)["r = 2"] == tags["r = 2"]
    assert ids(words)["r = 2"] == names["r = 2"]
    assert (root / "b.py").read_text() == "q = 5\nq = 6\n\nr = 2\n"


def test_undo_of_an_edit_by_quote_gives_lines_their_words_back(root):
    used = Workspace(root)
    words, quoting = toolset("lines").bind(used), toolset("compact").bind(used)
    before = told(words, "read", file_path="b.py")
    told(quoting, "Edit", file_path="b.py", old_string="q = 1", new_string="q = 9")
    assert told(words, "read", file_path="b.py") != before
    told(quoting, "Edit", file_path="b.py", old_string="r = 2", new_string="r = 9")
    used.undo()
    used.undo()
    assert told(words, "read", file_path="b.py") == before


def test_what_the_schema_says_of_ids_and_of_the_last_newline_is_so(tools):
    told(tools, "write", file_path="c.py", content="if a:\n    return x + 1\n\n}\n")
    one, two, blank, brace = told(tools, "read", file_path="c.py").split("\n")
    assert blank == ""
    ids = {line.split("\t")[1]: line.split("\t")[0] for line in (one, two, brace)}
    said = tools["edit_lines"].schema["properties"]["changes"]["description"]
    assert '"amp return x", "gol }"' in said
    for name, text in (("    return x + 1", "    return x\n"), ("}", "]")):
        words = " ".join(name.split()[:2])
        change = {"line_id": f"{ids[name]} {words}", "new_content": text}
        told(tools, "edit_lines", file_path="c.py", changes=[change])
    assert (tools["read"].workspace.root / "c.py").read_text() == "if a:\n    return x\n\n]\n"
    bare = {"line_id": ids["if a:"], "new_content": "if b:"}
    assert not tools["edit_lines"].call({"file_path": "c.py", "changes": [bare]}).ok


def test_one_read_takes_further_files_and_lines(tools):
    more = ["b.py", "a.py:30-31", "40", "a.py:52-51"]
    text = told(tools, "read", file_path="a.py", limit=2, more=more)
    heads = [line for line in text.split("\n") if line.startswith("== ")]
    assert heads == [
        "== a.py, lines 1-2 of 60", "== b.py, lines 1-3 of 3", "== a.py, lines 30-31 of 60",
        "== a.py, lines 40-40 of 60", "== a.py, lines 51-52 of 60",
    ]  # fmt: skip
    shown = dict(line.split("\t")[::-1] for line in text.split("\n") if "\t" in line)
    assert [*shown] == [
        "x0 = 0", "x1 = 1", "q = 1", "r = 2", "x29 = 29", "x30 = 30", "x39 = 39", "x50 = 50",
        "x51 = 51",
    ]  # fmt: skip
    change = {"line_id": f"{shown['r = 2']} r = 2", "new_content": "r = 3"}
    told(tools, "edit_lines", file_path="b.py", changes=[change])


def test_a_part_that_cannot_be_read_says_so_in_its_place(tools):
    text = told(tools, "read", file_path="b.py", more=["c.py:3-4", "a.py:61", "a.py:1"])
    assert "== c.py:3-4\nError: c.py does not exist." in text
    assert "== a.py:61\nError: `offset`=61 is past the end; a.py has 60 lines." in text
    assert text.endswith("\tx0 = 0")
    refused = tools["read"].call({"file_path": "c.py", "more": ["a.py"]})
    assert not refused.ok


def test_what_one_part_takes_the_others_lack(root):
    (root / "long.txt").write_text("w" * 1_980 + "\n")
    tools = toolset("lines").with_defaults({"read": {"max_bytes": 2_000}}).bind(Workspace(root))
    text = told(tools, "read", file_path="b.py", more=["long.txt", "a.py"])
    assert text.endswith("== a.py\nError: Not read: the answer is full. Read it in another call.")


def test_numbers_stand_before_ids_and_may_be_sent_with_them(tools):
    text = told(tools, "read", file_path="b.py", numbers=True)
    first, blank, last = text.split("\n")
    assert (first[:2], blank, last[:2]) == ("1 ", "2 ", "3 ")
    change = {"line_id": last.replace("\t", " "), "new_content": "r = 3"}
    told(tools, "edit_lines", file_path="b.py", changes=[change])
    assert "\tr = 3" in told(tools, "read", file_path="b.py")


def test_a_hit_has_its_number_beside_it(tools):
    name, one, *_ = told(tools, "grep", pattern="x1$|= 1").split("\n")
    assert name == "a.py"
    assert one.startswith("2 ")
    assert one.endswith("\tx1 = 1")
