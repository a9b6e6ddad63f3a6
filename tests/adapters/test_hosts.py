"""A question is asked on one host, answered on another, and its call runs on a third."""

from contextlib import closing

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from fsagent_tools import Workspace
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import FsAgentApproval, FsAgentMiddleware, get_tools, interrupt_on
from fsagent_tools_langchain import approval as interrupts

GO, THREAD = {"messages": [("user", "go")]}, {"configurable": {"thread_id": "1"}}
APPROVE = {"type": "approve"}
CALLS = [call("bash", command="echo ran >> log"), call("write", path="a.txt", content="new a\n")]


def middleware(workspace):
    return {"middleware": [FsAgentMiddleware(workspace, approval=True)]}


def beside(workspace):
    tools = get_tools(workspace)
    return {"tools": tools, "middleware": [FsAgentApproval(tools)]}


def langchains_own(workspace):
    tools = get_tools(workspace)
    return {"tools": tools, "middleware": [HumanInTheLoopMiddleware(interrupt_on(tools))]}


def asking(workspace):
    return {"tools": get_tools(Workspace(workspace.root, approve=interrupts.ask))}


WAYS = {
    "FsAgentMiddleware": middleware,
    "FsAgentApproval": beside,
    "interrupt_on": langchains_own,
    "ask": asking,
}


class Hosts:
    """Each step of the thread is on a new host, which has only the files and the saver."""

    def __init__(self, way, root, folder, monkeypatch):
        self.way, self.root, self.folder, self.set = way, root, folder, monkeypatch.setenv
        self.number = 0

    def graph(self, saver, turns):
        interrupts._answers.clear()
        self.number += 1
        self.set("XDG_STATE_HOME", str(self.folder / f"host {self.number}"))
        self.workspace = Workspace(self.root)
        model = ScriptedChatModel(turns)
        return create_agent(model, **WAYS[self.way](self.workspace), checkpointer=saver)

    async def send(self, sent, turns=(CALLS, "Done."), asynchronous=False):
        database = str(self.folder / "states.db")
        if asynchronous:
            async with AsyncSqliteSaver.from_conn_string(database) as saver:
                graph = self.graph(saver, list(turns))
                with closing(self.workspace):
                    return await graph.ainvoke(sent, THREAD)
        with SqliteSaver.from_conn_string(database) as saver:
            graph = self.graph(saver, list(turns))
            with closing(self.workspace):
                return graph.invoke(sent, THREAD)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.txt").write_text("old a\n")
    return tmp_path / "root"


@pytest.fixture
def hosts(request, root, tmp_path, monkeypatch):
    return Hosts(getattr(request, "param", "FsAgentMiddleware"), root, tmp_path, monkeypatch)


def approval(state):
    """Approves one interrupt, in the form that it asks for."""
    one = state["__interrupt__"][0]
    if "fingerprint" in one.value:
        given = {"approved": True, "fingerprint": one.value["fingerprint"]}
    else:
        given = {"decisions": [APPROVE] * len(one.value["action_requests"])}
    return Command(resume={one.id: given})


@pytest.mark.parametrize("asynchronous", [False, True], ids=["invoke", "ainvoke"])
@pytest.mark.parametrize("hosts", WAYS, indirect=True)
async def test_what_was_asked_on_one_host_is_answered_on_others(hosts, root, asynchronous):
    state = await hosts.send(GO, asynchronous=asynchronous)
    answers = 0
    while "__interrupt__" in state:
        assert answers < len(CALLS), "it is asked about again"
        state = await hosts.send(approval(state), asynchronous=asynchronous)
        answers += 1
    assert state["messages"][-1].text == "Done."
    assert (root / "log").read_text() == "ran\n"
    assert (root / "a.txt").read_text() == "new a\n"
    assert not [m for m in state["messages"] if m.type == "tool" and m.status == "error"]


class AsyncOnly(InMemorySaver):
    """As savers of hosts' own may be."""

    def get_tuple(self, config):
        raise NotImplementedError

    async def aget_tuple(self, config):
        return super().get_tuple(config)


async def test_a_saver_may_have_nothing_but_coroutines(root):
    model = ScriptedChatModel([CALLS, "Done."])
    graph = create_agent(model, **middleware(Workspace(root)), checkpointer=AsyncOnly())
    await graph.ainvoke(GO, THREAD)
    state = await graph.ainvoke(Command(resume={"decisions": [APPROVE] * 2}), THREAD)
    assert "__interrupt__" not in state
    assert (root / "log").read_text() == "ran\n"


async def test_what_changed_meanwhile_is_asked_about_again_on_any_host(hosts, root):
    state = await hosts.send(GO)
    for version in ("second\n", "third\n"):
        (root / "a.txt").write_text(version)
        state = await hosts.send(approval(state))
        (one,) = state["__interrupt__"]
        assert f"-{version}+new a" in one.value["action_requests"][1]["description"]
        assert not (root / "log").exists()
    state = await hosts.send(approval(state))
    assert "__interrupt__" not in state
    assert (root / "log").read_text() == "ran\n"
    assert (root / "a.txt").read_text() == "new a\n"


async def test_a_call_that_another_one_overtook_is_asked_about_again_on_any_host(hosts, root):
    """Once more on a host that does not know which changes of the file were approved ones."""
    turns = [[call("write", path="a.txt", content=f"{n}\n") for n in range(2)], "Done."]
    state, answers = await hosts.send(GO, turns), 0
    while "__interrupt__" in state:
        assert answers < 3
        state = await hosts.send(approval(state), turns)
        answers += 1
    assert not [m for m in state["messages"] if m.type == "tool" and m.status == "error"]
    assert (root / "a.txt").read_text() in ("0\n", "1\n")
