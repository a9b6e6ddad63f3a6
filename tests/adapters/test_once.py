"""An approved call runs once where a graph gives each call a task of its own."""

import warnings

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent
from langgraph.types import Command

from fsagent_tools import Workspace
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import get_tools
from fsagent_tools_langchain.approval import ask

pytestmark = pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
THREAD = {"configurable": {"thread_id": "1"}}
NAMES = ["A", "B", "B", "C"]  # the same command twice is two calls
TURNS = [[call("bash", command=f"echo {name} >> log") for name in NAMES], "Done."]


@pytest.fixture(autouse=True)
def state_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def react(tools, saver):
    with warnings.catch_warnings(action="ignore"):
        model = ScriptedChatModel(TURNS)
        return create_react_agent(model, tools, version="v2", checkpointer=saver)


def agent(tools, saver):
    return create_agent(ScriptedChatModel(TURNS), tools, checkpointer=saver)


GRAPHS = {"v2": react, "create_agent": agent}


def answer(state, approved=True):
    """An approval of the first request that waits."""
    waiting = state["__interrupt__"][0]
    fingerprint = waiting.value["fingerprint"]
    given = {"approved": approved, "fingerprint": fingerprint, "reason": "no"}
    return waiting.value["arguments"]["command"], Command(resume={waiting.id: given})


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("kind", GRAPHS)
async def test_each_approved_command_of_a_message_runs_once(kind, way, tmp_path):
    (tmp_path / "root").mkdir()
    tools = get_tools(Workspace(tmp_path / "root", approve=ask), only=["bash"])
    graph = GRAPHS[kind](tools, InMemorySaver())

    async def run(sent):
        return graph.invoke(sent, THREAD) if way == "invoke" else await graph.ainvoke(sent, THREAD)

    state, approvals = await run({"messages": [("user", "go")]}), 0
    while "__interrupt__" in state:
        approvals += 1
        assert approvals <= len(NAMES), "a call is asked about again"
        state = await run(answer(state)[1])
    assert sorted((tmp_path / "root/log").read_text().split()) == NAMES
    texts = [m.text for m in state["messages"] if m.type == "tool"]
    assert len(texts) == len(NAMES)
    assert all("Error" not in text for text in texts)


async def test_a_denial_is_of_the_call_that_was_shown(tmp_path):
    (tmp_path / "root").mkdir()
    tools = get_tools(Workspace(tmp_path / "root", approve=ask), only=["bash"])
    graph = agent(tools, InMemorySaver())
    state = graph.invoke({"messages": [("user", "go")]}, THREAD)
    while "__interrupt__" in state:
        command, _ = answer(state)
        state = graph.invoke(answer(state, approved="A" in command)[1], THREAD)
    assert (tmp_path / "root/log").read_text() == "A\n"
