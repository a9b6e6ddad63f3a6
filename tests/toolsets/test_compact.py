"""The toolset compact, as compact-filesystem.md has it."""

import json
import os

import pytest

from fsagent_tools import Policy, Workspace, toolset
from fsagent_tools.policy import UNREAD_BYTES
from fsagent_tools.toolkit import tokens

COMPACT = toolset("compact")
MOST_TOKENS = 450
LARGE = "line\n" * 200


@pytest.fixture
def compact(root):
    """`compact()` starts a session; keywords are the policy's."""
    opened = []

    def start(chosen=COMPACT, **policy):
        opened.append(Workspace(root, policy=Policy(**policy)))
        return chosen.bind(opened[-1])

    yield start
    for workspace in opened:
        workspace.close()


def test_five_tools_show_what_the_document_shows(compact):
    shown = {name: list(tool.schema["properties"]) for name, tool in compact().items()}
    assert shown == {
        "Read": ["file_path", "offset", "limit"],
        "Write": ["file_path", "content"],
        "Edit": ["file_path", "old_string", "new_string"],
        "Glob": ["pattern", "path"],
        "Grep": ["pattern", "path"],
    }
    assert compact()["Edit"].schema["required"] == ["file_path", "old_string", "new_string"]
    assert compact()["Read"].schema["required"] == ["file_path"]


def test_the_five_definitions_are_cheap(compact):
    assert tokens.counter() is not None
    cost = tokens.cost([tokens.definition(tool) for tool in compact().values()])
    assert sum(cost.values()) <= MOST_TOKENS, cost


def test_read_counts_offsets_from_0_and_numbers_from_1(compact, root):
    (root / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    read = compact()["Read"]
    out = read.call({"file_path": str(root / "a.txt"), "offset": 1, "limit": 2})
    assert out.text == "     2\ttwo\n     3\tthree\n(lines 2-3 of 4; continue with offset=3)"
    assert read.call({"path": "a.txt", "offset": 3}).text == "     4\tfour"
    metadata = out.to_dict()["metadata"]
    assert metadata["path"] == str(root / "a.txt")
    assert (metadata["size"], metadata["lines"]) == (19, 4)
    assert metadata["mtime"] == pytest.approx((root / "a.txt").stat().st_mtime)
    assert "offset=4 is past the end" in read.call({"file_path": "a.txt", "offset": 4}).text
    assert read.call({"file_path": "a.txt", "offset": -1}).code == "VALIDATION_ERROR"


def test_write_tells_what_it_did(compact, root):
    write = compact()["Write"]
    made = write.call({"file_path": "new/a.txt", "content": "one\ntwo\n"}).to_dict()["metadata"]
    assert made == {
        "path": str(root / "new/a.txt"),
        "size": 8,
        "lines": 2,
        "operation": "create",
        "bytes_written": 8,
    }
    again = write.call({"file_path": "new/a.txt", "content": "1\n"}).to_dict()
    assert again["success"]
    assert again["metadata"]["operation"] == "update"
    assert again["metadata"]["lines"] == 1
    assert write.call({"file_path": "no/b", "content": ""}, create_dirs=False).code == (
        "FILE_NOT_FOUND"
    )


def test_edit_tells_what_it_did(compact, root):
    (root / "a.txt").write_text("one\ntwo\n")
    out = compact()["Edit"].call({"file_path": "a.txt", "old_string": "two", "new_string": "2\n3"})
    metadata = out.to_dict()["metadata"]
    assert metadata["path"] == str(root / "a.txt")
    assert metadata["diff"].endswith("@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3")
    assert [metadata[key] for key in ("size", "lines", "insertions", "deletions")] == [8, 3, 2, 1]
    refused = compact()["Edit"].call({"file_path": "a.txt", "old_string": "x", "new_string": "y"})
    assert refused.to_dict()["success"] is False
    assert refused.to_dict()["code"] == "STRING_NOT_FOUND"


def test_replace_all_works_passed_shown_and_as_a_default(compact, root):
    call = {"file_path": "a.txt", "old_string": "a", "new_string": "b"}
    for start in (
        lambda: compact()["Edit"].call(call, replace_all=True),
        lambda: compact(COMPACT.showing({"Edit": ["replace_all"]}))["Edit"].call(
            {**call, "replace_all": "true"}
        ),
        lambda: compact(COMPACT.with_defaults({"Edit": {"replace_all": True}}))["Edit"].call(call),
    ):
        (root / "a.txt").write_text("a a")
        assert compact()["Edit"].call(call).code == "MULTIPLE_MATCHES"
        assert compact()["Edit"].call(call, replace_all=False).code == "MULTIPLE_MATCHES"
        assert start().ok
        assert (root / "a.txt").read_text() == "b b"


def test_a_shown_replace_all_is_a_boolean(compact):
    shown = compact(COMPACT.showing({"Edit": ["replace_all", "insert_at_line"]}))
    schema = shown["Edit"].schema
    assert schema["properties"]["replace_all"]["type"] == "boolean"
    assert schema["required"] == ["file_path", "old_string", "new_string"]


def test_glob_lists_absolute_paths_newest_first(compact, root):
    for age, name in enumerate(["c.py", "sub/a.py", "b.py"]):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).touch()
        os.utime(root / name, (1e9 - age, 1e9 - age))
    glob = compact()["Glob"]
    out = glob.call({"pattern": "**/*.py"})
    wanted = [str(root / name) for name in ("c.py", "sub/a.py", "b.py")]
    assert out.text.split("\n") == wanted
    assert out.to_dict()["metadata"]["files"] == wanted
    assert glob.call({"pattern": "sub"}, type="dir").data["files"] == [str(root / "sub")]
    assert glob.call({"pattern": "*.py"}, max_results=1).data["files"] == wanted[:1]
    (root / ".hidden.py").touch()
    assert glob.call({"pattern": "*.py"}, include_hidden=True).data["count"] == 4
    (root / "link").symlink_to("sub")
    assert glob.call({"pattern": "link/*.py"}, follow_symlinks=True).data["count"] == 1


