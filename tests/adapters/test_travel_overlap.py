"""Runs of a thread that overlap, and turns on several hosts, take nothing back from each other."""

import asyncio
import gc
import subprocess
import sys
import threading
import time
from itertools import count

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from fsagent_tools import ToolError, Workspace
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import FsAgentMiddleware
from tests.adapters.test_travel import GO, agent, files, states, thread, write
from tests.adapters.test_travel import root as root
from tests.adapters.test_travel import state as state


@pytest.fixture(params=["memory", "sqlite"])
def saver(request, tmp_path):
    if request.param == "memory":
        yield InMemorySaver()
    else:
        with SqliteSaver.from_conn_string(str(tmp_path / "states.db")) as made:
            yield made


@pytest.fixture
def turn(root, saver, tmp_path, monkeypatch):
    """One turn of the thread on the host of that name, which has a state directory of its own."""
    hosts, numbers = {}, count(1)

    def run(host, *turns):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"state of {host}"))
        workspace = hosts.setdefault(host, Workspace(root))
        script = turns or [write(f"{next(numbers)}.txt", host), "done"]
        graph = agent(workspace, script, saver)
        graph.invoke(GO, thread("t"))
        return graph

    yield run
    for workspace in hosts.values():
        workspace.close()


@pytest.mark.parametrize("order", ["ABA", "ABAAB", "ABCABC"])
def test_turns_on_several_hosts_go_on(order, turn, root):
    for host in order:
        turn(host)
    assert files(root) == {f"{n}.txt": host for n, host in enumerate(order, 1)}


def test_a_turn_that_only_read_elsewhere_is_gone_on_from(turn, root):
    for host in "ABA":
        turn(host)
    turn("B", "nothing to do")
    turn("A")
    assert len(files(root)) == 4


def test_a_fork_to_a_state_of_another_host_says_that_it_cannot(turn, root):
    for host in "ABA":
        turn(host)
    graph = turn("A", write("4.txt", "A"), "done", "again")
    earlier = next(s for s in states(graph, thread("t")) if "2.txt" in str(s.values["messages"]))
    with pytest.raises(ToolError, match="in the history"):
        graph.invoke(None, earlier.config)
    assert len(files(root)) == 4


class Gates:
    """Turns of a scripted model that wait until they are let go on."""

    def __init__(self, *names):
        self.reached = {name: threading.Event() for name in names}
        self.open = {name: threading.Event() for name in names}

    def at(self, name, turn):
        def waits(_):
            self.reached[name].set()
            assert self.open[name].wait(60)
            return turn

        return waits


def start(graph, config):
    caught = []

    def run():
        try:
            graph.invoke(GO, config)
        except Exception as error:  # noqa: BLE001  # told by the test that joins it
            caught.append(error)

    running = threading.Thread(target=run)
    running.start()
    return running, caught


def finish(running):
    worker, caught = running
    worker.join(60)
    assert not worker.is_alive()
    assert caught == []


@pytest.mark.parametrize("first_ends", ["first", "last"])
@pytest.mark.parametrize("writes", [True, False])
def test_a_message_that_comes_during_a_run_takes_nothing_back(writes, first_ends, root, saver):
    gates, workspace = Gates("one", "two"), Workspace(root)
    one = agent(
        workspace,
        [write("one1", "x"), gates.at("one", write("one2", "x")), write("one3", "x"), "done"],
        saver,
    )
    agent(workspace, [write("seed", "x"), "done"], saver).invoke(GO, thread("t"))
    first = start(one, thread("t"))
    assert gates.reached["one"].wait(60)
    two = [write("two1", "x")] if writes else []
    second = start(agent(workspace, [*two, gates.at("two", "done")], saver), thread("t"))
    assert gates.reached["two"].wait(60)
    ends = [("one", first), ("two", second)]
    for name, running in ends if first_ends == "first" else ends[::-1]:
        gates.open[name].set()
        finish(running)
    wanted = {"seed", "one1", "one2", "one3", *["two1"][:writes]}
    assert set(files(root)) == wanted
    agent(workspace, [write("after", "x"), "done"], saver).invoke(GO, thread("t"))
    assert set(files(root)) == wanted | {"after"}


