"""Time travel: a thread that goes back, or is forked, gets the files of its earlier state."""

import subprocess
import sys

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from fsagent_tools import MemoryFiles, ToolError, Workspace
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import FsAgentMiddleware

GO = {"messages": [{"role": "user", "content": "go"}]}


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def write(name, text):
    return call("write", file_path=name, content=text)


def agent(workspace, turns, saver, **options):
    middleware = FsAgentMiddleware(workspace, checkpoints=True, **options)
    return create_agent(ScriptedChatModel(turns), middleware=[middleware], checkpointer=saver)


def thread(name):
    return {"configurable": {"thread_id": name}}


def files(root):
    found = (path for path in root.rglob("*") if path.is_file() and ".ai" not in path.parts)
    return {str(path.relative_to(root)): path.read_text() for path in found}


def states(graph, config):
    """The states in which a tool is about to be called, or the model asked, the first one first."""
    history = list(graph.get_state_history(config))[::-1]
    return [state for state in history if state.next]


TURNS = [write("a.txt", "one\n"), write("a.txt", "two\n"), write("b.txt", "three\n"), "done"]


@pytest.fixture
def done(root):
    """A thread that wrote three times: its graph, and its states."""
    saver = InMemorySaver()
    workspace = Workspace(root)
    graph = agent(workspace, [*TURNS, *["again"] * 20], saver)
    graph.invoke(GO, thread("t"))
    assert files(root) == {"a.txt": "two\n", "b.txt": "three\n"}
    yield graph, states(graph, thread("t"))
    workspace.close()


AT = [  # what is about to happen, and the files then
    ("__start__", {}), ("model", {}), ("tools", {}),
    ("model", {"a.txt": "one\n"}), ("tools", {"a.txt": "one\n"}),
    ("model", {"a.txt": "two\n"}), ("tools", {"a.txt": "two\n"}),
    ("model", {"a.txt": "two\n", "b.txt": "three\n"}),
]  # fmt: skip


@pytest.mark.parametrize("number", [n for n, (_, _) in enumerate(AT)])
def test_a_thread_resumed_from_a_state_gets_its_files(number, done, root):
    graph, before = done
    assert [state.next for state in before] == [(name,) for name, _ in AT]
    name, wanted = AT[number]
    graph.invoke(None, before[number].config)
    if name == "tools":  # the call is made again
        wanted = AT[number + 1][1]
    assert files(root) == wanted


def test_it_goes_back_and_forth_between_branches(done, root):
    graph, before = done
    early, late = before[3], before[7]
    graph.invoke(None, early.config)
    assert files(root) == {"a.txt": "one\n"}
    graph.invoke(None, late.config)
    assert files(root) == {"a.txt": "two\n", "b.txt": "three\n"}
    graph.invoke(None, early.config)
    assert files(root) == {"a.txt": "one\n"}


def test_a_fork_with_another_message_gets_the_files_and_the_thread_goes_on_from_there(done, root):
    graph, before = done
    forked = graph.update_state(before[5].config, {"messages": [("user", "stop")]})
    graph.invoke(None, forked)
    assert files(root) == {"a.txt": "two\n"}
    graph.invoke(GO, thread("t"))
    assert files(root) == {"a.txt": "two\n"}


def test_what_others_did_stays_and_a_conflict_is_refused(done, root):
    graph, before = done
    (root / "mine.txt").write_text("mine")
    graph.invoke(None, before[5].config)
    assert files(root) == {"a.txt": "two\n", "mine.txt": "mine"}
    (root / "a.txt").write_text("somebody's\n")
    with pytest.raises(ToolError, match=r"a\.txt") as caught:
        graph.invoke(None, before[3].config)
    assert caught.value.code == "FILE_CHANGED"
    assert files(root) == {"a.txt": "somebody's\n", "mine.txt": "mine"}