def test_grep_modes_and_hidden_parameters(compact, root):
    (root / "a.py").write_text("one\nTWO\nthree\ntwo\n")
    (root / "sub").mkdir()
    (root / "sub/b.txt").write_text("two\n")
    grep = compact()["Grep"]
    a, b = str(root / "a.py"), str(root / "sub/b.txt")
    assert grep.call({"pattern": "two"}).text == f"{a}:4:two\n{b}:1:two"
    assert grep.call({"pattern": "two", "path": "sub"}).text == f"{b}:1:two"
    assert grep.call({"pattern": "two"}, glob="*.py").text == f"{a}:4:two"
    assert grep.call({"pattern": "two"}, type="py").text == f"{a}:4:two"
    assert grep.call({"pattern": "two"}, context=1).text.startswith(f"{a}-3-three\n{a}:4:two\n--")
    assert grep.call({"pattern": "two"}, recursive=False).text == f"{a}:4:two"
    assert grep.call({"pattern": "two"}, case_sensitive=False).data["count"] == 3
    assert grep.call({"pattern": "two"}, output_mode="files_with_matches").text == f"{a}\n{b}"
    assert grep.call({"pattern": "two"}, output_mode="count").text == f"{a}:1\n{b}:1"
    assert grep.call({"pattern": "e.T"}, multiline=True).data["count"] == 2
    assert grep.call({"pattern": "two"}, offset=1).text == f"{b}:1:two"
    assert grep.call({"pattern": "two"}, max_results=1).data["truncated"]
    shown = compact(COMPACT.showing({"Grep": ["glob", "output_mode"]}))["Grep"]
    assert shown.call({"pattern": "two", "glob": "*.txt"}).data["count"] == 1


def change(**more):
    return {"file_path": "a.txt", "old_string": "unique", "new_string": "changed", **more}


def test_a_large_file_must_be_read_before_it_is_edited(compact, root):
    text = LARGE + "unique\n"
    (root / "a.txt").write_text(text)
    tools = compact()
    out = tools["Edit"].call(change())
    assert out.code == "FILE_NOT_READ"
    assert "Read it first" in out.text
    assert tools["Edit"].call({**change(), "old_string": ""}, insert_at_line=1).code == out.code
    assert (root / "a.txt").read_text() == text
    assert tools["Read"].call({"file_path": "a.txt", "limit": 1}).ok
    assert tools["Edit"].call(change()).ok
    assert tools["Edit"].call({**change(), "old_string": "changed", "new_string": "again"}).ok
    assert compact()["Edit"].call({**change(), "old_string": "again"}).code == out.code


def test_small_files_just_written_ones_and_grepped_lines_need_no_read(compact, root):
    tools = compact()
    (root / "a.txt").write_text("unique\n" + "x" * (UNREAD_BYTES - 7))
    assert tools["Edit"].call(change()).ok
    assert tools["Write"].call({"file_path": "b.txt", "content": LARGE + "unique"}).ok
    assert tools["Edit"].call(change(file_path="b.txt")).ok
    (root / "c.txt").write_text(LARGE + "unique\n")
    assert tools["Grep"].call({"pattern": "unique"}).ok
    assert tools["Edit"].call(change(file_path="c.txt")).ok
    (root / "d.txt").write_text(LARGE + "unique\n")
    assert tools["Grep"].call({"pattern": "unique"}, output_mode="count").ok
    assert tools["Edit"].call(change(file_path="d.txt")).code == "FILE_NOT_READ"


