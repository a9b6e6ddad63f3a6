"""`Workspace(state=...)`: one directory for what outlives a process, which several hosts share."""

import json
import os
import pickle
import subprocess
import sys

import pytest

from fsagent_tools import MemoryFiles, Policy, Workspace, Workspaces, select_tools
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.workspace.config import load

pytestmark = pytest.mark.full


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    """The user's own state directory, in which nothing may be left."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.fixture
def state(tmp_path):
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.txt").write_text("one\ntwo\n")
    return tmp_path / "root"


def called(tools, name, /, **sent):
    (tool,) = (tool for tool in tools if tool.name == name)
    return tool.call(sent)


def test_everything_that_lasts_lies_there(root, state, own):
    tools = select_tools(root, state=state)
    ids = called(tools, "read", file_path="a.txt").text.splitlines()[0]
    changes = [{"line_id": ids, "new_content": "1"}]
    assert called(tools, "edit_lines", file_path="a.txt", changes=changes).ok
    (folder,) = (path for path in state.iterdir() if path.is_dir())
    kinds = {path.name for path in folder.iterdir()}
    assert kinds == {"history", "history.format", "line_index"}
    assert all([*folder.glob(f"{kind}/*")] for kind in ("history", "line_index"))
    assert not [*own.rglob("history/*"), *root.glob(".ai/cache/tools/*")]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("relative", "is relative"),
        ("root/inside", "is inside the root"),
        ("root", "is inside the root"),
        (".", "holds the root"),
        ("missing", "does not exist"),
        ("root/a.txt", "is not a directory"),
        ("link", "is inside the root"),
    ],
)
def test_a_directory_that_cannot_be_is_refused_with_the_next_step(name, said, root, tmp_path):
    (root / "inside").mkdir()
    (tmp_path / "link").symlink_to(root / "inside")
    given = name if name == "relative" else tmp_path / name
    with pytest.raises(ConfigInvalid, match=rf"state: .* {said}\. \w") as refused:
        Workspace(root, state=given)
    assert refused.value.hint


def test_one_that_this_user_cannot_write_is_refused(root, state):
    source = """
