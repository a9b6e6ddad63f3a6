""" "/" as the root: in arguments and in every answer, of every tool of every toolset."""

import json
import os
import re
from dataclasses import replace

import pytest

from fsagent_tools import (
    EventLog,
    MemoryFiles,
    Policy,
    Toolset,
    Workspace,
    select_tools,
    toolset,
)
from samples import arguments

PATHS = ("file_path", "path", "source", "destination")
PRICES = "/shop/prices.py"
DEEP = sorted(entry.shown_name for entry in toolset("deepagents").entries)
every_tool = pytest.mark.parametrize("tool", DEEP)


@pytest.fixture
def root(shop):
    """The example project in a directory whose own name is nowhere in it."""
    return shop.rename(shop.with_name("elsewhere"))


def bound(root, name="deepagents", **options):
    rooted = replace(toolset(name), paths="virtual")
    return rooted.bind(Workspace(root, **options))


def rooted(sent):
    return {key: f"/{value}" if key in PATHS else value for key, value in sent.items()}


def said(outcome):
    return f"{outcome.text}\n{json.dumps(outcome.to_dict())}"


def begins_at_the_root(text, root):
    """Whether no path in it is one from the root without its slash, or of the machine."""
    assert str(root) not in text
    assert not re.search(r"(?<![\w/])(?<!a/)(?<!b/)(shop|tests)/\w", text), text


@every_tool
def test_every_tool_takes_and_tells_paths_from_the_root(root, tool):
    tool = bound(root)[tool]
    sent = rooted(arguments(tool))
    outcome = tool.call(sent)
    begins_at_the_root(said(outcome), root)
    if sent.keys() & {*PATHS} and tool.name not in ("ls", "memory"):  # names, a place of its own
        assert '"/shop' in said(outcome) or "/shop" in outcome.text


@every_tool
@pytest.mark.parametrize("path", ["/shop/nothing.py", "/shop/price.py", "/hidden", "/shop", "/"])
def test_so_does_every_refusal(root, tool, path):
    (root / "hidden").write_text("")
    policy = Policy(denied_paths=["hidden"], write_denied=["shop/prices.py"], max_file_size=10)
    tool = bound(root, policy=policy)[tool]
    sent = rooted(arguments(tool))
    sent |= {key: path for key in ("path", "file_path", "source") if key in tool.visible}
    begins_at_the_root(said(tool.call(sent)), root)


def test_a_line_is_read_and_edited_by_one_name(root):
    records = []
    tools = bound(root, "workspace", log=EventLog(records.append))
    read = tools["read"].call({"file_path": PRICES})
    line_id = re.search(r"\[LID:(\w+)\] def parse", read.text)[1]
    change = {"line_id": line_id, "new_content": "def parsed(text: str) -> int:"}
    done = tools["edit_lines"].call({"file_path": PRICES, "changes": [change]})
    assert done.data["path"] == PRICES
    assert done.data["diff"].startswith("--- a/shop/prices.py\n+++ b/shop/prices.py\n")
    again = tools["read"].call({"file_path": PRICES[1:]})  # a path from the root needs no slash
    assert "def parsed" in again.text
    assert again.data["path"] == PRICES
    tools["bash"].call({"command": "echo > new.txt"})
    assert [record["changed"] for record in records[1:2] + records[3:]] == [[PRICES], ["/new.txt"]]


def test_a_search_is_spelled_from_the_root(root):
    tools = bound(root, "workspace")
    assert PRICES in tools["glob"].call({"pattern": "/shop/*.py"}).data["files"]
    assert tools["glob"].call({"pattern": "*.py", "path": "/shop"}).text.startswith("/shop/")
    assert tools["grep"].call({"pattern": "def parse"}).text.startswith(f"{PRICES}:")
    assert tools["grep"].call({"pattern": "x", "path": "/shop", "include": "/shop/*"}).ok
    assert PRICES in tools["glob"].call({"pattern": "/*.py", "path": "/shop"}).text
    assert "No match for '/*.rs' in '/'." in tools["glob"].call({"pattern": "/*.rs"}).text
    assert "No match in '/'." in tools["grep"].call({"pattern": "nowhere to be"}).text
    assert "shop/" in tools["ls"].call({"path": "/"}).text
    absolute = {"include_noise": True, "absolute": True}
    assert tools["ls"].call({"path": "/shop"}, **absolute).text.startswith("/shop/")