@pytest.mark.parametrize(("bytes_", "code"), [(None, "OK"), (2000, "OK"), (10, "FILE_NOT_READ")])
def test_the_gate_is_the_policys(bytes_, code, compact, root):
    (root / "a.txt").write_text(LARGE + "unique\n")
    assert compact(read_before_edit=bytes_)["Edit"].call(change()).code == code


def test_hidden_parameters_of_edit(compact, root):
    edit = compact()["Edit"]
    (root / "a.txt").write_text("\tif one:\n\t\tpass\n")
    call = {"file_path": "a.txt", "old_string": "if onne:\n    pass", "new_string": "if two:"}
    out = edit.call(call, fuzzy_threshold=1.0, max_suggestions=1)
    assert out.code == "STRING_NOT_FOUND"
    assert out.text.count("alike") == 1
    assert "LID" not in out.text
    assert edit.call(call, fuzzy_threshold=0.7).ok
    assert edit.call({"file_path": "a.txt", "new_string": "top"}, insert_at_line=1).ok
    assert (root / "a.txt").read_text() == "top\n\tif two:\n"
    (root / "a.txt").write_bytes(b"caf\xe9\n")
    assert edit.call(
        {"file_path": "a.txt", "old_string": "é", "new_string": "è"}, encoding="latin-1"
    ).ok
    assert (root / "a.txt").read_bytes() == b"caf\xe8\n"


def test_how_a_text_was_fitted_in_is_said_once(compact, root):
    (root / "fit.py").write_text("def b():\n    x = 1\n    return x\n")
    tools = compact()
    tools["Read"].call({"file_path": "fit.py"})
    sent = {"old_string": "def b():\n  x = 1", "new_string": "def b():\n  x = 3"}
    out = tools["Edit"].call({"file_path": "fit.py", **sent})
    assert out.ok, out.text
    assert out.text.startswith("No exact match; matched by white_space, re-indented")
    assert out.text.count("re-indented") == 1


def test_everything_returned_is_json(compact, root):
    (root / "a.txt").write_text("one\n")
    tools = compact()
    for name, call in {
        "Read": {"file_path": "a.txt"},
        "Edit": {"file_path": "a.txt", "old_string": "one", "new_string": "two"},
        "Glob": {"pattern": "*"},
        "Grep": {"pattern": "two"},
    }.items():
        told = tools[name].call(call).to_dict()
        assert set(told) == {"success", "output", "metadata"}
        json.dumps(told)


def test_a_hidden_parameter_is_taken_with_the_value_that_it_has_anyway(compact, root):
    tools = compact()
    (root / "a.txt").write_text("one two\none\n")
    path = str(root / "a.txt")
    tools["Read"].call({"file_path": path})
    edit = {"file_path": path, "old_string": "two", "new_string": "2"}
    assert tools["Edit"].call({**edit, "replace_all": False}).ok
    out = tools["Edit"].call({**edit, "gate": True})
    assert out.text.startswith("Error: Unknown argument 'gate'.")


def test_replace_all_is_taken_though_it_is_not_shown(compact, root):
    tools = compact()
    (root / "a.txt").write_text("one two\none\n")
    path = str(root / "a.txt")
    edit = {"file_path": path, "old_string": "one", "new_string": "1", "replace_all": True}
    assert "replace_all" not in tools["Edit"].schema["properties"]
    assert tools["Edit"].call(edit).ok
    assert (root / "a.txt").read_text() == "1 two\n1\n"


def test_a_command_starts_no_job_where_no_tool_reads_one(root):
    tools = toolset("compact").joined(toolset("workspace").only("bash", "ls")).bind(Workspace(root))
    assert "background" not in tools["bash"].schema["properties"]
    out = tools["bash"].call({"command": "echo one", "background": True})
    assert out.text.startswith("Error: Unknown argument 'background'.")
    late = tools["bash"].call({"command": "sleep 5", "timeout": 1})
    assert late.code == "TIMEOUT"
    assert "background" not in late.text


def test_a_search_counts_what_is_behind_its_cap(compact, root):
    for number in range(12):
        (root / f"{number}.txt").write_text("one\n")
    tools = compact(COMPACT.with_defaults({"Glob": {"max_results": 5}, "Grep": {"max_results": 5}}))
    assert "First 5 of 12 results: use" in tools["Glob"].call({"pattern": "*.txt"}).text
    assert "First 5 of 12 results: use" in tools["Grep"].call({"pattern": "one"}).text
