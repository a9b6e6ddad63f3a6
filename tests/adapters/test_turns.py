"""The calls of one message: changes happen in the order of the message, the rest side by side."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.agent.workflow.workflow_events import ToolCallResult

import fsagent_tools_llamaindex
import fsagent_tools_llamaindex.approval
from fsagent_tools import Effect, Workspace
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools_langchain import get_tools, interrupt_on
from fsagent_tools_llamaindex.approval import ApprovalGiven, ApprovalRequired
from tests.conftest import PATIENCE

pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.full,
]

GOAL = {"messages": [("user", "Go.")]}
THREAD = {"configurable": {"thread_id": "1"}}
TIMES = 6


async def by_agent(way, workspace, calls, toolset):
    agent = create_agent(ScriptedChatModel([calls, "Done."]), get_tools(workspace, toolset))
    return await by_graph(way, agent)


async def by_graph(way, agent):
    state = agent.invoke(GOAL) if way == "invoke" else await agent.ainvoke(GOAL)
    return [(m.status, m.text) for m in state["messages"] if isinstance(m, ToolMessage)]


async def by_node(way, workspace, calls, toolset):
    asked = [
        {"name": one.name, "args": dict(one.arguments), "id": str(n), "type": "tool_call"}
        for n, one in enumerate(calls)
    ]
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=asked)]})
    graph.add_node("tools", ToolNode(get_tools(workspace, toolset)))
    graph.add_edge(START, "model").add_edge("model", "tools")
    return await by_graph(way, graph.compile())


async def by_llamaindex(_, workspace, calls, toolset):
    tools = fsagent_tools_llamaindex.get_tools(workspace, toolset)
    handler = FunctionAgent(tools=tools, llm=ScriptedLLM([calls, "Done."])).run("Go.")
    results = {}
    async for event in handler.stream_events():
        if isinstance(event, ToolCallResult):
            output = event.tool_output
            results[event.tool_id] = ("error" if output.is_error else "success", output.content)
    await handler
    return [results[name] for name in sorted(results, key=lambda n: (len(n), n))]


RUNS = {
    "agent": (by_agent, "invoke"),
    "agent, async": (by_agent, "ainvoke"),
    "node": (by_node, "invoke"),
    "node, async": (by_node, "ainvoke"),
    "llamaindex": (by_llamaindex, ""),
}


@pytest.fixture(params=RUNS)
def run(request, tmp_path):
    """Has an agent send these calls in one message; returns what each was answered."""
    (tmp_path / "a.py").write_text("x = 1\n")
    send, way = RUNS[request.param]

    async def running(*calls, toolset="filesystem"):
        workspace = Workspace(tmp_path)
        return await asyncio.wait_for(send(way, workspace, calls, toolset), PATIENCE)

    return running


async def test_a_file_that_is_removed_and_written_in_one_message_is_there(run, tmp_path):
    for _ in range(TIMES):
        (tmp_path / "a.py").write_text("x = 1\n")
        answers = await run(call("rm", path="a.py"), call("write", path="a.py", content="y = 2\n"))
        assert [status for status, _ in answers] == ["success", "success"]
        assert (tmp_path / "a.py").read_text() == "y = 2\n"


async def test_the_last_of_several_writes_of_one_message_stays(run, tmp_path):
    written = [call("write", path="n.py", content=f"n = {n}\n") for n in range(TIMES)]
    answers = await run(*written)
    assert {status for status, _ in answers} == {"success"}
    assert (tmp_path / "n.py").read_text() == f"n = {TIMES - 1}\n"


async def test_a_read_sees_what_was_written_before_it_and_nothing_later(run):
    for number in range(TIMES):
        path = f"{number}.py"
        answers = await run(
            call("write", path=path, content="first\n"),
            call("read", path=path),
            call("edit", path=path, old_string="first", new_string="second"),
            call("grep", pattern="first|second", path=path),
        )
        assert {status for status, _ in answers} == {"success"}
        assert "first" in answers[1][1]
        assert "second" in answers[3][1]


async def test_a_command_runs_between_the_changes_around_it(run, tmp_path):
    for _ in range(4):
        (tmp_path / "a.py").write_text("x = 1\n")
        await run(
            call("bash", command="sleep 0.1; cp a.py old"),
            call("write", file_path="a.py", content="x = 2\n"),
            call("bash", command="cp a.py new"),
            toolset="workspace",
        )
        assert (tmp_path / "old").read_text() == "x = 1\n"
        assert (tmp_path / "new").read_text() == "x = 2\n"


async def test_commands_of_one_message_run_side_by_side(run):
    """Each of them waits for all others."""
    waits = "touch {n}; until [ $(ls ? | wc -w) = 4 ]; do sleep 0.01; done"
    answers = await run(
        *(call("bash", command=waits.format(n=n)) for n in range(4)), toolset="workspace"
    )
    assert {status for status, _ in answers} == {"success"}


ways = pytest.mark.parametrize("way", ["invoke", "ainvoke"])
REMOVALS = [call("rm", path="a.py"), call("rm", path="b.py")]
DELETE = {"approve_effects": {Effect.DELETE}}


@ways
@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_what_was_asked_about_first_happens_in_order(way, decision, tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")
    written = call("write", path="a.py", content="a = 2\n")
    tools = get_tools(Workspace(tmp_path, **DELETE), "filesystem")
    model = ScriptedChatModel([[REMOVALS[0], written, call("read", path="a.py")], "Done."])
    asking = HumanInTheLoopMiddleware(interrupt_on(tools))
    agent = create_agent(model, tools, middleware=[asking], checkpointer=InMemorySaver())
    for sent in (GOAL, Command(resume={"decisions": [{"type": decision}]})):
        state = agent.invoke(sent, THREAD) if way == "invoke" else await agent.ainvoke(sent, THREAD)
    answers = {m.name: m for m in state["messages"] if isinstance(m, ToolMessage)}
    assert answers["rm"].status == ("success" if decision == "approve" else "error")
    assert answers["write"].status == "success"
    assert "a = 2" in answers["read"].text
    assert (tmp_path / "a.py").read_text() == "a = 2\n"


class Answering(AgentMiddleware):
    """Answers calls of `rm` in place of the tool, as caches and emulators do."""

    def wrap_tool_call(self, request, handler):
        if request.tool_call["name"] != "rm":
            return handler(request)
        return ToolMessage("Removed.", tool_call_id=request.tool_call["id"])

    async def awrap_tool_call(self, request, handler):
        if request.tool_call["name"] != "rm":
            return await handler(request)
        return ToolMessage("Removed.", tool_call_id=request.tool_call["id"])


@ways
async def test_a_call_that_never_comes_holds_nobody_up_for_good(way, tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")
    calls = [call("rm", path="a.py"), call("write", path="a.py", content="a = 2\n")]
    tools = get_tools(Workspace(tmp_path), "filesystem")
    model = ScriptedChatModel([calls, "Done."])
    agent = create_agent(model, tools, middleware=[Answering()])
    answers = await asyncio.wait_for(by_graph(way, agent), PATIENCE)
    assert [status for status, _ in answers] == ["success", "success"]
    assert (tmp_path / "a.py").read_text() == "a = 2\n"


class Delaying(AgentMiddleware):
    """Keeps calls of `rm` until a file was written."""

    def __init__(self, path):
        self.path = path

    async def awrap_tool_call(self, request, handler):
        while request.tool_call["name"] == "rm" and self.path.read_text() != "a = 2\n":
            await asyncio.sleep(0.01)
        return await handler(request)


async def test_a_change_that_comes_after_a_later_one_is_refused(tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")
    calls = [call("rm", path="a.py"), call("write", path="a.py", content="a = 2\n")]
    tools = get_tools(Workspace(tmp_path), "filesystem")
    model = ScriptedChatModel([calls, "Done."])
    agent = create_agent(model, tools, middleware=[Delaying(tmp_path / "a.py")])
    answers = await asyncio.wait_for(by_graph("ainvoke", agent), PATIENCE)
    assert [status for status, _ in answers] == ["error", "success"]
    assert "already run" in answers[0][1]
    assert (tmp_path / "a.py").read_text() == "a = 2\n"


async def workflow(root, calls, answer, **options):
    """Answers of the tools; `answer` gets the handler and all questions that were asked."""
    ask = fsagent_tools_llamaindex.approval.ask
    workspace = Workspace(root, approve=ask, **options)
    tools = fsagent_tools_llamaindex.get_tools(workspace, "filesystem")
    handler = FunctionAgent(tools=tools, llm=ScriptedLLM([calls, "Done."])).run("Go.")
    asked, results = {}, {}
    async with asyncio.timeout(PATIENCE):
        async for event in handler.stream_events():
            if isinstance(event, ApprovalRequired):
                name = event.request["paths"][0]
                key = name if name not in asked else event.fingerprint
                asked.pop(key, None)  # the one asked last stands last, asked before or not
                asked[key] = event
                await answer(handler, asked)
            if isinstance(event, ToolCallResult):
                results[event.tool_id] = event.tool_output
        await handler
    return [results[name] for name in sorted(results)]


def given(event, approved):
    return ApprovalGiven(fingerprint=event.fingerprint, approved=approved)


@pytest.mark.parametrize("first", ["a.py", "b.py", "both"])
async def test_llamaindex_asks_about_all_and_keeps_the_order(first, tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")
    (tmp_path / "b.py").write_text("b = 1\n")

    async def answer(handler, asked):
        if len(asked) < 2:
            return
        for name in sorted(asked, key=lambda name: name != first):
            handler.ctx.send_event(given(asked[name], True))
            if first == name:
                await asyncio.sleep(0.3)
            assert first != "b.py" or (tmp_path / "a.py").exists() or name == "a.py"

    results = await workflow(tmp_path, REMOVALS, answer)
    assert [result.is_error for result in results] == [False, False]
    assert not [*tmp_path.glob("*.py")]


async def test_llamaindex_answers_that_come_at_once_keep_the_order(tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")

    async def answer(handler, asked):
        handler.ctx.send_event(given([*asked.values()][-1], True))

    calls = [call("write", path="a.py", content=f"a = {n}\n") for n in range(2, 7)]
    results = await workflow(tmp_path, [call("rm", path="a.py"), *calls], answer)
    assert not any(result.is_error for result in results)
    assert (tmp_path / "a.py").read_text() == "a = 6\n"


@pytest.mark.parametrize("approved", [True, False])
async def test_llamaindex_what_nobody_is_asked_about_waits_for_the_answer(approved, tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")

    async def answer(handler, asked):
        await asyncio.sleep(0.3)
        assert (tmp_path / "a.py").read_text() == "a = 1\n"
        handler.ctx.send_event(given(asked["a.py"], approved))

    written = [call("write", path="a.py", content=f"a = {n}\n") for n in range(2, 7)]
    results = await workflow(tmp_path, [call("rm", path="a.py"), *written], answer, **DELETE)
    assert [r.is_error for r in results] == [not approved, *[False] * 5]
    assert (tmp_path / "a.py").read_text() == "a = 6\n"
