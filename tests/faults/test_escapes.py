"""Nothing outside the root is read, named, made or changed; nothing that is denied is read."""

import os
import shutil
import subprocess
import sys

import pytest

from fsagent_tools import Policy

needs_bwrap = pytest.mark.skipif(not shutil.which("bwrap"), reason="bwrap is not installed")
WAYS_OUT = [
    "../outside/key.txt",
    "{out}/key.txt",
    "link",
    "dir/key.txt",
    "chain",
    "a/../../outside/key.txt",
]


@pytest.fixture
def ways(root, outside):
    (root / "a").mkdir()
    (root / "link").symlink_to("../outside/key.txt")
    (root / "dir").symlink_to(outside)
    (root / "chain").symlink_to("link")
    return outside


@pytest.mark.parametrize("way", WAYS_OUT)
def test_no_tool_takes_a_way_out(start, root, ways, way):
    path = way.format(out=ways)
    tools = start("filesystem")
    calls = {
        "read": {"path": path},
        "write": {"path": path, "content": "x"},
        "edit": {"path": path, "old_string": "TOP", "new_string": "x"},
        "insert": {"path": path, "line": 1, "content": "x"},
        "grep": {"pattern": "TOP", "path": path},
        "ls": {"path": os.path.dirname(path) or path},
        "cp": {"source": path, "destination": "copy"},
    }
    for name, arguments in calls.items():
        out = tools[name].call(arguments)
        assert "TOP-DRAWER" not in str(out.to_dict()), name
        if name not in ("ls", "cp"):
            assert not out.ok, (name, out.text)
    assert (ways / "key.txt").read_text() == "TOP-DRAWER\n"
    assert os.listdir(ways) == ["key.txt"]
    copy = root / "copy"
    assert copy.is_symlink() or not copy.exists()  # a link is copied as a link


def test_a_link_is_removed_and_never_what_it_leads_to(start, root, ways):
    tools = start("filesystem")
    assert tools["rm"].call({"path": "dir", "recursive": True}).ok
    assert not (root / "dir").is_symlink()
    assert (ways / "key.txt").exists()


def test_a_search_follows_no_link_out(start, ways):
    tools = start()
    assert "TOP-DRAWER" not in str(tools["grep"].call({"pattern": "DRAWER"}).to_dict())
    for pattern in ("**/key.txt", "../outside/*", f"{ways}/*"):
        assert not tools["glob"].call({"pattern": pattern}).data.get("files")


def test_a_patch_moves_nothing_out(start, root, ways):
    (root / "in.txt").write_text("one\n")
    tool = start("openai")["apply_patch"]
    for target in ("../outside/new.txt", str(ways / "new.txt"), "dir/new.txt"):
        moved = f"*** Update File: in.txt\n*** Move to: {target}\n@@\n-one\n+two"
        text = f"*** Begin Patch\n{moved}\n*** End Patch"
        assert not tool.call({"input": text}).ok
    assert (root / "in.txt").read_text() == "one\n"
    assert os.listdir(ways) == ["key.txt"]


SPELLINGS = [".env", "./.env", "sub/../.env", "{root}/.env", "alias", "sub/deep/.env"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_what_is_denied_is_read_under_no_spelling(start, root, spelling):
    (root / "sub/deep").mkdir(parents=True)
    for path in (".env", "sub/deep/.env"):
        (root / path).write_text("TOKEN=hush\n")
    (root / "alias").symlink_to(".env")
    path = spelling.format(root=root)
    tools = start("lines", policy=Policy(denied_paths=[".env"]))
    for name, arguments in {
        "read": {"file_path": path},
        "grep": {"pattern": "TOKEN", "path": path},
        "write": {"file_path": path, "content": "x"},
        "lsp": {"file_path": path},
        "edit_lines": {"file_path": "new.txt", "changes": [{"from_file": path, "line_id": "a b"}]},
    }.items():
        out = tools[name].call(arguments)
        assert not out.ok, name
        assert "hush" not in str(out.to_dict()), name
    assert "hush" not in str(tools["grep"].call({"pattern": "TOKEN"}).to_dict())


PLANTED = [
    ".git/hooks/pre-commit",
    ".git/config",
    ".GIT/config",
    ".vscode/tasks.json",
    "h/pre-commit",
]


@pytest.mark.parametrize("path", PLANTED)
def test_no_file_that_makes_other_programs_run_something_is_planted(start, root, path):
    (root / ".git/hooks").mkdir(parents=True)
    (root / ".git/config").write_text("[core]\n")
    (root / "h").symlink_to(".git/hooks")
    (root / "evil").write_text("#!/bin/sh\n")
    tools = start("filesystem")
    assert not tools["write"].call({"path": path, "content": "x", "create_dirs": True}).ok
    for name in ("cp", "mv"):
        ends = {"source": "evil", "destination": path, "overwrite": True}
        assert not tools[name].call(ends).ok
    assert (root / ".git/config").read_text() == "[core]\n"
    assert os.listdir(root / ".git/hooks") == []


@needs_bwrap
def test_a_command_neither_writes_outside_nor_reads_what_is_denied(start, root, outside):
    (root / ".env").write_text("TOKEN=hush\n")
    tool = start(policy=Policy(denied_paths=[".env"]))["bash"]
    command = f"echo x > {outside}/key.txt; echo y > {outside}/new; cat .env; head -c 9 ./.env"
    out = tool.call({"command": command})
    assert "hush" not in str(out.to_dict())
    assert (outside / "key.txt").read_text() == "TOP-DRAWER\n"
    assert os.listdir(outside) == ["key.txt"]


@needs_bwrap
def test_a_command_reaches_no_server_of_this_machine(start, site):
    tool = start()["bash"]
    script = f"import socket; socket.create_connection(('127.0.0.1', {site.port}), 2); print('in')"
    out = tool.call({"command": f'python3 -c "{script}"'})
    assert "in\n" not in out.to_dict().get("output", "").splitlines(keepends=True)
    assert not site.requests


def test_a_module_that_lies_in_the_root_is_not_imported_by_the_host(root):
    for name in ("lxml", "yaml", "PIL", "rapidfuzz", "certifi", "tree_sitter"):
        (root / f"{name}.py").write_text("open('imported', 'w')\n")
    program = """
import asyncio, sys
sys.path.insert(0, "")
from fsagent_tools import Workspace, toolset

tools = toolset("workspace").bind(Workspace("."))
for name, arguments in {
    "write": {"file_path": "a.py", "content": "x = (\\n"},
    "read": {"file_path": "a.py"},
    "webfetch": {"url": "http://127.0.0.1:9/"},
    "grep": {"pattern": "x"},
}.items():
    tools[name].call(arguments)
    asyncio.run(tools[name].acall(arguments))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not (root / "imported").exists()