def test_calls_of_one_message_do_not_take_each_other_back(root):
    turns = [[write(f"{n}.txt", "x") for n in range(6)], write("0.txt", "y"), "done"]
    graph = agent(Workspace(root), turns + ["again"] * 3, InMemorySaver())
    graph.invoke(GO, thread("t"))
    assert len(files(root)) == 6
    after = states(graph, thread("t"))[3]
    graph.invoke(None, after.config)
    assert files(root) == {f"{n}.txt": "x" for n in range(6)}


async def test_it_works_on_an_event_loop(root):
    graph = agent(Workspace(root), [*TURNS, "again"], InMemorySaver())
    await graph.ainvoke(GO, thread("t"))
    state = [one async for one in graph.aget_state_history(thread("t")) if one.next][4]
    await graph.ainvoke(None, state.config)
    assert files(root) == {"a.txt": "one\n"}


def test_a_thread_that_only_goes_on_is_never_taken_back(root):
    saver = InMemorySaver()
    turns = [write("a.txt", "one\n"), "said", write("a.txt", "two\n"), "said", "said"]
    graph = agent(Workspace(root), turns, saver)
    graph.invoke(GO, thread("t"))
    (root / "a.txt").write_text("by hand\n")
    graph.invoke(GO, thread("t"))
    assert files(root) == {"a.txt": "two\n"}
    (root / "a.txt").write_text("by hand\n")
    graph.invoke(GO, thread("t"))
    assert files(root) == {"a.txt": "by hand\n"}


def test_a_thread_that_begins_anew_under_an_old_name_keeps_the_files(root):
    agent(Workspace(root), TURNS, InMemorySaver()).invoke(GO, thread("t"))
    again = agent(Workspace(root), [write("c.txt", "4"), "x", "x"], InMemorySaver())
    again.invoke(GO, thread("t"))
    assert files(root) == {"a.txt": "two\n", "b.txt": "three\n", "c.txt": "4"}
    again.invoke(None, states(again, thread("t"))[0].config)
    assert files(root) == {"a.txt": "two\n", "b.txt": "three\n"}


def test_another_thread_keeps_its_changes(root):
    workspace, saver = Workspace(root), InMemorySaver()
    graph = agent(workspace, [*TURNS, "again"], saver)
    graph.invoke(GO, thread("t"))
    agent(workspace, [write("other.txt", "x"), "done"], saver).invoke(GO, thread("u"))
    graph.invoke(None, states(graph, thread("t"))[3].config)
    assert files(root) == {"a.txt": "one\n", "other.txt": "x"}


def test_line_ids_after_going_back_are_those_of_the_state(root):
    workspace = Workspace(root)
    text = "".join(f"line {n}\n" for n in range(5))
    turns = [write("a.txt", text), call("read", file_path="a.txt"), write("a.txt", "x\n" + text)]
    graph = agent(
        workspace, [*turns, "done", call("read", file_path="a.txt"), "end"], InMemorySaver()
    )
    graph.invoke(GO, thread("t"))
    before = next(s for s in states(graph, thread("t")) if len(s.values["messages"]) == 5)
    shown = before.values["messages"][-1].text
    assert "line 4" in shown
    answer = graph.invoke(None, before.config)
    assert answer["messages"][-2].text == shown


@pytest.mark.parametrize("approval", [False, True])
def test_it_goes_with_approval(approval, root):
    from langgraph.types import Command

    graph = agent(Workspace(root), [*TURNS, "again"], InMemorySaver(), approval=approval)
    result = graph.invoke(GO, thread("t"))
    while "__interrupt__" in result:
        result = graph.invoke(Command(resume={"decisions": [{"type": "approve"}]}), thread("t"))
    assert files(root) == {"a.txt": "two\n", "b.txt": "three\n"}
    early = next(s for s in states(graph, thread("t")) if len(s.values.get("messages", ())) == 3)
    result = graph.invoke(None, early.config)
    assert files(root) == {"a.txt": "one\n"}


