"""Tools that run elsewhere, behind a server or on Ray: the same `Tool`s, through both adapters."""

import asyncio
import os
import re
import signal
import subprocess
import sys

import pytest
from deepagents.backends import LocalShellBackend
from langchain.agents import create_agent

import fsagent_tools_langchain
import places
from fsagent_tools import (
    MemoryFiles,
    Workspace,
    approving,
    emitting,
    identified,
    select_tools,
)
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.remote import LocalChannel, RemoteWorkspace, Sending, remote_toolset
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_mcp import HttpChannel
from fsagent_tools_places import SandboxChannel, SshChannel
from tests.conftest import PATIENCE, alive, eventually


class Served:
    """A process of `fsagent serve --http`."""

    def __init__(self, root, *words, token=""):
        self.root, self.words, self.token = root, words, token
        self.start("0")

    def start(self, port):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("FSAGENT_")}
        token = {"FSAGENT_SERVE_TOKEN": self.token} if self.token else {}
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "fsagent_tools.cli",
                "serve",
                "--root",
                ".",
                "--http",
                port,
                *self.words,
            ],
            cwd=self.root,
            env={**clean, **token},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.url = re.search(r"http://\S+", self.process.stderr.readline())[0]

    @property
    def port(self):
        return self.url.rpartition(":")[2].partition("/")[0]

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        self.process.communicate(timeout=PATIENCE)


@pytest.fixture
def serve(shop):
    running = []

    def start(*words, token=""):
        running.append(Served(shop, *words, token=token))
        return running[-1]

    yield start
    for served in running:
        served.stop(signal.SIGKILL)


@pytest.fixture(params=["http", "ray", "sandbox", "ssh"])
def far(request, serve, shop):
    """What `select_tools` takes for a toolset of the project that is served elsewhere."""
    if request.param == "http":
        return lambda toolset="lines": serve("--toolset", toolset).url
    if request.param == "sandbox":
        here = LocalShellBackend(root_dir=shop, inherit_env=True)
        return lambda toolset="lines": SandboxChannel(here, toolset=toolset, **places.FAR)
    if request.param == "ssh":
        way = {"ssh": request.getfixturevalue("ssh"), **places.FAR}
        return lambda toolset="lines": SshChannel("127.0.0.1", str(shop), toolset=toolset, **way)
    *_, other = request.getfixturevalue("nodes")
    from fsagent_tools_ray import RayWorkspaces

    return lambda toolset="lines": RayWorkspaces(toolset, idle=60).at(str(shop), other)


def by_name(tools):
    return {tool.name: tool for tool in tools}


def test_a_place_knows_the_calls_of_a_host_that_is_lost(far, shop, tmp_path, monkeypatch):
    select_tools(there := far())
    told = []
    for host in "ab":
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / host))
        tools = by_name(select_tools(there, once=True))
        with identified(session="s", scope="task", call="1"):
            told.append(tools["bash"].call({"command": "echo ran | tee -a log"}).text)
        with identified(session="s", scope="task", call="2"), approving(lambda _: True):
            tools["write"].call({"file_path": "a.txt", "content": host})
    assert told[0] == told[1]
    assert ((shop / "log").read_text(), (shop / "a.txt").read_text()) == ("ran\n", "a")


def test_schemas_and_effects_are_the_servers(far, shop):
    there, here = by_name(select_tools(far())), by_name(select_tools(shop))
    assert [*there] == [*here]
    for name, tool in there.items():
        assert (tool.schema, tool.effect) == (here[name].schema, here[name].effect)
        assert tool.description == here[name].description


def test_live_output_and_cancellation(far, shop):
    bash = by_name(select_tools(far()))["bash"]
    told = []
    with emitting(told.append):
        assert bash.call({"command": "echo one"}).ok
    assert "".join(told) == "one\n"

    async def given_up():
        task = asyncio.create_task(bash.acall({"command": "exec sleep 7502"}))
        assert await asyncio.to_thread(eventually, lambda: alive("sleep 7502"))
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(given_up())
    assert eventually(lambda: not alive("sleep 7502"))


def test_a_picture(far, shop):
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (4, 4), "red").save(shop / "red.png")
    read = by_name(select_tools(far()))["read"]
    assert [block.kind for block in read.call({"file_path": "red.png"}).blocks] == ["image"]


@pytest.mark.parametrize("verdict", [True, "no"])
@pytest.mark.parametrize(("tool", "sent"), [
    ("write", {"file_path": "new.txt", "content": "x\n"}),
    ("bash", {"command": "echo x > new.txt"}),
])  # fmt: skip
def test_the_host_approves(far, shop, tool, sent, verdict):
    asked = []

    def approve(request):
        asked.append(request)
        assert not (shop / "new.txt").exists()
        return verdict

    with approving(approve):
        outcome = by_name(select_tools(far()))[tool].call(sent)
    assert outcome.ok is (verdict is True)
    assert (shop / "new.txt").exists() is (verdict is True)
    (request,) = asked
    assert tool == "bash" or "+x" in request.diff


def test_a_preview_does_nothing(far, shop):
    write = by_name(select_tools(far()))["write"]
    request = write.preview({"file_path": "new.txt", "content": "x\n"})
    assert "+x" in request.diff
    assert not (shop / "new.txt").exists()


