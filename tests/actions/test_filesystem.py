"""The tools of the filesystem toolset: what they return, and line IDs that follow files."""

import os

import pytest

from fsagent_tools import Policy, Workspace, toolset
from tests.conftest import descriptors


@pytest.fixture
def root(tmp_path):
    (tmp_path / "main.py").write_text("import os\nimport sys\nprint(os, sys)\n")
    (tmp_path / "src/deep").mkdir(parents=True)
    (tmp_path / "src/deep/a.py").write_text("one\ntwo\n")
    return tmp_path


@pytest.fixture
def tools(root):
    return toolset("filesystem").bind(Workspace(root))


def test_read_returns_the_documented_keys_with_numbered_lines(tools, root):
    out = tools["read"].call({"path": "main.py", "start_line": 1, "end_line": 2}).to_dict()
    assert out == {
        "path": "main.py",
        "content": "     1\timport os\n     2\timport sys",
        "total_lines": 3,
        "start_line": 1,
        "end_line": 2,
        "size_bytes": (root / "main.py").stat().st_size,
        "truncated": False,
        "success": True,
    }
    assert tools["read"].call({"path": "main.py"}).data["end_line"] == 3


def test_files_of_more_than_100_mb_are_refused_here_alone(tools, root):
    with (root / "large.bin").open("wb") as file:
        file.truncate(100 * 1024 * 1024 + 1)
    for name, call in {
        "read": {"path": "large.bin"},
        "cp": {"source": "large.bin", "destination": "b"},
        "edit": {"path": "large.bin", "old_string": "a", "new_string": "b"},
        "insert": {"path": "large.bin", "line": 1, "content": "a"},
    }.items():
        out = tools[name].call(call)
        assert (out.code, "(max_file_size)" in out.text) == ("FILE_TOO_LARGE", True), name
    assert (
        "Too large to be searched (max_file_size): large.bin"
        in tools["grep"].call({"pattern": "a"}).text
    )
    with (root / "large.bin").open("r+b") as file:
        file.truncate(100 * 1024 * 1024)
    assert tools["cp"].call({"source": "large.bin", "destination": "b"}).ok
    assert toolset("workspace").bind(Workspace(root))["read"].workspace.policy.max_file_size is None


def test_a_limit_of_the_workspace_wins_and_its_session_is_one(root):
    (root / "a.txt").write_text("text\n" * 300)
    workspace = Workspace(root, policy=Policy(max_file_size=10))
    assert toolset("filesystem").bind(workspace)["read"].call({"path": "a.txt"}).code == (
        "FILE_TOO_LARGE"
    )
    workspace = Workspace(root)
    files, compact = toolset("filesystem").bind(workspace), toolset("compact").bind(workspace)
    edit = {"file_path": "a.txt", "old_string": "text\n" * 300, "new_string": "new\n"}
    assert compact["Edit"].call(edit).code == "FILE_NOT_READ"
    assert files["read"].call({"path": "a.txt"}).ok
    assert compact["Edit"].call(edit).ok
    assert files["read"].workspace.origins is workspace.origins
    before = descriptors()
    workspace.close()
    assert str(root) in {leads_to for _, leads_to, *_ in before - descriptors()}


def test_a_directory_is_made_once(tools, root):
    for path in ("one", "two/three/"):
        made = [tools["mkdir"].call({"path": path}).to_dict() for _ in range(2)]
        told = {"path": path.rstrip("/"), "success": True}
        assert made == [{**told, "created": True}, {**told, "created": False}]
        assert (root / path).is_dir()


def test_the_time_of_birth_outlives_a_change(tools, root):
    if tools["file_stat"].workspace.files.stat("main.py").birth_ns is None:
        pytest.skip("this file system keeps no time of birth")
    born = tools["file_stat"].call({"path": "main.py"}).data["created"]
    os.utime(root / "main.py", (1, 1))
    while (root / "main.py").stat().st_ctime <= born:  # until the clock has moved on
        os.utime(root / "main.py", (1, 1))
    told = tools["file_stat"].call({"path": "main.py"}).data
    assert (told["created"], told["modified"]) == (born, 1)


