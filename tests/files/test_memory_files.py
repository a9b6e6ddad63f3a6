"""Every file tool of every toolset works on files in memory."""

import re
import threading

import pytest

from fsagent_tools import TOOLSETS, Effect, MemoryFiles, Policy, Workspace, toolset
from fsagent_tools.errors import ConfigInvalid, Conflict
from fsagent_tools.files.guarded import GuardedFiles

CONTENTS = {"a.py": "x = 1\ny = 2\n", "src/b.py": "def f():\n    return 'needle'\n"}


@pytest.fixture
def files():
    return MemoryFiles(CONTENTS)


@pytest.fixture
def uses(files):
    """`uses(name, **options)` gives the tools of a toolset over the same files."""

    def make(name="workspace", **options):
        return toolset(name).bind(Workspace(files=files, **options))

    return make


def ok(tool, **arguments):
    out = tool.call(arguments)
    assert out.ok, out.text
    return out


def test_line_ids_edit_a_file_in_memory(files, uses):
    tools = uses()
    first, second = re.findall(r"LID:(\w+)", ok(tools["read"], file_path="a.py").text)
    ok(tools["edit_lines"], file_path="a.py", changes=[{"line_id": first, "new_content": "x = 9"}])
    assert files.contents()["a.py"] == b"x = 9\ny = 2\n"
    changes = [{"line_id": second, "new_content": ""}]
    ok(tools["edit_lines"], file_path="a.py", changes=changes)
    assert files.contents()["a.py"] == b"x = 9\n"
    stale = tools["edit_lines"].call({"file_path": "a.py", "changes": changes})
    assert not stale.ok


def test_an_edit_by_another_session_makes_ids_stale_as_on_a_disk(files, uses):
    mine, other = uses(), uses()
    (first, _) = re.findall(r"LID:(\w+)", ok(mine["read"], file_path="a.py").text)
    ok(other["write"], file_path="a.py", content="z = 3\ny = 2\n")
    changes = [{"line_id": first, "new_content": "lost"}]
    out = mine["edit_lines"].call({"file_path": "a.py", "changes": changes})
    assert (out.ok, out.code) == (False, "STALE_LINE_IDS")
    assert files.contents()["a.py"] == b"z = 3\ny = 2\n"


