"""What cannot work is not shown to the model, and the host is told what is missing."""

import asyncio
import json
import os
import subprocess
import sys
import textwrap
import time

import pytest
from blockbuster import BlockingError, blockbuster_ctx

import fsagent_tools_langchain
import fsagent_tools_llamaindex
from fsagent_tools import Effect, MemoryFiles, Policy, Toolset, Workspace, select_tools, toolset
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.lsp.servers import LANGUAGES
from fsagent_tools.policy import ProcessPolicy
from fsagent_tools.runtime.state import state_home
from fsagent_tools.toolkit.action import action
from fsagent_tools.toolkit.params import Params
from fsagent_tools.types import Entry
from fsagent_tools.web.search import KEY_VARIABLES, SearchSettings

WEB = {"webfetch", "websearch"}


def names(workspace, *more, **options):
    return {tool.name for tool in select_tools(workspace, *more, **options)}


ALL = {e.shown_name for e in toolset("workspace").entries}


def test_everything_is_shown_where_everything_is_there(tmp_path):
    assert names(tmp_path) == ALL


LOOK = textwrap.dedent(
    """
    import json, logging, sys
    logging.basicConfig(format="%(levelname)s %(message)s", level="INFO")
    for name in sys.argv[1:]:
        sys.modules[name] = None
    from fsagent_tools import select_tools
    for _ in range(2):
        names = [tool.name for tool in select_tools(".")]
    select_tools(".", only=["webfetch"])
    print(json.dumps(names))
    """
)