def test_a_workspace_without_history_is_refused_when_the_agent_is_made(root):
    for workspace in (Workspace(root, history=False), Workspace(files=MemoryFiles({}))):
        with pytest.raises(ToolError, match="history"):
            FsAgentMiddleware(workspace, checkpoints=True)


def test_agents_that_work_beside_each_other_inside_a_call_keep_their_changes(root):
    """Each is a graph of its own in the same thread, and goes through several states."""
    workspace = Workspace(root)

    @tool
    def delegate(name: str) -> str:
        """Have another agent write three files."""
        turns = [*(write(f"{name}{n}.txt", "x") for n in range(3)), "done"]
        agent(workspace, turns, None).invoke(GO)
        return "done"

    turns = [[call("delegate", name="a"), call("delegate", name="b")], write("c.txt", "x"), "done"]
    middleware = FsAgentMiddleware(workspace, checkpoints=True)
    model = ScriptedChatModel([*turns, "again"])
    graph = create_agent(
        model, tools=[delegate], middleware=[middleware], checkpointer=InMemorySaver()
    )
    graph.invoke(GO, thread("t"))
    written = {f"{name}{n}.txt": "x" for name in "ab" for n in range(3)}
    assert files(root) == {**written, "c.txt": "x"}
    graph.invoke(None, states(graph, thread("t"))[3].config)
    assert files(root) == written


def test_a_function_tells_the_workspace_of_each_thread(root):
    """Workspaces of other users are not touched."""

    def choose(run):
        folder = root / (run.config["configurable"]["thread_id"] if run else "none")
        folder.mkdir(exist_ok=True)
        return folder

    saver = InMemorySaver()
    graph = agent(choose, [*TURNS, "again"], saver)
    for name in "tu":
        graph.invoke(GO, thread(name))
    graph.invoke(None, states(graph, thread("t"))[3].config)
    assert files(root / "t") == {"a.txt": "one\n"}
    assert files(root / "u") == {"a.txt": "two\n", "b.txt": "three\n"}


def test_a_history_that_does_not_reach_back_is_a_clear_refusal(done, root, tmp_path):
    graph, before = done
    (journal,) = (tmp_path / "state").rglob("*.journal")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[-4:]))
    with pytest.raises(ToolError, match="older than what is kept"):
        graph.invoke(None, before[3].config)
    assert files(root) == {"a.txt": "two\n", "b.txt": "three\n"}


def test_without_a_checkpointer_nothing_is_kept(root):
    graph = agent(Workspace(root), TURNS, None)
    graph.invoke(GO)
    assert files(root) == {"a.txt": "two\n", "b.txt": "three\n"}


STEP = """
import sys
from langgraph.checkpoint.sqlite import SqliteSaver
sys.path[:0] = {path!r}
from tests.adapters.test_travel import GO, TURNS, agent, states, thread
from fsagent_tools import Workspace
with SqliteSaver.from_conn_string({database!r}) as saver:
    graph = agent(Workspace({root!r}), {turns}, saver)
    {do}
"""


def test_a_new_process_goes_back_over_sqlite(root, tmp_path):
    database = str(tmp_path / "states.db")

    def process(turns, do):
        source = STEP.format(path=sys.path, database=database, root=str(root), turns=turns, do=do)
        ran = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr

    process("TURNS", "graph.invoke(GO, thread('t'))")
    assert files(root) == {"a.txt": "two\n", "b.txt": "three\n"}
    process("['again']", "graph.invoke(None, states(graph, thread('t'))[3].config)")
    assert files(root) == {"a.txt": "one\n"}
    process("TURNS[2:]", "graph.invoke(GO, thread('t'))")
    assert files(root) == {"a.txt": "one\n", "b.txt": "three\n"}
    with SqliteSaver.from_conn_string(database) as saver:
        graph = agent(Workspace(root), ["x"], saver)
        last = states(graph, thread("t"))
        graph.invoke(None, next(s for s in last if len(s.values.get("messages", ())) == 5).config)
    assert files(root) == {"a.txt": "two\n"}