def test_a_file_just_made_was_made_now(tools, root):
    (root / "new.txt").touch()
    told = tools["file_stat"].call({"path": "new.txt"}).data
    assert abs(told["created"] - told["modified"]) < 0.1


def test_without_a_time_of_birth_created_is_the_last_change_of_metadata(tools, root, monkeypatch):
    monkeypatch.setattr("fsagent_tools.files.local.birth_ns", lambda *_: None)
    told = tools["file_stat"].call({"path": "main.py"}).data["created"]
    assert told == (root / "main.py").stat().st_ctime_ns / 10**9


def test_read_speaks_of_its_own_parameters(tools, root):
    (root / "long.txt").write_text("x" * 50 + "\n" * 1 + ("y" * 50 + "\n") * 5000)
    text = tools["read"].call({"path": "long.txt"}).text
    assert "; continue with start_line=" in text
    assert (
        tools["read"]
        .call({"path": "main.py", "start_line": 9})
        .text.startswith("Error: start_line=9 is past the end")
    )
    refused = tools["read"].call({"path": "main.py", "start_line": 3, "end_line": 2})
    assert (refused.code, refused.ok) == ("VALIDATION_ERROR", False)


def test_grep_find_and_ls_return_the_documented_rows(tools):
    assert tools["grep"].call({"pattern": "^import"}).to_dict() == {
        "matches": [
            {"file": "main.py", "line": 1, "text": "import os"},
            {"file": "main.py", "line": 2, "text": "import sys"},
        ],
        "count": 2,
        "truncated": False,
        "success": True,
    }
    assert tools["grep"].call({"pattern": "ONE", "case_sensitive": False}).data["count"] == 1
    assert tools["grep"].call({"pattern": "one", "recursive": False}).data["count"] == 0
    assert tools["grep"].call({"pattern": ".", "max_results": 1}).data["truncated"]
    assert tools["find"].call({"pattern": "*", "type": "dir"}).data["files"] == ["src", "src/deep"]
    assert tools["find"].call({"pattern": "*.py", "type": None}).data["count"] == 2
    row = {"name": "main.py", "type": "file", "size": 36}
    assert row in tools["ls"].call({}).data["entries"]
    listed = tools["ls"].call({"recursive": True, "pattern": "*.py"}).data["entries"]
    assert [entry["name"] for entry in listed] == ["main.py", "src/deep/a.py"]


def test_write_makes_directories_only_when_asked(tools, root):
    sent = {"path": "new/dir/f.txt", "content": "x"}
    refused = tools["write"].call(sent)
    assert refused.code == "FILE_NOT_FOUND"
    assert "create_dirs=true" in refused.text
    moved = tools["mv"].call({"source": "main.py", "destination": "new/main.py"})
    assert moved.text.startswith("Error: The directory of new/main.py does not exist. Make it")
    assert not (root / "new").exists()
    assert tools["write"].call({**sent, "create_dirs": True}).data["created"]


def test_file_stat_tells_of_the_entry_itself(tools, root):
    (root / "main.py").chmod(0o640)
    os.utime(root / "main.py", (1709942400, 1709942400))
    out = tools["file_stat"].call({"path": "main.py"}).to_dict()
    assert list(out)[:8] == [
        "path", "name", "type", "size_bytes", "modified", "created", "permissions", "is_symlink"
    ]  # fmt: skip
    assert (out["type"], out["modified"], out["permissions"]) == ("file", 1709942400.0, "0o640")
    (root / "link").symlink_to("src")
    (root / "out").symlink_to("/etc/passwd")
    link, out = (tools["file_stat"].call({"path": name}) for name in ("link", "out"))
    assert (link.data["type"], link.data["target_type"], link.data["is_symlink"]) == (
        "symlink", "directory", True
    )  # fmt: skip
    assert out.data["target_type"] == ""
    assert "dangling" in out.text
    assert tools["file_stat"].call({"path": "."}).data["type"] == "directory"