@pytest.mark.parametrize("key", ["", "EXA_API_KEY"])
def test_without_lxml_what_reads_html_is_not_shown(key, tmp_path, monkeypatch):
    for name in (*KEY_VARIABLES.values(), "FSAGENT_SEARCH_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    if key:
        monkeypatch.setenv(key, "secret")
    command = [sys.executable, "-c", LOOK, "lxml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert {*json.loads(done.stdout)} == ALL - WEB
    told = [line for line in done.stderr.splitlines() if "sys.path has" not in line]
    assert len(told) == 3, "the host is told once"
    text = "webfetch is not shown to the model: the web tools need lxml: pip"
    assert told[0].startswith(f"INFO {text}")
    assert told[-1].startswith(f"WARNING {text}"), "it was asked for by name"


def test_a_search_service_without_its_key_is_not_shown(tmp_path, caplog, monkeypatch):
    caplog.set_level("INFO")
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    assert names(Workspace(tmp_path, search=SearchSettings("tavily"))) == ALL - {"websearch"}
    assert "TAVILY_API_KEY" in caplog.text
    assert names(Workspace(tmp_path, search=SearchSettings("tavily", api_key="k"))) == ALL


def test_lsp_is_shown_where_a_server_is_installed(tmp_path, caplog):
    caplog.set_level("INFO")
    none = dict.fromkeys(LANGUAGES, ())
    assert names(Workspace(tmp_path, servers=none)) == ALL - {"lsp"}
    assert "lsp is not shown to the model: no language server is installed" in caplog.text
    missing = {**none, "python": ["there-is-no-such-server"]}
    assert names(Workspace(tmp_path, servers=missing)) == ALL - {"lsp"}
    assert names(Workspace(tmp_path, servers={**none, "python": [sys.executable]})) == ALL


def test_nothing_is_started_for_files_that_are_elsewhere():
    workspace = Workspace(files=MemoryFiles({"a.txt": "text"}))
    assert names(workspace) == ALL - {"bash", "jobs", "lsp"}


def test_what_the_policy_forbids_is_not_shown_and_nobody_is_warned(tmp_path, caplog):
    readonly = Policy(readonly=True)
    assert names(tmp_path, policy=readonly) == ALL - {"write", "edit_lines"}
    assert names(tmp_path, policy=Policy(allowed_actions=["read"])) == {"read"}
    assert not caplog.records


STRICT = Policy(process=ProcessPolicy(require_sandbox=True))


def test_commands_are_shown_where_the_required_sandbox_is_there(tmp_path, level, monkeypatch):
    """What is not shown would have been refused each time; our own records demand nothing."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    os.makedirs(state_home())
    (root := tmp_path / "root").mkdir()
    workspace = Workspace(root, policy=STRICT)
    bash = toolset("workspace").bind(workspace)["bash"]
    ran = bash.call({"command": "true"})
    runs = "The policy requires a sandbox" not in ran.text
    assert runs is (level in ("bubblewrap", "landlock")), ran.text
    assert names(workspace) == (ALL if runs else ALL - {"bash", "jobs"})
    assert bash.lacks.startswith("" if runs else "the policy requires a sandbox")
    assert names(tmp_path) == ALL, "nothing was demanded"
    workspace.close()


@pytest.mark.parametrize(
    "policy",
    [
        Policy(readonly=True),
        Policy(process=ProcessPolicy("read-only")),
        Policy(process=ProcessPolicy(readable=())),
    ],
)
def test_so_are_those_that_only_a_sandbox_keeps_from_writing(tmp_path, policy, lacking, caplog):
    assert "bash" in names(tmp_path, policy=policy)
    lacking("bubblewrap", "landlock")
    assert not {"bash", "jobs"} & names(tmp_path, policy=policy)
    assert (
        "this system lacks"
        in toolset("workspace").bind(Workspace(tmp_path, policy=policy))["bash"].lacks
    )


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (Policy(denied_paths=[".env"]), "bubblewrap, which hides denied_paths"),
        (Policy(process=ProcessPolicy(network=["pypi.org"])), "bubblewrap, which network=[...]"),
    ],
)
def test_commands_are_not_shown_where_only_bubblewrap_could_hold_them(
    tmp_path, lacking, caplog, policy, reason
):
    caplog.set_level("INFO")
    lacking("bubblewrap")
    assert not {"bash", "jobs"} & names(tmp_path, policy=policy)
    assert reason in caplog.text


def test_jobs_are_shown_beside_what_starts_them(tmp_path):
    assert names(tmp_path, without=["bash"]) == ALL - {"bash", "jobs"}
    assert names(tmp_path, only=["jobs"]) == {"jobs"}


def test_a_toolset_that_only_reads(tmp_path):
    tools = select_tools(tmp_path, "readonly")
    assert [tool.name for tool in tools] == ["read", "glob", "grep", "ls"]
    assert {tool.effect for tool in tools} == {Effect.READ}
    (tmp_path / "a.txt").write_text("one\n")
    assert "1" in tools[0].call({"file_path": "a.txt"}).text
    for tool, sent in ((tools[0], {"file_path": "a.txt"}), (tools[2], {"pattern": "one"})):
        assert "LID" not in tool.call(sent).text
    assert names(tmp_path, "readonly", policy=Policy(readonly=True)) == {t.name for t in tools}


def looking():
    """A toolset of one tool that looks at a file to know whether it can work."""

    def lacks(workspace):
        time.sleep(0.01)  # so that whoever waits for it does wait
        return str([*workspace.root.iterdir()])

    @action(effect=Effect.READ, lacks=lacks)
    def look(workspace, p: Params):
        """Look."""

    return Toolset("looking", (Entry(look),))


@pytest.mark.parametrize("adapter", [fsagent_tools_langchain, fsagent_tools_llamaindex])
async def test_an_event_loop_is_not_blocked(adapter, tmp_path):
    (tmp_path / "a.txt").touch()
    with blockbuster_ctx():
        with pytest.raises(BlockingError):  # the guard is awake
            [*tmp_path.iterdir()]
        assert adapter.get_tools(tmp_path, looking()) == []
        assert await adapter.aget_tools(tmp_path, looking()) == []
        assert len(await adapter.aget_tools(tmp_path, only=["read", "lsp"])) == 2


async def test_what_goes_wrong_beside_the_loop_is_raised(tmp_path):
    with pytest.raises(ConfigInvalid, match="toolset"):
        select_tools(tmp_path, "nothing")


async def test_a_loop_goes_on_while_tools_are_awaited(tmp_path):
    gate = asyncio.Event()

    @action(
        effect=Effect.READ, lacks=lambda _: asyncio.run_coroutine_threadsafe(open_(), loop).result()
    )
    def look(workspace, p: Params):
        """Look."""

    async def open_():
        gate.set()
        return "everything"

    loop = asyncio.get_running_loop()
    tools = await fsagent_tools_langchain.aget_tools(tmp_path, Toolset("a", (Entry(look),)))
    assert tools == []
    assert gate.is_set()