def test_what_the_machine_calls_the_root_is_taken_too(root):
    """What a command said, such as a traceback, can be opened as it stands."""
    read = bound(root, "workspace")["read"]
    assert read.call({"file_path": f"{root}/shop/prices.py"}).data["path"] == PRICES


@pytest.mark.parametrize("path", ["/../x", "/shop/../../x", "/up/x", "/away"])
def test_nothing_leaves(root, path):
    (root / "up").symlink_to("..")
    (root / "away").symlink_to("/etc/hostname")
    outcome = bound(root, "workspace")["read"].call({"file_path": path})
    assert outcome.code == "PATH_OUTSIDE_WORKSPACE"


def test_the_machines_own_files_are_not_what_a_slash_means(root):
    tools = bound(root, "workspace")
    assert tools["read"].call({"file_path": "/etc/hostname"}).code == "FILE_NOT_FOUND"
    assert tools["write"].call({"file_path": "/etc/hostname", "content": "mine\n"}).ok
    assert (root / "etc" / "hostname").read_text() == "mine\n"


def test_a_further_root_keeps_its_own_path(root, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("beside\n")
    tools = bound(root, "workspace", policy=Policy(allowed_paths=["**", f"{other}/**"]))
    there = tools["read"].call({"file_path": f"{other}/a.txt"})
    assert (there.data["path"], there.data["content"][-6:]) == (f"{other}/a.txt", "beside")


def test_commands_see_real_paths_and_their_description_says_so(root):
    bash = bound(root, "workspace")["bash"]
    assert "In commands / is the machine's: name files from the working directory" in (
        bash.description
    )
    assert "In commands" not in toolset("workspace").bind(Workspace(root))["bash"].description
    said = bash.call({"command": "pwd; cat prices.py | head -1", "working_dir": "/shop"})
    assert said.text.startswith(f"{os.path.realpath(root)}/shop\n")


def test_output_kept_in_a_file_is_read_by_its_real_path(root):
    tools = bound(root, "workspace")
    said = tools["bash"].call({"command": "seq 30000"})
    kept = re.search(r"all of it is in (\S+)\]", said.text)[1]
    assert "29999" in tools["grep"].call({"pattern": "^29999$", "path": kept}).text


def test_a_question_names_files_as_the_model_does(root):
    asked = []
    tools = bound(root, "workspace", approve=lambda request: asked.append(request) or "no")
    tools["write"].call({"file_path": "/shop/new.py", "content": "x = 1\n"})
    (request,) = asked
    assert request.paths == ("/shop/new.py",)
    assert "+++ b/shop/new.py" in request.diff


def test_files_in_memory_do_it_too():
    own = replace(toolset("filesystem"), paths="virtual")
    tools = own.bind(Workspace(files=MemoryFiles({"src/a.py": "x\n"})))
    assert tools["read"].call({"path": "/src/a.py"}).data["path"] == "/src/a.py"
    assert tools["mv"].call({"source": "/src/a.py", "destination": "/b.py"}).text == (
        "Moved /src/a.py to /b.py"
    )


def test_workspaces_of_many_users_have_the_view_of_the_toolset(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "long.txt").write_text("long\n" * 9)
    small = Toolset("small", toolset("filesystem").entries, max_file_size=10)
    (read,) = select_tools(lambda run: tmp_path / (run or "a"), small, only=["read"])
    with read.within("a") as there:
        assert there.call({"path": "long.txt"}).code == "FILE_TOO_LARGE"


@pytest.mark.parametrize("tool", ["read", "ls", "grep", "glob", "bash", "write"])
def test_without_it_a_refusal_names_what_is_beneath_the_root(root, tool):
    (root / "dir").mkdir()
    tool = toolset("workspace").bind(Workspace(root))[tool]
    asked = {"read": PRICES, "write": PRICES}.get(tool.name, "/dir")
    own = "working_dir" if tool.name == "bash" else "file_path" if "prices" in asked else "path"
    outcome = tool.call({**arguments(tool), own: asked})
    assert outcome.code == "PATH_OUTSIDE_WORKSPACE"
    assert f"Did you mean {asked[1:]}?" in outcome.text
