"""A text with few NULs is text, what a search left out is named, and no tool reads a huge file."""

import os

import pytest

from fsagent_tools import Policy, Workspace, toolset

LATE = "line of a log\n" * 3000


@pytest.mark.parametrize(
    "data",
    [
        b'const SEP = "\0";\nfunction needle() {}\n',
        b"\0" * 4096 + b"needle\n",
        LATE.encode() + b"\0\0\0" + b"needle\n",
        "Größe\0 und Maße, needle\n".encode(),
        b"needle\n" + b"\0" * 5000,
    ],
)
def test_a_text_with_few_nuls_is_read_searched_and_edited(tmp_path, data):
    (tmp_path / "k.js").write_bytes(data)
    tools = toolset("workspace").bind(workspace := Workspace(tmp_path))
    for where in ({}, {"path": "k.js"}):
        shown = tools["grep"].call({"pattern": "needle", **where})
        assert "needle" in shown.text.replace("'needle'", "")
        assert "\0" not in shown.text
    assert "\0" not in (shown := tools["read"].call({"file_path": "k.js"})).text
    assert shown.ok
    workspace.edit_text("k.js", "needle", "thread")
    assert (tmp_path / "k.js").read_bytes() == data.replace(b"needle", b"thread")


def test_what_a_search_left_out_is_named_when_nothing_was_found(tmp_path):
    (tmp_path / "a.txt").write_text("something\n")
    (tmp_path / "k.bin").write_bytes(b"\0\1\2\3needle\n" * 9)
    grep = toolset("workspace").bind(Workspace(tmp_path))["grep"].call
    assert "Binary, not searched: k.bin." in grep({"pattern": "needle"}).text


def test_a_named_disk_image_is_told_at_once(tmp_path):
    with (tmp_path / "disk.img").open("wb") as file:
        file.truncate(20 << 30)
    grep = toolset("workspace").bind(Workspace(tmp_path))["grep"]
    shown = grep.call({"pattern": "needle", "path": "disk.img"})
    assert shown.text == "Not searched: disk.img is a binary file."


CALLS = {
    "lsp": {"file_path": "big.py"},
    "edit_lines": {"file_path": "big.py", "changes": [{"line_id": "a3f2c1", "new_content": "x"}]},
    "Edit": {"file_path": "big.py", "old_string": "a = 1", "new_string": "b"},
    "rename": {"file_path": "big.py", "line": 1, "name": "a", "new_name": "b"},
    "write": {"file_path": "big.py", "content": "x\n"},
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", ["nul", "text"])
def test_no_tool_takes_a_huge_file_into_memory(tmp_path, name, kind, monkeypatch):
    with (tmp_path / "big.py").open("wb") as file:
        file.write(b"" if kind == "nul" else b"a = 1\n" * 5000)
        file.truncate(400_000_000)
    taken = []
    pread = os.pread
    monkeypatch.setattr(
        os, "pread", lambda fd, size, at: taken.append(len(got := pread(fd, size, at))) or got
    )
    rows = toolset({"Edit": "compact", "rename": "refactor"}.get(name, "workspace"))
    outcome = rows.bind(Workspace(tmp_path))[name].call(CALLS[name])
    assert outcome.ok is (name == "write")
    assert sum(taken) < 20_000_000


def test_a_policy_may_raise_or_lower_the_limit(tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n" * 100)
    edit = toolset("compact").bind(Workspace(tmp_path, policy=Policy(max_file_size=100)))["Edit"]
    refused = edit.call({"file_path": "a.py", "old_string": "a", "new_string": "b"})
    assert "max_file_size" in refused.text


def test_nuls_of_a_command_reach_no_message(tmp_path):
    (tmp_path / "a.txt").write_text("x\n")
    bash = toolset("workspace").bind(Workspace(tmp_path))["bash"]
    done = bash.call({"command": "find . -name '*.txt' -print0"})
    assert "\0" not in f"{done.text}{done.data}"
    assert "./a.txt\\x00" in done.text
