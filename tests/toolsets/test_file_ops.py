"""The toolset file_ops, as file-operations-api.md has it."""

import json

import pytest

from fsagent_tools import Outcome, Policy, Workspace, toolset
from fsagent_tools.errors import ToolError
from fsagent_tools.toolkit import window


@pytest.fixture
def tools(root):
    workspace = Workspace(root)
    yield toolset("file_ops").bind(workspace)
    workspace.close()


def replacing(old, new, **more):
    return {"file_path": "a.txt", "search_string": old, "replace_string": new, **more}


def editing(old, new):
    return {"file_path": "a.txt", "old_string": old, "new_string": new}


def test_four_tools_show_what_the_document_shows(tools):
    shown = {name: list(tool.schema["properties"]) for name, tool in tools.items()}
    assert shown == {
        "read_file": ["file_path", "offset", "limit"],
        "write": ["file_path", "content"],
        "edit_file": ["file_path", "old_string", "new_string"],
        "search_replace": ["file_path", "search_string", "replace_string", "replace_all"],
    }
    assert tools["search_replace"].schema["properties"]["replace_all"]["type"] == "boolean"
    assert tools["search_replace"].schema["required"] == [
        "file_path", "search_string", "replace_string"
    ]  # fmt: skip
    assert [tool.risk for tool in tools.values()] == ["none", *["dangerous"] * 3]


@pytest.mark.parametrize(
    "raw", [b"one\r\ntwo\nthree", b"a\rb\r", b"", b"\xef\xbb\xbfone\n", "日本\n".encode("utf-16")]
)
def test_content_is_the_text_itself(raw, tools, root):
    (root / "a.txt").write_bytes(raw)
    told = tools["read_file"].call({"file_path": "a.txt"}).to_dict()
    text = raw.decode("utf-16" if raw[:2] == b"\xff\xfe" else "utf-8-sig")
    assert told["success"] is True
    assert told["data"]["content"] == text
    assert told["data"]["file_path"] == str(root / "a.txt")
    assert set(told["data"]) == {"content", "lineCount", "file_path"}


def test_offset_and_limit_as_in_the_documents_example(tools, root):
    (root / "a.txt").write_text("".join(f"{n}\n" for n in range(5000)))
    out = tools["read_file"].call({"file_path": "a.txt", "offset": 10, "limit": 20})
    assert out.data["content"] == "".join(f"{n}\n" for n in range(10, 30))
    assert out.to_dict()["data"]["lineCount"] == 5000
    assert "continue with offset=30)" in out.text
    assert tools["read_file"].call({"file_path": "a.txt"}).data["content"].count("\n") == 5000
    long = "x" * 9000
    (root / "a.txt").write_text(long)
    assert tools["read_file"].call({"file_path": "a.txt"}).data["content"] == long


@pytest.mark.parametrize(
    "text", ["z\n" * 200_000, "x" * 3_000_000, "é\r\n" * 30_000 + "y" * 60_000]
)
def test_the_host_gets_the_whole_file_and_the_model_a_part(text, tools, root):
    (root / "a.txt").write_bytes(text.encode())
    out = tools["read_file"].call({"file_path": "a.txt"})
    assert out.to_dict()["data"]["content"] == text
    assert len(out.text.encode()) <= 51_200
    assert "continue with offset=" in out.text or "more characters]" in out.text
    part = tools["read_file"].call({"file_path": "a.txt", "limit": 20_000})
    assert part.to_dict()["data"]["content"] == "".join(text.splitlines(keepends=True)[:20_000])


def test_more_than_a_host_gets_at_once_is_refused(tools, root, monkeypatch):
    monkeypatch.setattr(window, "_WHOLE", 100_000)
    (root / "a.txt").write_text(("x" * 99 + "\n") * 1001)
    out = tools["read_file"].call({"file_path": "a.txt"})
    assert out.code == "FILE_READ_ERROR"
    assert "Set `offset` and `limit`" in out.text
    assert tools["read_file"].call({"file_path": "a.txt", "limit": 1000}).ok


def test_write_makes_directories_and_counts_bytes(tools, root):
    call = {"file_path": "nested/dir/a.txt", "content": "Grüße 世界"}
    assert tools["write"].call(call).to_dict() == {
        "success": True,
        "data": {"file_path": str(root / "nested/dir/a.txt"), "bytes_written": 14},
    }


def test_special_characters_are_plain_text(tools, root):
    (root / "a.txt").write_text("costs $100 (a+b) [x] \\1\n")
    assert tools["edit_file"].call(editing("$100", "$80 \\g<0>")).ok
    assert tools["search_replace"].call(replacing("a+b", "c+d")).ok
    assert tools["search_replace"].call(replacing("[x]", "$&")).ok
    assert (root / "a.txt").read_text() == "costs $80 \\g<0> (c+d) $& \\1\n"


def test_edit_file_replaces_what_is_there_once(tools, root):
    (root / "a.txt").write_text("a b a\n")
    assert tools["edit_file"].call(editing("b", "c")).to_dict() == {
        "success": True,
        "data": {"file_path": str(root / "a.txt"), "replacements": 1},
    }
    out = tools["edit_file"].call(editing("a", "x")).to_dict()
    assert out["success"] is False
    assert out["error"]["code"] == "MULTIPLE_MATCHES"
    assert (root / "a.txt").read_text() == "a c a\n"


