"""What the two documents of line IDs promise, call by call, in their own order."""

import hashlib
import re

import pytest

from fsagent_tools import Policy, Workspace, execute, toolset

TEXT = "".join(f"line {n}\n" for n in range(1, 201))
FILE_TOOLS = ("read", "write", "edit_lines", "glob", "grep", "ls")
BOTH = pytest.mark.parametrize("name", ["workspace", "line_ids"])


@pytest.fixture
def tools(root):
    (root / "src").mkdir()
    (root / "src/main.py").write_text(TEXT)
    (root / "README.md").write_text("hello\n")
    opened = []

    def bound(name, **policy):
        opened.append(Workspace(root, policy=Policy(**policy)))
        return toolset(name).bind(opened[-1])

    yield bound
    for workspace in opened:
        workspace.close()


def ids(out):
    return [line[5:11] for line in out.to_dict()["output"].split("\n") if line.startswith("[LID:")]


def test_each_toolset_has_the_tools_of_its_document(tools):
    assert tuple(tools("line_ids")) == FILE_TOOLS
    rest = ("bash", "webfetch", "websearch", "lsp")
    assert tuple(tools("workspace"))[:10] == (*FILE_TOOLS, *rest)


@BOTH
def test_a_read_returns_the_documented_keys_and_its_window(tools, name):
    told = tools(name)["read"].call({"file_path": "src/main.py", "offset": 100, "limit": 50})
    out = told.to_dict()
    assert list(out)[:6] == [
        "success", "output", "line_count", "total_lines", "truncated", "offset"
    ]  # fmt: skip
    lines = out["output"].split("\n")
    assert (lines[0][13:], lines[49][13:]) == ("line 100", "line 149")
    assert (out["line_count"], out["total_lines"], out["truncated"]) == (50, 200, False)
    first = hashlib.sha256(b"100:line 100").hexdigest()[:6]
    assert lines[0].startswith(f"[LID:{first}] ")


@BOTH
def test_a_read_shows_two_thousand_lines_and_a_line_two_thousand_characters(tools, root, name):
    (root / "long").write_text("x\n" * 2_001)
    (root / "wide").write_text("y" * 2_500)
    read = tools(name)["read"]
    assert read.call({"file_path": "long"}).data["line_count"] == 2_000
    assert read.call({"file_path": "wide"}).text.endswith("y… [500 more characters]")


@BOTH
def test_a_write_makes_parents_and_returns_a_message_or_a_diff(tools, name):
    write = tools(name)["write"]
    made = write.call({"file_path": "a/b/new.py", "content": "x = 1\n"}).to_dict()
    assert made["output"] == "Created a/b/new.py (6 bytes)"
    assert (made["file_path"], made["bytes_written"], made["created"]) == ("a/b/new.py", 6, True)
    again = write.call({"file_path": "a/b/new.py", "content": "x = 2\n"}).to_dict()
    assert again["created"] is False
    assert again["output"].startswith("--- a/a/b/new.py\n+++ b/a/b/new.py\n@@ ")


@BOTH
def test_an_edit_takes_both_forms_from_the_bottom_up(tools, root, name):
    tool = tools(name)
    edit = {"file_path": "src/main.py", "changes": [{"line_id": "a3f2c1", "new_content": "x"}]}
    assert "Read the file first to generate line IDs" in tool["edit_lines"].call(edit).text
    named = ids(tool["read"].call({"file_path": "src/main.py"}))
    changes = [
        {"line_id": named[0], "new_content": "first\nand more"},
        {"start_line_id": named[9], "end_line_id": named[11], "new_content": "range"},
    ]
    out = tool["edit_lines"].call({"file_path": "src/main.py", "changes": changes}).to_dict()
    assert (out["success"], out["changes_applied"]) == (True, 2)
    assert out["lines_changed"] == 5
    assert "--- a/src/main.py\n+++ b/src/main.py\n@@ " in out["output"]
    lines = (root / "src/main.py").read_text().splitlines()
    assert lines[:3] == ["first", "and more", "line 2"]
    assert lines[9:12] == ["line 9", "range", "line 13"]


def test_the_strict_document_wants_a_read_after_any_change(tools, root):
    tool = tools("line_ids")
    named = ids(tool["read"].call({"file_path": "src/main.py"}))
    (root / "src/main.py").write_text(TEXT.replace("line 200", "changed"))
    edit = {"file_path": "src/main.py", "changes": [{"line_id": named[0], "new_content": "x"}]}
    stale = tool["edit_lines"].call(edit)
    assert stale.code == "STALE_LINE_IDS"
    assert "File has changed since last read. Re-read" in stale.text
    named = ids(tool["read"].call({"file_path": "src/main.py"}))
    assert tool["edit_lines"].call(edit).ok
    after = {"line_id": named[1], "new_content": "y"}
    again = tool["edit_lines"].call({"file_path": "src/main.py", "changes": [after]})
    assert again.code == "NO_LINE_INDEX"


