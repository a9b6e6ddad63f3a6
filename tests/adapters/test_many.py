"""Many users: one graph, a workspace for each run, and no more open than needed."""

import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.workflow import Context

import fsagent_tools_llamaindex
from fsagent_tools import Policy, Workspace, Workspaces, select_tools
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools.workspace.services import Services
from fsagent_tools_langchain import FsAgentMiddleware, get_tools, interrupt_on
from tests.conftest import PATIENCE, eventually

pytestmark = pytest.mark.full

WRITE = [call("write", file_path="mine.txt", content="x\n"), "Done."]
KEPT = 8
GOAL = {"messages": [("user", "go")]}


@dataclass
class User:
    name: str


@pytest.fixture
def homes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("ann", "bob"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.mark.parametrize("approval", [False, True])
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_graph_works_in_the_workspace_of_the_runs_user(approval, way, homes):
    ours = FsAgentMiddleware(lambda runtime: homes / runtime.context.name, only=["write"])
    asking = HumanInTheLoopMiddleware(interrupt_on(ours.tools) if approval else {})
    agent = create_agent(
        ScriptedChatModel(WRITE),
        middleware=[ours, asking],
        context_schema=User,
        checkpointer=InMemorySaver(),
    )

    async def send(sent, name):
        config = {"configurable": {"thread_id": name}}
        if way == "invoke":
            return agent.invoke(sent, config, context=User(name))
        return await agent.ainvoke(sent, config, context=User(name))

    for name in ("ann", "bob"):
        state = await send(GOAL, name)
        if approval:
            assert not (homes / name / "mine.txt").exists()
            state = await send(Command(resume={"decisions": [{"type": "approve"}]}), name)
        assert (homes / name / "mine.txt").read_text() == "x\n"
        assert "__interrupt__" not in state
        (homes / name / "mine.txt").unlink()
    assert not list(homes.glob("*/mine.txt"))


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
async def test_a_workflow_works_in_the_workspace_of_its_context(homes):
    def choose(context):
        assert isinstance(context, Context)
        return homes / "ann"

    tools = fsagent_tools_llamaindex.get_tools(choose)
    await FunctionAgent(tools=tools, llm=ScriptedLLM(WRITE)).run("go")
    assert (homes / "ann/mine.txt").exists()


def test_what_a_function_of_the_hosts_raises_names_it():
    def home_of(_runtime):
        return {}["home"]

    with pytest.raises(
        Exception, match=r"home_of \(.*test_many.py:\d+\) raised KeyError\('home'\)"
    ):
        create_agent(ScriptedChatModel(WRITE), get_tools(home_of)).invoke(GOAL)


def test_a_policy_holds_for_every_workspace_of_a_function(homes):
    tools = get_tools(lambda _: homes / "ann", policy=Policy(denied_paths=["*.txt"]))
    (write,) = [tool for tool in tools if tool.name == "write"]
    assert "closed by the policy" in write.invoke({"file_path": "mine.txt", "content": ""})


def test_prefix_and_label_tell_workspaces_apart(homes):
    ann = get_tools(homes / "ann", only=["read", "bash"], prefix="ann_", label="Ann's project")
    bob = get_tools(homes / "bob", only=["read"], prefix="bob_")
    assert [tool.name for tool in (*ann, *bob)] == ["ann_read", "ann_bash", "bob_read"]
    assert ann[0].description.endswith("In: Ann's project.")
    with pytest.raises(ConfigInvalid, match="not a valid tool name"):
        get_tools(homes, prefix="a b ")


def test_idle_workspaces_are_closed_and_used_ones_are_not(tmp_path):
    pool = Workspaces(lambda run: tmp_path / str(run), keep=KEPT)
    with pool.lend("used") as used:
        for number in range(3 * KEPT):
            with pool.lend(number):
                pass
        with pool.lend("used") as again:
            assert again is used
        with pool.lend(0) as first, pool.lend(3 * KEPT - 1) as last:
            assert first is not last
    assert len(pool._lent) <= KEPT
    pool.close()
    assert not pool._lent


def test_a_workspace_is_given_back_without_a_look_at_the_others(tmp_path, monkeypatch):
    looks, running = [], Services.running.fget
    counted = property(lambda services: looks.append(services) or running(services))
    monkeypatch.setattr(Services, "running", counted)

    def used(keep):
        pool = Workspaces(lambda run: tmp_path / str(run), keep=keep)
        for number in range(2 * keep):
            with pool.lend(number):
                pass
        looks.clear()
        with pool.lend("one more"):
            pass
        return len(looks)

    assert used(KEPT) == used(4 * KEPT)


def test_a_root_whose_opening_hangs_keeps_nobody_from_others(tmp_path):
    hangs, go_on, opened = threading.Event(), threading.Event(), []

    def open_(path):
        opened.append(path.name)
        if path.name == "dead":
            hangs.set()
            assert go_on.wait(PATIENCE)
        return Workspace(path)

    def use(name):
        with pool.lend(name) as workspace:
            return workspace

    pool = Workspaces(lambda run: tmp_path / run, open_)
    with ThreadPoolExecutor() as threads:
        dead = [threads.submit(use, "dead") for _ in "12"]
        assert hangs.wait(PATIENCE)
        for name in ("one", "other", "one"):
            assert use(name)
        assert not any(one.done() for one in dead)
        go_on.set()
        assert len({id(one.result()) for one in dead}) == 1
    assert opened == ["dead", "one", "other"]


def test_a_workspace_that_could_not_be_opened_is_opened_by_the_next_call(tmp_path):
    failures = [ConfigInvalid("no."), ConfigInvalid("nor now.")]

    def open_(path):
        if failures:
            raise failures.pop()
        return Workspace(path)

    pool = Workspaces(lambda run: tmp_path, open_)
    for _ in "12":
        with pytest.raises(ConfigInvalid, match=r"^no[.r]"), pool.lend(None):
            pass
    assert not pool._lent
    with pool.lend(None) as workspace:
        assert workspace.root == tmp_path


def test_of_workspaces_whose_commands_ended_the_longest_unused_is_closed_first(tmp_path):
    pool = Workspaces(tmp_path.joinpath, keep=1)
    for name in ("old", "first", "second"):
        (tmp_path / name).mkdir()

    with pool.lend("old") as old:
        pass
    with pool.lend("first") as first:
        tools = select_tools(first, only=["bash", "jobs"])
        bash = next(tool for tool in tools if tool.name == "bash")
        assert bash.call(
            {"command": "until test -e end; do sleep 0.1; done", "background": True}
        ).ok
    (tmp_path / "first/end").touch()
    assert eventually(lambda: not first.services.running)
    with pool.lend("second") as second:
        bash, _ = select_tools(second, only=["bash", "jobs"])
        assert bash.call({"command": "sleep 600", "background": True}).ok
    with pool.lend("first") as there:
        assert there is first
    with pool.lend("old") as there:
        assert there is not old
    pool.close()


def test_of_workspaces_with_commands_those_that_ended_are_closed_first(tmp_path):
    """A command of a user who is away goes on, while others come; too many are ended, and told."""
    names = ["over", *(f"user {number}" for number in range(6))]
    pool = Workspaces(tmp_path.joinpath, keep=2)
    tools = {tool.name: tool for tool in select_tools(pool)}

    def use(name, tool="ls", **sent):
        with tools[tool].within(name) as there:
            return there.call(sent).text, there.workspace

    def run(name, command="sleep 600"):
        return use(name, "bash", command=command, background=True)

    for name in names:
        (tmp_path / name).mkdir()
    _, over = run("over", "until [ -e go ]; do sleep 0.05; done")
    run(names[1])
    for name in names[2:6]:
        use(name)
    (tmp_path / "over/go").touch()
    assert eventually(lambda: not over.services.running)
    run(names[6])
    for name in names[2:4]:
        use(name)
    assert "running" in use(names[1], "jobs", action="list")[0]
    for name in names[2:6]:
        run(name)
    assert "Ended, as others" in use(names[1], "jobs", action="list")[0]
    pool.close()
    assert not pool._lent


CROWD = textwrap.dedent(
    """
    import os, resource, sys, threading
    from pathlib import Path
    from fsagent_tools import select_tools

    root, count, threads, most = Path(sys.argv[1]), *map(int, sys.argv[2:])
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for number in range(count):
        (root / str(number)).mkdir()
        (root / str(number) / "a.txt").write_text(f"user {number}\\n")
    tools = {tool.name: tool for tool in select_tools(lambda run: root / str(run))}
    numbers, wrong = iter(range(2 * count)), []
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                turn = next(numbers, None)
            if turn is None:
                return
            number = turn % count
            with tools["read"].within(number) as read, tools["edit_lines"].within(number) as edit:
                seen = read.call({"file_path": "a.txt"}).text
                change = {"after_line_id": seen.splitlines()[0], "new_content": f"turn {turn}"}
                done = edit.call({"file_path": "a.txt", "changes": [change]})
            if f"user {number}" not in seen or not done.ok:
                wrong.append((seen, done.text))

    workers = [threading.Thread(target=work) for _ in range(threads)]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    for number in range(count):
        lines = (root / str(number) / "a.txt").read_text().splitlines()
        if lines[0] != f"user {number}" or len(lines) != 3:
            wrong.append(lines)
    tools["read"].pool.close()
    print(len(wrong), wrong[:3], len(os.listdir("/proc/self/fd")))
    """
)


@pytest.mark.parametrize(
    ("count", "threads", "most"),
    [(100, 8, 128), pytest.param(1000, 64, 1024, marks=pytest.mark.slow)],
)
def test_a_crowd_of_workspaces_needs_few_descriptors(count, threads, most, tmp_path):
    command = [sys.executable, "-c", CROWD, str(tmp_path), str(count), str(threads), str(most)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert ran.returncode == 0, ran.stderr
    wrong, *_, descriptors = ran.stdout.split()
    assert wrong == "0", ran.stdout
    assert int(descriptors) < 12