@pytest.mark.parametrize(
    ("more", "after", "count"),
    [({}, "x a a", 1), ({"replace_all": False}, "x a a", 1), ({"replace_all": True}, "x x x", 3)],
)
def test_search_replace_the_first_or_all(more, after, count, tools, root):
    (root / "a.txt").write_text("a a a")
    out = tools["search_replace"].call(replacing("a", "x", **more))
    assert out.to_dict()["data"]["replacements"] == count
    assert (root / "a.txt").read_text() == after


def test_only_the_exact_text_counts(tools, root):
    (root / "a.txt").write_bytes(b"\tif x:\r\n\t\ty = 1 \r\n")
    for old in ("    if x:", "y  = 1", "y = 1\n", "If x:"):
        assert tools["edit_file"].call(editing(old, "z")).code == "STRING_NOT_FOUND"
        assert tools["search_replace"].call(replacing(old, "z")).code == "STRING_NOT_FOUND"
    assert tools["edit_file"].call(editing("x:\n\t\ty", "z:\n\t\ty")).ok
    assert (root / "a.txt").read_bytes() == b"\tif z:\r\n\t\ty = 1 \r\n"


def test_a_miss_speaks_of_the_parameters_the_model_knows(tools, root):
    (root / "a.txt").write_text("def beta(y):\n")
    out = tools["search_replace"].call(replacing("def betta(y)", "x"))
    assert "search_string" in out.text
    assert "old_string" not in out.text
    assert "1 def beta(y):" in out.text
    out = tools["search_replace"].call(replacing("x", "x"))
    assert "`search_string` and `replace_string` are the same" in out.text


TABLE = {"FILE_NOT_FOUND", "NOT_A_FILE", "MULTIPLE_MATCHES", "STRING_NOT_FOUND", "VALIDATION_ERROR"}
OWN = {
    "read_file": "FILE_READ_ERROR",
    "write": "FILE_WRITE_ERROR",
    "edit_file": "FILE_EDIT_ERROR",
    "search_replace": "FILE_REPLACE_ERROR",
}
CALLS = {
    "read_file": {},
    "write": {"content": "new\n"},
    "edit_file": {"old_string": "text", "new_string": "b"},
    "search_replace": {"search_string": "text", "replace_string": "b"},
}


def every(kind):
    return [kind, *(below for sub in kind.__subclasses__() for below in every(sub))]


@pytest.mark.parametrize("name", CALLS)
def test_no_code_but_those_of_the_table_and_one_for_bugs(name):
    shape = toolset("file_ops").bind(Workspace("."))[name].entry.result
    errors = [kind("x") for kind in every(ToolError) if kind.__module__.startswith("fsagent_tools")]
    codes = {Outcome.refused(error, shape).code for error in errors}
    assert codes == TABLE | {OWN[name], "INTERNAL_ERROR"}


@pytest.mark.parametrize("name", CALLS)
def test_refused_paths_are_invalid_and_what_fails_is_the_tools_own_error(name, root, monkeypatch):
    (root / "a.txt").write_text("text\n")
    (root / "bytes").write_bytes(b"a\0\xff" * 100)
    (root / "loop").symlink_to("loop")
    policy = Policy(denied_paths=("closed",), max_file_size=1000)
    (root / "large").write_text("a" * 1001)
    tool = toolset("file_ops").bind(Workspace(root, policy=policy))[name]

    def code(path):
        return tool.call({"file_path": path, **CALLS[name]}).to_dict()["error"]["code"]

    for path in ("../out", "/etc/passwd", "closed", "loop", "a.txt/b", "", "a\0"):
        assert code(path) == "VALIDATION_ERROR", path
    lone = {key: "\ud800" for key in CALLS[name] if key not in ("old_string", "search_string")}
    if lone:
        out = tool.call({"file_path": "a.txt", **CALLS[name], **lone}).to_dict()
        assert out["error"]["code"] == "VALIDATION_ERROR"
    for path in ("large", *(["bytes"] if name != "write" else [])):
        assert code(path) == OWN[name], path

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    for function in ("read", "pread", "write", "writev"):
        monkeypatch.setattr(f"os.{function}", refuse)
    assert code("a.txt") == OWN[name]


def test_the_documents_error_codes(tools, root, monkeypatch):
    (root / "a.txt").write_text("text\n")
    (root / "dir").mkdir()
    refusals = {
        ("read_file", "none.txt"): "FILE_NOT_FOUND",
        ("read_file", "dir"): "NOT_A_FILE",
        ("read_file", ""): "VALIDATION_ERROR",
        ("edit_file", "none.txt"): "FILE_NOT_FOUND",
        ("edit_file", "dir"): "NOT_A_FILE",
        ("search_replace", "none.txt"): "FILE_NOT_FOUND",
        ("write", "dir"): "NOT_A_FILE",
    }
    for (name, path), code in refusals.items():
        call = {"edit_file": editing("a", "b"), "search_replace": replacing("a", "b")}
        call["write"] = {"content": ""}
        out = tools[name].call({**call.get(name, {}), "file_path": path}).to_dict()
        assert out["error"]["code"] == code, out
        assert set(out) == {"success", "error"}
        assert out["error"]["message"]
        json.dumps(out)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    codes = {
        "write": {"file_path": "a.txt", "content": "x\n"},
        "edit_file": editing("text", "x"),
        "search_replace": replacing("text", "x"),
    }
    got = {name: tools[name].call(call).code for name, call in codes.items()}
    assert got == {
        "write": "FILE_WRITE_ERROR",
        "edit_file": "FILE_EDIT_ERROR",
        "search_replace": "FILE_REPLACE_ERROR",
    }
    assert (root / "a.txt").read_text() == "text\n"
