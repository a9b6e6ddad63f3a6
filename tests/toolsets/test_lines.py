"""The toolset `lines`: the default tools in the style `words`, and what reads can do besides."""

import pytest

from fsagent_tools import Workspace, execute, toolset
from fsagent_tools.options import select_tools
from fsagent_tools.tools.tokens import cost, definition

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


def test_ids_are_words_unless_the_workspace_was_told_otherwise_or_has_shown_some(root, tools):
    assert tools["read"].workspace.session.style.name == "words"
    assert select_tools(root, "lines")[0].workspace.session.style.name == "words"
    told_so = Workspace(root, line_ids="short")
    assert toolset("lines").bind(told_so)["read"].workspace.session.style.name == "short"
    used = Workspace(root)
    toolset("workspace").bind(used)["read"].call({"file_path": "a.py"})
    assert toolset("lines").bind(used)["read"].workspace.session.style.name == "tag"
    assert "\tq = 1" in execute("read", {"file_path": "b.py"}, root, toolset="lines")["output"]


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