def test_permissions_risk_and_side_effects_are_the_documents(tools):
    told = {n: (t.permissions, t.risk, t.side_effects) for n, t in tools.items()}
    written = ("filesystem_write",)
    assert told["read"] == told["grep"] == told["find"] == (("fs.read",), "low", ())
    assert told["file_stat"] == (("fs.read",), "low", ())
    assert told["ls"] == (("fs.list",), "low", ())
    assert told["write"] == (("fs.write",), "medium", written)
    assert told["mv"] == told["cp"] == (("fs.read", "fs.write"), "medium", written)
    assert told["mkdir"] == (("fs.write",), "low", written)
    assert told["rm"] == (("fs.delete",), "high", ("filesystem_delete",))


def test_copies_say_what_they_left_out(tools, root):
    (root / "src/leak").symlink_to("/etc/passwd")
    out = tools["cp"].call({"source": "src", "destination": "copy"})
    assert out.data["skipped"] == ["leak"]
    assert "Left out 1 links that lead outside: leak" in out.text
    assert not os.path.lexists(root / "copy/leak")


def test_an_existing_destination_needs_overwrite_and_a_directory_recursive(tools, root):
    for name in ("mv", "cp"):
        sent = {"source": "src/deep/a.py", "destination": "main.py"}
        assert tools[name].call(sent).code == "ALREADY_EXISTS"
    assert tools["cp"].call({**sent, "overwrite": True}).ok
    assert (root / "main.py").read_text() == "one\ntwo\n"
    assert tools["rm"].call({"path": "src"}).code == "NOT_A_FILE"
    assert tools["rm"].call({"path": ".", "recursive": True}).code == "PERMISSION_DENIED"
    assert tools["rm"].call({"path": "src", "recursive": True}).ok
    assert not (root / "src").exists()


def ids(workspace, path):
    return [line["id"] for line in workspace.line_index(path)["lines"]]


@pytest.mark.parametrize("whose", ["this session's", "an earlier process's"])
def test_line_ids_move_with_a_file_and_a_directory(whose, root):
    def fresh():
        workspace = Workspace(root)
        return workspace, {**toolset("filesystem").bind(workspace), **shown(workspace)}

    def shown(workspace):
        return {"show": toolset("workspace").bind(workspace)["read"]}

    workspace, tools = fresh()
    before = {}
    for path in ("main.py", "src/deep/a.py"):
        assert tools["show"].call({"file_path": path}).ok
        before[path] = ids(workspace, path)
    if whose == "an earlier process's":
        workspace, tools = fresh()
    assert tools["mv"].call({"source": "main.py", "destination": "app.py"}).ok
    assert tools["mv"].call({"source": "src", "destination": "lib"}).ok
    assert ids(workspace, "app.py") == before["main.py"]
    assert ids(workspace, "lib/deep/a.py") == before["src/deep/a.py"]
    assert ids(fresh()[0], "app.py") == before["main.py"]
    (root / "main.py").write_text("new\n")
    assert workspace.session.store.version("main.py", words=False) is None


def test_line_indexes_go_with_removed_and_replaced_files(root):
    workspace = Workspace(root)
    tools, read = (
        toolset("filesystem").bind(workspace),
        toolset("workspace").bind(workspace)["read"],
    )
    for path in ("main.py", "src/deep/a.py"):
        read.call({"file_path": path})
    tools["cp"].call({"source": "src/deep/a.py", "destination": "main.py", "overwrite": True})
    tools["rm"].call({"path": "src", "recursive": True})
    assert workspace.session.store.version("main.py", words=False) is None
    assert workspace.session.store.version("src/deep/a.py", words=False) is None
    assert not list((root / ".ai").rglob("*.json"))