def test_where_the_server_asks_and_nobody_can_be_asked(serve, shop):
    write = by_name(select_tools(serve("--ask").url))["write"]
    refused = write.call({"file_path": "new.txt", "content": "x"})
    assert "cannot ask its user" in refused.text
    assert not (shop / "new.txt").exists()


def test_each_host_has_a_session_of_its_own(far, shop):
    (shop / "a.txt").write_text("one\n" + "two\n" * 100_000)  # large files have to be read first
    served = far("compact")
    anna, bert = (by_name(select_tools(served)) for _ in range(2))
    sent = {"file_path": "a.txt", "old_string": "one", "new_string": "1"}
    assert anna["Read"].call({"file_path": "a.txt"}).ok
    assert not bert["Edit"].call(sent).ok
    assert anna["Edit"].call(sent).ok


def test_a_token_that_changes_while_the_tools_are_used(serve):
    served = serve(token="old")
    read = by_name(select_tools(served.url, token="old"))["read"]
    assert read.call({"file_path": "shop/prices.py"}).ok
    served.stop(signal.SIGKILL)
    served.token = "new"
    served.start(served.port)
    refused = read.call({"file_path": "shop/prices.py"})
    assert refused.code == "NETWORK_ERROR"
    assert "refuses the token" in refused.text
    assert select_tools(served.url, token="new")


def test_a_server_that_goes_away_and_comes_back(serve, shop):
    served = serve()
    tools = by_name(select_tools(served.url))
    served.stop(signal.SIGKILL)
    gone = tools["read"].call({"file_path": "shop/prices.py"})
    assert gone.code in ("NETWORK_ERROR", "OUTCOME_UNKNOWN")
    served.start(served.port)
    assert tools["read"].call({"file_path": "shop/prices.py"}).ok


def test_what_a_session_changed_elsewhere_is_taken_back_by_its_name(far, shop):
    write = by_name(select_tools(far()))["write"]
    for session, name in (("anna", "a.txt"), ("bert", "b.txt")):
        with identified(session=session):
            assert write.call({"file_path": name, "content": "x\n"}).ok
    with identified(session="anna"):
        assert Workspace(shop).undo().paths == ("a.txt",)
    assert not (shop / "a.txt").exists()
    assert (shop / "b.txt").exists()


def test_many_calls_at_once(far, shop):
    write = by_name(select_tools(far()))["write"]

    async def all_at_once():
        sent = [{"file_path": f"{n}.txt", "content": f"{n}"} for n in range(60)]
        return await asyncio.gather(*map(write.acall, sent))

    assert all(outcome.ok for outcome in asyncio.run(all_at_once()))
    assert all((shop / f"{n}.txt").read_text() == f"{n}" for n in range(60))


def test_options_and_what_the_server_decides(far):
    served = far()
    tools = select_tools(served, only=["read"], prefix="far_", label="the pod")
    assert [tool.name for tool in tools] == ["far_read"]
    assert "In: the pod." in tools[0].description
    with pytest.raises(ConfigInvalid, match="Toolset, policy and paths are those of the server"):
        select_tools(served, "compact")


def test_a_workspace_of_the_hosts_own_asks_and_logs(serve, shop):
    asked = []
    workspace = Workspace(files=MemoryFiles({}), approve=lambda request: asked.append(request))
    tools = remote_toolset(HttpChannel(serve().url)).bind(workspace)
    assert not tools["write"].call({"file_path": "new.txt", "content": "x"}).ok
    assert asked


def test_one_agent_for_all_users_each_with_a_place_of_its_own(far, shop, tmp_path):
    home = tmp_path / "anna"
    home.mkdir()
    (home / "mine.txt").write_text("of anna\n")
    own, asked = {"anna": home, "bert": far()}, []
    tools = fsagent_tools_langchain.get_tools(lambda run: own[run.context], prefix="my_")
    schemas = {tool.name: tool.core.schema for tool in tools}
    assert schemas["my_read"] == by_name(select_tools(shop))["read"].schema
    seen = {"bert": ("shop/prices.py", "\tdef parse"), "anna": ("mine.txt", "of anna")}
    for user, (path, text) in seen.items():
        write = call("my_write", file_path="new.txt", content=f"{user}\n")
        model = ScriptedChatModel([[call("my_read", file_path=path), write], "Done."])
        agent = create_agent(model, tools=tools, context_schema=str)
        with approving(lambda request: asked.append(request.diff) or True):
            messages = agent.invoke({"messages": [("user", "Go.")]}, context=user)["messages"]
        assert text in messages[-3].content
    assert ["+bert" in asked[0], "+anna" in asked[1]] == [True, True]
    assert (shop / "new.txt").read_text() == "bert\n"
    assert (home / "new.txt").read_text() == "anna\n"


def test_verbs_of_a_workspace_are_there_only_where_they_are_opened(tmp_path):
    tools = select_tools(tmp_path, "readonly")
    with pytest.raises(ConfigInvalid, match=r"There is no workspace\.run at this place, but: read"):
        RemoteWorkspace(LocalChannel(tools)).run("true")
    assert RemoteWorkspace(LocalChannel(tools, verbs=True)).run("true").exit_code == 0
    with pytest.raises(ConfigInvalid, match="There is no read at this place: it has no tools"):
        LocalChannel([]).call(Sending("read", {}))