import os, sys
from fsagent_tools import Workspace
os.makedirs("shared/root"), os.mkdir("shared/state", 0o755), os.chmod("shared", 0o755)
os.chmod(".", 0o755)
os.setuid(os.getuid() or 65534)
Workspace("shared/root", state=os.path.realpath("shared/state"))
"""
    if os.getuid():
        pytest.skip("only root has a directory that another user cannot write")
    with subprocess.Popen(["mktemp", "-d"], stdout=subprocess.PIPE, text=True) as made:
        folder = made.stdout.read().strip()
    ran = subprocess.run(
        [sys.executable, "-c", source], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "state: " in ran.stderr
    assert "cannot be written by this user" in ran.stderr


def test_files_elsewhere_and_a_second_place_of_indexes_are_refused(root, state, tmp_path):
    with pytest.raises(ConfigInvalid, match="state is not for a workspace of files elsewhere"):
        Workspace(files=MemoryFiles(), state=state)
    with pytest.raises(ConfigInvalid, match="state is not for line indexes in cache_dir"):
        Workspace(root, cache_dir=tmp_path / "cache", state=state)
    with pytest.raises(ConfigInvalid, match="state is given twice"):
        select_tools(Workspace(root), state=state)
    with pytest.raises(ConfigInvalid, match="state is given twice"):
        select_tools(Workspaces(lambda _: root), state=state)
    with pytest.raises(ConfigInvalid, match="state is of type"):
        Workspace(root, state=5)


def test_each_user_of_a_function_has_a_part_of_the_directory(tmp_path, state, monkeypatch):
    monkeypatch.chdir(tmp_path)  # which holds the state, and is no workspace
    users = [tmp_path / name for name in ("ann", "ben")]
    for user in users:
        user.mkdir()
    now = []
    tools = select_tools(lambda _: now[0], state=state)
    write = next(tool for tool in tools if tool.name == "write")
    for user in users:
        now[:] = [user]
        with write.within(None) as here:
            assert here.call({"file_path": "a.txt", "content": "x"}).ok
        assert (user / "a.txt").exists()
    assert len([path for path in state.iterdir() if path.is_dir()]) == 2


def test_it_can_be_configured(root, state, tmp_path, monkeypatch):
    (tmp_path / "agent.yaml").write_text(f"state: {state}\n")
    Workspace.from_config(root, config_file=tmp_path / "agent.yaml").write_text("b.txt", "x")
    assert [*state.rglob("history.sqlite")]
    Workspace.from_config(root, state=state)
    with monkeypatch.context() as variables:
        variables.setenv("FSAGENT_STATE", str(state))
        assert load().options["state"] == str(state)


def test_a_pickled_workspace_goes_on_there(root, state):
    Workspace(root, state=state).write_text("b.txt", "x")
    again = pickle.loads(pickle.dumps(Workspace(root, state=state)))
    again.undo(everybody=True)
    assert not (root / "b.txt").exists()


def test_a_read_only_workspace_keeps_its_ids_there(root, state):
    policy = Policy(readonly=True)
    one, other = (select_tools(root, policy=policy, state=state) for _ in "12")
    shown = [called(tools, "read", file_path="a.txt").text for tools in (one, other)]
    assert shown[0] == shown[1]
    assert [*state.rglob("line_index/*.json")]


def test_tools_do_not_reach_it_though_a_policy_opens_what_is_around(root, state, tmp_path):
    policy = Policy(allowed_paths=[f"{root}/**", f"{tmp_path}/**"])
    workspace = Workspace(root, policy=policy, state=state)
    workspace.write_text("b.txt", "x")
    (tmp_path / "beside.txt").write_text("open")
    assert workspace.read_text(f"{tmp_path}/beside.txt").text == "open"
    (journal,) = state.rglob("history.sqlite")
    tools = select_tools(workspace)
    for outcome in (
        called(tools, "read", file_path=str(journal)),
        called(tools, "write", file_path=f"{state}/new", content="x"),
        called(tools, "grep", pattern="path", path=str(state)),
        called(tools, "ls", path=str(state)),
    ):
        assert not outcome.ok, outcome.text
    assert not (state / "new").exists()


HOST = """
import json, os, sys
from fsagent_tools import Workspace, select_tools
root, state, steps = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
workspace = Workspace(root, state=state)
tools = {tool.name: tool for tool in select_tools(workspace)}
told = []
for name, sent in steps:
    if name in tools:
        outcome = tools[name].call(sent)
        told.append([outcome.code, outcome.text])
    else:
        told.append(["OK", str(getattr(workspace, name)(**sent))])
print(json.dumps(told))
"""


class Hosts:
    """Processes with a state directory of their own each, a shared root and a shared `state`."""

    def __init__(self, root, state):
        self.root, self.state = root, state

    def run(self, host, *steps):
        words = [str(self.root), str(self.state), json.dumps(steps)]
        home = str(self.root.parent / f"own state of {host}")
        process = subprocess.run(
            [sys.executable, "-c", HOST, *words],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "XDG_STATE_HOME": home},
            check=True,
        )
        return json.loads(process.stdout)


@pytest.fixture
def hosts(root, state):
    return Hosts(root, state)


def test_what_one_host_did_another_one_undoes(hosts, root):
    hosts.run("A", ["write", {"file_path": "a.txt", "content": "A\n"}])
    hosts.run("A", ["bash", {"command": "echo made > new.txt; rm a.txt"}])
    hosts.run("B", ["undo", {"everybody": True}])
    assert not (root / "new.txt").exists()
    assert (root / "a.txt").read_text() == "A\n"
    hosts.run("C", ["undo", {"everybody": True}])
    assert (root / "a.txt").read_text() == "one\ntwo\n"
    hosts.run("A", ["redo", {"everybody": True}])
    assert (root / "a.txt").read_text() == "A\n"


def test_lines_that_one_host_read_another_one_edits(hosts, root):
    ((_, text),) = hosts.run("A", ["read", {"file_path": "a.txt"}])
    changes = [{"line_id": text.splitlines()[0], "new_content": "1"}]
    ((code, _),) = hosts.run("B", ["edit_lines", {"file_path": "a.txt", "changes": changes}])
    assert code == "OK"
    assert (root / "a.txt").read_text() == "1\ntwo\n"
