"""What is configured reaches tools and workspaces that a program makes."""

import subprocess
import sys

import pytest

import fsagent_tools_langchain
import fsagent_tools_llamaindex
from fsagent_tools import Policy, Workspace, execute, select_tools
from fsagent_tools.errors import ConfigInvalid, MissingDependency


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Files of system and user where this platform looks for them."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "etc"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))

    def put(system="", user=""):
        texts = {"etc/fsagent/config.yaml": system, "home/fsagent/config.yaml": user}
        for name, text in texts.items():
            if text:
                (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / name).write_text(text)
        return tmp_path / "project"

    return put


WAYS = {
    "from_config": Workspace.from_config,
    "select_tools": lambda root: select_tools(root)[0].workspace,
    "langchain": lambda root: fsagent_tools_langchain.get_tools(root)[0].core.workspace,
    "llamaindex": lambda root: fsagent_tools_llamaindex.get_tools(root)[0].core.workspace,
}


@pytest.mark.parametrize("way", WAYS)
def test_system_user_and_environment_apply_in_this_order(way, places, monkeypatch):
    root = places(
        system="max_file_size: 1MB\nline_ids: tag\nstaleness: file\n",
        user="max_file_size: 1000\nline_ids: words\ndenied_paths: [secret]\n",
    )
    monkeypatch.setenv("FSAGENT_LINE_IDS", "tag")
    workspace = WAYS[way](root)
    assert workspace.policy.max_file_size == 1000
    assert workspace.policy.denied_paths == ("secret",)
    assert workspace.staleness == "file"
    assert workspace.style.name == "tag"


def test_one_call_obeys_what_is_configured(places, monkeypatch):
    root = places(user="readonly: true\ndenied_paths: [.env]\n")
    (root / ".env").write_text("SECRET=1\n")
    assert "denied_paths" in execute("read", {"file_path": ".env"}, root)["error"]
    assert "read-only" in execute("write", {"file_path": "n", "content": ""}, root)["error"]
    monkeypatch.setenv("FSAGENT_READONLY", "perhaps")
    assert "FSAGENT_READONLY" in execute("read", {"file_path": "n"}, root)["error"]


def test_a_workspace_alone_reads_no_configuration(places, monkeypatch):
    root = places(user="readonly: true\n")
    monkeypatch.setenv("FSAGENT_NOSUCH", "1")
    assert Workspace(root).policy == Policy()


def test_what_a_program_says_wins(places):
    root = places(user="readonly: true\nline_ids: tag\n")
    assert not Workspace.from_config(root, policy=Policy()).policy.readonly
    own = select_tools(root, policy=Policy(denied_paths=["x"]))[0].workspace
    assert own.policy == Policy(denied_paths=["x"])
    assert own.style.name == "tag"


def test_tools_that_are_configured_away_are_not_shown(places):
    root = places(user="readonly: true\n")
    names = [tool.name for tool in fsagent_tools_langchain.get_tools(root)]
    assert "read" in names
    assert "write" not in names


def test_a_function_gets_what_is_configured(places):
    root = places(user="denied_paths: [secret]\n")
    (tool,) = select_tools(lambda run: root, only=["read"])
    with tool.within("any") as here:
        assert here.workspace.policy.denied_paths == ("secret",)


@pytest.mark.parametrize("way", WAYS)
def test_a_misspelt_guard_is_refused_with_the_right_name(way, places, monkeypatch):
    monkeypatch.setenv("FSAGENT_READ_ONLY", "1")
    with pytest.raises(ConfigInvalid, match=r"FSAGENT_READ_ONLY.*Did you mean FSAGENT_READONLY\?"):
        WAYS[way](places())


async def test_on_a_running_loop_tools_are_awaited(places):
    root = places(user="readonly: true\n")
    for adapter in (fsagent_tools_langchain, fsagent_tools_llamaindex):
        tools = await adapter.aget_tools(root, only=["read"])
        assert tools[0].core.workspace.policy.readonly


def test_without_the_extra_only_what_is_there_is_missed(places):
    root = places()
    code = (
        "import sys; sys.modules['platformdirs'] = sys.modules['yaml'] = None\n"
        "from fsagent_tools import select_tools\n"
        "print(len(select_tools(sys.argv[1])))"
    )
    run = [sys.executable, "-c", code, str(root)]
    assert int(subprocess.run(run, capture_output=True, text=True, check=True).stdout) > 5
    places(user="readonly: true\n")
    ran = subprocess.run(run, capture_output=True, text=True, check=False)
    assert MissingDependency.__name__ in ran.stderr.splitlines()[-1]


@pytest.mark.parametrize("adapter", [fsagent_tools_langchain, fsagent_tools_llamaindex])
def test_the_configured_toolset_is_the_one_that_tools_are_made_of(adapter, places, monkeypatch):
    root = places(user="toolset: compact\n")

    def made(*arguments, **options):
        return [tool.core.name for tool in adapter.get_tools(*arguments, **options)]

    assert made(root)[:2] == ["Read", "Write"]
    assert made(lambda run: root)[:2] == ["Read", "Write"]
    assert made(root, "line_ids")[:2] == ["read", "write"], "what is asked for wins"
    assert made(Workspace(root))[:2] == ["read", "write"], "a workspace is not configured"
    monkeypatch.setenv("FSAGENT_TOOLSET", "readonly")
    assert made(root) == ["read", "glob", "grep", "ls"]
    monkeypatch.setenv("FSAGENT_TOOLSET", "nothing")
    with pytest.raises(ConfigInvalid, match="There is no toolset 'nothing'"):
        made(root)