def test_a_message_whose_model_fails_during_a_run_takes_nothing_back(root, saver):
    gates, workspace = Gates("one"), Workspace(root)

    def fails(_):
        raise RuntimeError("overloaded")

    first = start(
        agent(workspace, [write("one1", "x"), gates.at("one", write("one2", "x")), "done"], saver),
        thread("t"),
    )
    assert gates.reached["one"].wait(60)
    with pytest.raises(RuntimeError):
        agent(workspace, [fails], saver).invoke(GO, thread("t"))
    gates.open["one"].set()
    finish(first)
    agent(workspace, [write("after", "x"), "done"], saver).invoke(GO, thread("t"))
    assert set(files(root)) == {"one1", "one2", "after"}


def test_a_fork_during_a_run_is_refused_and_works_after_it(root, saver):
    gates, workspace = Gates("one"), Workspace(root)
    graph = agent(workspace, [write("a", "1"), write("a", "2"), "done", *["again"] * 3], saver)
    graph.invoke(GO, thread("t"))
    early = states(graph, thread("t"))[3]
    running = start(
        agent(workspace, [write("b", "1"), gates.at("one", "done")], saver), thread("t")
    )
    assert gates.reached["one"].wait(60)
    with pytest.raises(ToolError, match="Another run of this thread"):
        graph.invoke(None, early.config)
    assert files(root) == {"a": "2", "b": "1"}
    gates.open["one"].set()
    finish(running)
    graph.invoke(None, early.config)
    assert files(root) == {"a": "1"}


def test_a_run_that_failed_or_was_left_is_no_run_that_goes_on(root, saver):
    workspace = Workspace(root)

    @tool
    def fails() -> str:
        """Fail."""
        raise RuntimeError("no")

    middleware = FsAgentMiddleware(workspace, checkpoints=True)
    turns = [write("a", "1"), write("a", "2"), {"name": "fails", "args": {}}, *["again"] * 9]
    graph = create_agent(
        ScriptedChatModel(turns), tools=[fails], middleware=[middleware], checkpointer=saver
    )
    with pytest.raises(RuntimeError) as kept:
        graph.invoke(GO, thread("t"))
    early = states(graph, thread("t"))[3]
    gc.collect()
    graph.invoke(None, early.config)
    assert files(root) == {"a": "1"}
    assert kept.value


async def test_fifty_double_sends_on_an_event_loop_lose_nothing(root, tmp_path):
    workspace = Workspace(root)
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "states.db")) as saver:

        async def send(name, wait):
            def slow(turn):
                return lambda _: [time.sleep(0.02), turn][1]

            await asyncio.sleep(wait)
            turns = [write(f"{name}.1", "x"), slow(write(f"{name}.2", "x")), slow("done")]
            await agent(workspace, turns, saver).ainvoke(GO, thread("t"))

        for number in range(50):
            await asyncio.gather(send(f"{number}a", 0), send(f"{number}b", number % 10 / 100))
    wanted = {f"{n}{run}.{part}" for n in range(50) for run in "ab" for part in "12"}
    assert wanted - set(files(root)) == set()


WORKER = """
import sys
sys.path[:0] = {path!r}
from tests.adapters.test_travel_overlap import *
def waits(_):
    print("reached", flush=True)
    return [input(), "done"][1]
with SqliteSaver.from_conn_string({database!r}) as saver:
    agent(Workspace({root!r}), [write("one1", "x"), waits], saver).invoke(GO, thread("t"))
"""


@pytest.mark.parametrize("killed", [True, False])
def test_a_run_in_another_process_is_seen_until_it_ends(killed, root, tmp_path):
    database = str(tmp_path / "states.db")
    source = WORKER.format(path=sys.path, database=database, root=str(root))
    pipe = subprocess.PIPE
    with SqliteSaver.from_conn_string(database) as saver:
        graph = agent(Workspace(root), [write("a", "1"), write("a", "2"), *["again"] * 4], saver)
        graph.invoke(GO, thread("t"))
        early = states(graph, thread("t"))[3]
        worker = subprocess.Popen([sys.executable, "-c", source], stdin=pipe, stdout=pipe)
        assert worker.stdout.readline() == b"reached\n"
        with pytest.raises(ToolError, match="Another run of this thread"):
            graph.invoke(None, early.config)
        agent(Workspace(root), [write("two1", "x"), "done"], saver).invoke(GO, thread("t"))
        if killed:
            worker.kill()
        worker.communicate(b"\n")
        assert files(root) == {"a": "2", "one1": "x", "two1": "x"}
        graph.invoke(None, early.config)
        assert files(root) == {"a": "1"}
        (runs,) = (tmp_path / "state").rglob("runs")
        gc.collect()
        assert [*runs.iterdir()] == []