@BOTH
def test_an_unknown_id_is_refused_with_ids_there_are(tools, name):
    tool = tools(name)
    named = ids(tool["read"].call({"file_path": "src/main.py"}))
    changes = [{"line_id": "000000", "new_content": "x"}]
    out = tool["edit_lines"].call({"file_path": "src/main.py", "changes": changes})
    assert out.code == "UNKNOWN_LINE_ID"
    assert any(line_id in out.text for line_id in named)


@BOTH
def test_searches_return_the_documented_keys(tools, name):
    tool = tools(name)
    glob = tool["glob"].call({"pattern": "**/*.py"}).to_dict()
    assert list(glob)[:5] == ["success", "output", "files", "count", "truncated"]
    assert (glob["output"], glob["files"], glob["count"]) == ("src/main.py", ["src/main.py"], 1)
    tool["read"].call({"file_path": "src/main.py"})
    grep = tool["grep"].call({"pattern": "line 42$", "include": "*.py"}).to_dict()
    assert list(grep)[:5] == ["success", "output", "matches", "count", "truncated"]
    (match,) = grep["matches"]
    assert grep["output"] == f"src/main.py:42:[LID:{match['line_id']}]:line 42"
    assert (match["file"], match["line"], match["content"]) == ("src/main.py", 42, "line 42")
    ls = tool["ls"].call({}).to_dict()
    entries = [{"name": "src", "type": "directory"}, {"name": "README.md", "type": "file"}]
    assert [entry for entry in ls["entries"] if entry["name"][0] != "."] == entries
    assert ls["output"].endswith("src/\nREADME.md")


@BOTH
def test_searches_end_after_a_hundred_results(tools, root, name):
    for n in range(101):
        (root / f"f{n:03}.txt").write_text("need\n")
    tool = tools(name)
    for out in (tool["glob"].call({"pattern": "*.txt"}), tool["grep"].call({"pattern": "need"})):
        assert (out.data["count"], out.data["truncated"]) == (100, True)


def test_only_files_with_an_index_have_ids_in_the_strict_document(tools):
    tool = tools("line_ids")
    assert "line_id" not in tool["grep"].call({"pattern": "line 42$"}).data["matches"][0]
    tool["read"].call({"file_path": "src/main.py", "limit": 1})
    assert "line_id" in tool["grep"].call({"pattern": "line 42$"}).data["matches"][0]


@BOTH
def test_every_file_tool_refuses_the_outside_and_what_is_not_there(tools, name):
    tool = tools(name)
    rest = {"write": {"content": ""}, "edit_lines": {"changes": []}}
    rest |= {"glob": {"pattern": "*"}, "grep": {"pattern": "x"}}
    for each in FILE_TOOLS:
        key = "file_path" if "file_path" in tool[each].visible else "path"
        out = tool[each].call({key: "../out", **rest.get(each, {})})
        assert out.code == "PATH_OUTSIDE_WORKSPACE", each
        if each != "write":
            out = tool[each].call({key: "none", **rest.get(each, {})})
            assert out.code in ("FILE_NOT_FOUND", "VALIDATION_ERROR"), each
    change = [{"line_id": "000000", "new_content": "x"}]
    assert tool["read"].call({"file_path": "src"}).code == "NOT_A_FILE"
    assert tool["edit_lines"].call({"file_path": "src", "changes": change}).code == "NOT_A_FILE"
    assert tool["grep"].call({"pattern": "("}).code == "INVALID_REGEX"


def test_the_workflows_of_the_plan_run_as_they_are_written(tools, root):
    tool = tools("workspace")

    def edit(changes):
        return tool["edit_lines"].call({"file_path": "src/app.py", "changes": changes})

    (root / "src/app.py").write_text("def hello():\n    return 1\n\n\ndef other():\n    return 2\n")
    (match,) = tool["grep"].call({"pattern": "def hello", "path": "src/"}).data["matches"]
    assert edit([{"line_id": match["line_id"], "new_content": "def hello_world():"}]).ok
    first = ids(tool["read"].call({"file_path": "src/app.py"}))
    assert edit([{"line_id": first[1], "new_content": "    return 10"}]).ok
    second = ids(tool["read"].call({"file_path": "src/app.py"}))
    assert [a for a in first if a in second] == [a for a in first if a != first[1]]
    last = {"start_line_id": first[4], "end_line_id": first[5]}
    assert edit([{**last, "new_content": "def others():\n    return 3"}]).ok
    other = toolset("workspace").bind(Workspace(root))  # as after a restart
    change = [{"line_id": first[0], "new_content": "def hello():"}]
    assert other["edit_lines"].call({"file_path": "src/app.py", "changes": change}).ok
    assert (root / "src/app.py").read_text() == (
        "def hello():\n    return 10\n\n\ndef others():\n    return 3\n"
    )


def test_a_tool_is_called_once_by_its_name_and_the_path_of_the_project(root):
    (root / "a.txt").write_text("hello\n")
    out = execute("read", {"file_path": "a.txt"}, str(root))
    assert (out["success"], out["line_count"]) == (True, 1)
    assert re.fullmatch(r"\[LID:[0-9a-f]{6}\] hello", out["output"])
    out = execute("read", {"file_path": "../a.txt"}, str(root))
    assert out["success"] is False
    assert "outside" in out["error"]