CHANGES = [
    ("workspace", "write", {"file_path": "n/a.txt", "content": "new"}, {"n/a.txt": b"new"}),
    ("compact", "Edit", {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 5"},
     {"a.py": b"x = 5\ny = 2\n"}),
    ("file_ops", "edit_file", {"file_path": "a.py", "old_string": "y = 2", "new_string": "y = 7"},
     {"a.py": b"x = 1\ny = 7\n"}),
    ("file_ops", "search_replace",
     {"file_path": "a.py", "search_string": "x", "replace_string": "w"},
     {"a.py": b"w = 1\ny = 2\n"}),
    ("filesystem", "insert", {"path": "a.py", "line": 2, "content": "m = 0"},
     {"a.py": b"x = 1\nm = 0\ny = 2\n"}),
    ("filesystem", "mv", {"source": "a.py", "destination": "src/c.py"},
     {"a.py": None, "src/c.py": b"x = 1\ny = 2\n"}),
    ("filesystem", "cp", {"source": "src", "destination": "twin"},
     {"twin/b.py": CONTENTS["src/b.py"].encode()}),
    ("filesystem", "rm", {"path": "a.py"}, {"a.py": None}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "tool", "arguments", "now"), CHANGES)
def test_tools_that_change_files(files, uses, name, tool, arguments, now):
    ok(uses(name)[tool], **arguments)
    kept = {path: text.encode() for path, text in CONTENTS.items()} | now
    assert files.contents() == {path: data for path, data in kept.items() if data is not None}


def test_tools_that_find(uses):
    tools, plain, compact = uses(), uses("filesystem"), uses("compact")
    assert ok(tools["glob"], pattern="**/*.py").data["files"] == ["a.py", "src/b.py"]
    assert ok(tools["ls"]).text.split("\n")[:2] == ["src/", "a.py"]
    assert "src/b.py:2" in ok(tools["grep"], pattern="need.e").text
    assert "needle" in ok(tools["grep"], pattern="needle", path="src/b.py").text
    assert "a.py" not in ok(tools["grep"], pattern="needle|x", include="src/*").text
    assert "src/b.py" in ok(compact["Grep"], pattern="needle").text
    assert ok(plain["mkdir"], path="d/e").ok
    assert "directory" in ok(plain["file_stat"], path="d/e").text
    assert "12 bytes" in ok(plain["file_stat"], path="a.py").text
    wrong = tools["grep"].call({"pattern": "("})
    assert (wrong.ok, wrong.code) == (False, "INVALID_REGEX")


def test_a_pattern_that_backtracks_for_ever_ends_at_once(uses):
    ok(uses()["write"], file_path="slow.txt", content="a" * 200)
    found = uses()["grep"].call({"pattern": "(?:(a+)+)+b", "path": "slow.txt"}, timeout=30)
    assert found.ok
    assert "No match" in found.text


def test_what_needs_a_directory_of_this_machine_says_so(uses):
    tools = uses()
    for name, arguments in (("bash", {"command": "true"}), ("lsp", {"file_path": "a.py"})):
        out = tools[name].call(arguments)
        assert not out.ok
        assert "directory of this machine" in out.text


def test_every_file_tool_of_every_toolset_is_refused_outside_and_by_policy(files, uses):
    closed = Policy(denied_paths=("src",))
    for name in TOOLSETS:
        for tool in uses(name, policy=closed).values():
            named = {"path", "file_path", "source"} & set(tool.visible)
            if not named or tool.effect in (Effect.EXECUTE, Effect.NETWORK):
                continue
            given = {
                **dict.fromkeys(("pattern", "content", "text", "destination"), "x"),
                **{key: "q" for key in tool.visible if key.endswith(("_string", "name"))},
                "command": "view",
                "line": 1,
                "changes": [],
                "edits": [{"oldText": "q", "newText": "r"}],
            }
            rest = {key: given[key] for key in given if key in tool.visible}
            for path in ("../out", "src/b.py"):
                out = tool.call({**rest, named.copy().pop(): path})
                assert not out.ok, (tool.name, out.text)
                codes = {"PATH_OUTSIDE_WORKSPACE", "PATH_DENIED"}
                codes = {"VALIDATION_ERROR"} if name == "file_ops" else codes
                assert out.code in codes, (tool.name, out.text)
    assert files.contents() == {path: text.encode() for path, text in CONTENTS.items()}


def test_an_approval_sees_the_change_and_a_denied_one_changes_nothing(files, uses):
    asked = []

    def approve(request):
        asked.append((request.paths, request.diff))
        return len(asked) > 1

    write = uses(approve=approve)["write"]
    arguments = {"file_path": "new/a.txt", "content": "text\n"}
    assert write.call(arguments).code == "APPROVAL_DENIED"
    assert "new/a.txt" not in files.contents()
    assert write.call(arguments).ok
    assert files.contents()["new/a.txt"] == b"text\n"
    assert asked[0] == asked[1]
    assert "+text" in asked[0][1]


def test_a_file_that_changed_while_approval_was_awaited_is_asked_about_as_it_is_now(files, uses):
    asked = []

    def approve(request):
        if not asked:
            files.put("a.py", b"theirs\n", files.stat("a.py").version)
        asked.append(request.diff)
        return True

    assert uses(approve=approve)["write"].call({"file_path": "a.py", "content": "mine\n"}).ok
    assert "-theirs" not in asked[0]
    assert "-theirs" in asked[1]
    assert files.contents()["a.py"] == b"mine\n"


def test_only_one_of_many_writers_with_the_same_version_wins(files):
    guarded = GuardedFiles(files, Policy())
    with guarded.open("a.py") as file:
        seen = file.version
    won, lost = [], []

    def write(number):
        with guarded.lock("a.py") as target:
            try:
                target.write(b"%d" % number, expect=seen)
            except Conflict:
                lost.append(number)
            else:
                won.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 7)
    assert files.contents()["a.py"] == b"%d" % won[0]


def test_a_workspace_has_either_a_root_or_files(tmp_path, files):
    for given in ({}, {"root": tmp_path, "files": files}):
        with pytest.raises(ConfigInvalid, match="either a root or files"):
            Workspace(**given)


def test_nothing_is_left_on_the_disk(files, uses, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ok(uses()["read"], file_path="a.py")
    ok(uses()["grep"], pattern="needle")
    assert list(tmp_path.iterdir()) == []
