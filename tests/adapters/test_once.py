"""An approved call runs once: however a graph runs it again, also in another process."""

import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent
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


def tool_node(tools, saver):
    graph = StateGraph(MessagesState)
    model = ScriptedChatModel(TURNS)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_edge("model", "tools")
    return graph.compile(checkpointer=saver)


def react(version):
    def build(tools, saver):
        with warnings.catch_warnings(action="ignore"):
            model = ScriptedChatModel(TURNS)
            return create_react_agent(model, tools, version=version, checkpointer=saver)

    return build


def agent(tools, saver):
    return create_agent(ScriptedChatModel(TURNS), tools, checkpointer=saver)


GRAPHS = {"ToolNode": tool_node, "v1": react("v1"), "v2": react("v2"), "create_agent": agent}


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
    graph = tool_node(tools, InMemorySaver())
    state = graph.invoke({"messages": [("user", "go")]}, THREAD)
    while "__interrupt__" in state:
        command, _ = answer(state)
        state = graph.invoke(answer(state, approved="A" in command)[1], THREAD)
    assert (tmp_path / "root/log").read_text() == "A\n"


PROGRAM = textwrap.dedent(
    """
    import functools, json, os, sys
    from langchain.agents import create_agent
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.types import Command
    from fsagent_tools import Workspace
    from fsagent_tools.testing import call
    from fsagent_tools.testing.langchain import ScriptedChatModel
    from fsagent_tools_langchain import get_tools
    from fsagent_tools_langchain.approval import ask

    root, database, given = sys.argv[1:]
    turns = [call("bash", command="echo run >> log"), "Done."]
    tools = get_tools(Workspace(root, approve=ask), only=["bash"])
    if given == "die":  # after the command ran and before the graph could store its answer
        (bash,) = tools
        run = bash.func
        @functools.wraps(run)
        def dies(*arguments, **more):
            run(*arguments, **more)
            os._exit(9)
        bash.func = dies
    with SqliteSaver.from_conn_string(database) as saver:
        agent = create_agent(ScriptedChatModel(turns), tools, checkpointer=saver)
        thread = {"configurable": {"thread_id": "1"}}
        if given == "start":
            state = agent.invoke({"messages": [("user", "go")]}, thread)
        elif given == "again":
            state = agent.invoke(None, thread)
        else:
            (waiting,) = agent.get_state(thread).interrupts
            answer = {"approved": True, "fingerprint": waiting.value["fingerprint"]}
            state = agent.invoke(Command(resume=answer), thread)
        print(json.dumps([m.text for m in state["messages"]]))
    """
)


def process(*arguments):
    pytest.importorskip("langgraph.checkpoint.sqlite", reason="a development requirement")
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_command_that_ran_before_its_process_died_is_told_and_not_run_again(tmp_path):
    (root := tmp_path / "root").mkdir()
    database = tmp_path / "graph.sqlite"
    assert process(root, database, "start").returncode == 0
    died = process(root, database, "die")
    assert died.returncode == 9, died.stderr
    again = process(root, database, "again")
    assert again.returncode == 0, again.stderr
    assert "Done." in again.stdout
    assert "not known" not in again.stdout
    assert (root / "log").read_text() == "run\n"


def test_a_call_that_began_and_did_not_end_is_not_run_again(tmp_path):
    (root := tmp_path / "root").mkdir()
    database = tmp_path / "graph.sqlite"
    assert process(root, database, "start").returncode == 0
    assert process(root, database, "die").returncode == 9
    (record,) = [p for p in Path(tmp_path / "state").rglob("calls/*") if p.is_file()]
    assert record.stat().st_mode & 0o777 == 0o600
    record.write_bytes(record.read_bytes()[:-5])  # as if it had died while the command ran
    again = process(root, database, "again")
    assert "is not known. It was not run again" in again.stdout, again.stderr
    assert (root / "log").read_text() == "run\n"
