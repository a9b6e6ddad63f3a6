"""Agents of LangChain, LangGraph and deepagents that really run, with a scripted model."""

import asyncio

import pytest
from blockbuster import BlockingError, blockbuster_ctx
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from fsagent_tools import EventLog, Outcome, Workspace
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.types import Block
from fsagent_tools_langchain import FsAgentMiddleware, FsAgentToolkit, aget_tools, get_tools
from fsagent_tools_langchain.tools import Form
from samples import NEW, PRICES, TURNS, arguments, fix, fixed, parallel
from tests.conftest import PATIENCE, alive, eventually

GOAL = {"messages": [("user", "Fix shop.")]}


def answers(result):
    return [m for m in result["messages"] if isinstance(m, ToolMessage)]


def check(result, shop):
    assert fixed(shop)
    assert result["messages"][-1].text.strip() == "Prices are fixed."
    assert [m.status for m in answers(result)] == ["success", "error", "error", "success"]
    assert all(m.artifact["success"] is (m.status == "success") for m in answers(result))


def invoked(agent, way):
    return agent.invoke(GOAL) if way == "invoke" else asyncio.run(agent.ainvoke(GOAL))


both = pytest.mark.parametrize("way", ["invoke", "ainvoke"])


@both
def test_create_agent(way, shop):
    agent = create_agent(ScriptedChatModel(TURNS), tools=get_tools(shop))
    check(invoked(agent, way), shop)


@pytest.mark.parametrize("mode", ["updates", "messages", "custom"])
async def test_create_agent_stream(mode, shop):
    agent = create_agent(ScriptedChatModel(TURNS), tools=get_tools(shop))
    seen = [*agent.stream(GOAL, stream_mode=mode)]
    assert fixed(shop)
    if mode == "updates":
        assert [next(iter(part)) for part in seen][:2] == ["model", "tools"]
    if mode == "messages":
        spoken = "".join(m.text for m, _ in seen if isinstance(m, AIMessageChunk))
        assert spoken.strip() == "Prices are fixed."
        assert len([m for m, _ in seen if isinstance(m, ToolMessage)]) == 4


def streamed(agent, way, mode, take):
    """Gives `take` each part of a run as soon as it comes."""

    async def parts():
        async for part in agent.astream(GOAL, stream_mode=mode):
            take(part)

    if way == "ainvoke":
        asyncio.run(parts())
        return
    for part in agent.stream(GOAL, stream_mode=mode):
        take(part)


GATED = "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two"


class Gate:
    """Opened when the first output has arrived: until then the command goes on waiting."""

    def __init__(self, shop):
        model = ScriptedChatModel([call("bash", command=GATED, timeout=PATIENCE), "Done."])
        self.agent = create_agent(model, tools=get_tools(shop))
        self.go, self.seen = shop / "go", []

    def take(self, part):
        mode, told = part if isinstance(part, tuple) else ("custom", part)
        if mode == "custom":
            assert (told["tool_name"], told["tool_call_id"]) == ("bash", "call_0_0")
        self.seen.append((mode, told.get("delta")))
        if told.get("delta"):
            self.go.touch()

    def text(self, mode):
        return "".join(delta or "" for its, delta in self.seen if its == mode)


@both
@pytest.mark.parametrize("modes", ["custom", ["tools", "custom"]], ids=str)
def test_output_arrives_while_the_command_runs(modes, way, shop):
    gate = Gate(shop)
    streamed(gate.agent, way, modes, gate.take)
    assert {gate.text(m) for m in ([modes] if modes == "custom" else modes)} == {"one\ntwo\n"}


async def test_output_arrives_among_the_events_of_a_run(shop):
    gate, modes = Gate(shop), ["tools", "custom"]
    async for event in gate.agent.astream_events(GOAL, version="v2", stream_mode=modes):
        if event["event"] == "on_chain_stream" and event["name"] == "LangGraph":
            gate.take(event["data"]["chunk"])
    assert {gate.text(mode) for mode in modes} == {"one\ntwo\n"}


@both
async def test_a_runtime_that_the_model_makes_up_is_nobodys(way, shop):
    turns = [call("read", path=PRICES, runtime="x"), call("bash", command="echo one", runtime={})]
    agent = create_agent(ScriptedChatModel([*turns, "Done."]), tools=get_tools(shop))
    state = agent.invoke(GOAL) if way == "invoke" else await agent.ainvoke(GOAL)
    read, ran = answers(state)
    assert (read.status, ran.status, ran.content) == ("success", "success", "one")
    assert "\tdef parse(" in read.content


async def test_cancelling_a_run_ends_its_command(shop):
    turns = [call("bash", command="sleep 600.25; echo late > late")]
    agent = create_agent(ScriptedChatModel(turns), tools=get_tools(shop))
    run = asyncio.create_task(agent.ainvoke(GOAL))
    assert await asyncio.to_thread(eventually, lambda: alive("sleep 600.25"))
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert eventually(lambda: not alive("sleep 600.25"))
    assert not (shop / "late").exists()


def test_a_tool_node_alone(shop):
    calls = [
        {"name": "read", "args": {"path": PRICES, "limit": "2"}, "id": "1", "type": "tool_call"}
    ]
    graph = StateGraph(MessagesState).add_node("tools", ToolNode(get_tools(shop)))
    graph = graph.add_edge(START, "tools").compile()
    (message,) = answers(graph.invoke({"messages": [AIMessage("", tool_calls=calls)]}))
    assert message.status == "success"
    assert message.artifact["line_count"] == 2


def test_deepagents_prefers_our_tools_to_its_own(shop):
    deepagents = pytest.importorskip("deepagents")
    turns = [call("grep", pattern="cents or 0"), fix, "Prices are fixed."]
    model = ScriptedChatModel(turns)
    result = deepagents.create_deep_agent(model=model, tools=get_tools(shop)).invoke(GOAL)
    assert fixed(shop)
    assert {m.status for m in answers(result)} == {"success"}
    ours = {tool.name for tool in get_tools(shop)}
    bound = [tool["function"]["name"] for tool in model.bound]
    assert ours < {*bound}
    assert len({*bound}) == len(bound)


@both
def test_two_edits_of_one_file_in_one_turn_are_both_there(way, shop):
    model = ScriptedChatModel([call("read", file_path=PRICES), parallel, "Done."])
    result = invoked(create_agent(model, tools=get_tools(shop)), way)
    text = (shop / PRICES).read_text()
    applied = [m.status for m in answers(result)][1:].count("success")
    assert (NEW in text) + ('return "changed"' in text) == applied == 2


def test_the_middleware_brings_tools_and_a_short_prompt(shop):
    model = ScriptedChatModel([lambda m: m[0].text, "unused"])
    agent = create_agent(model, system_prompt="Be brief.", middleware=[FsAgentMiddleware(shop)])
    told = agent.invoke(GOAL)["messages"][-1].text
    assert told.startswith("Be brief.")
    assert "relative to it" in told
    assert len(told) < 400
    model = ScriptedChatModel(TURNS)
    check(create_agent(model, middleware=[FsAgentMiddleware(shop)]).invoke(GOAL), shop)


def test_the_toolkit_has_the_same_tools(shop):
    toolkit = FsAgentToolkit(shop, only=["read"], show={"read": ["marks"]})
    (tool,) = toolkit.get_tools()
    assert isinstance(tool, StructuredTool)
    assert "marks" in tool.args


def test_metadata_tells_what_a_tool_may_do(shop):
    (tool,) = get_tools(shop, only=["write"])
    assert tool.metadata == {
        "effect": "write",
        "permissions": ["fs.write"],
        "risk": "medium",
        "side_effects": ["filesystem_write"],
    }


def test_without_a_tool_call_the_answer_is_the_text(shop):
    (tool,) = get_tools(shop, only=["read"])
    assert tool.invoke({"file_path": "nope.py"}).startswith("Error: nope.py does not exist")
    assert tool.invoke('{"file_path": "README.md"}') == tool.invoke({"file_path": "README.md"})


def test_images_and_documents_are_blocks_beside_the_text():
    blocks = (Block("image", "image/png", "aGk="), Block("file", "application/pdf", "aGk="))
    assert Form().content(Outcome("two", blocks=blocks)) == [
        {"type": "text", "text": "two"},
        {"type": "image", "base64": "aGk=", "mime_type": "image/png"},
        {"type": "file", "base64": "aGk=", "mime_type": "application/pdf"},
    ]


async def test_nothing_blocks_the_event_loop(shop):
    with blockbuster_ctx():
        tools = await aget_tools(shop)
        for tool in tools:
            await tool.ainvoke(arguments(tool.core))
        with pytest.raises(BlockingError):  # the guard is awake
            tools[0].invoke(arguments(tools[0].core))


def test_the_event_log_names_thread_run_and_call(shop):
    records = []
    tools = get_tools(Workspace(shop, log=EventLog(records.append)))
    script = [call("ls"), call("ls"), "Done."]
    agent = create_agent(ScriptedChatModel(script), tools=tools, checkpointer=InMemorySaver())
    result = agent.invoke(GOAL, {"configurable": {"thread_id": "thread 7"}})
    assert [r["session"] for r in records] == ["thread 7"] * 2
    assert [r["call"] for r in records] == [message.tool_call_id for message in answers(result)]


@pytest.mark.parametrize("ways", ["configurable", "metadata"])
def test_the_event_log_names_run_user_and_tenant_of_every_call(ways, shop):
    """The run needs no ID, and what a tool starts as a graph of its own is of the same one."""
    records = []
    ours = get_tools(Workspace(shop, log=EventLog(records.append)))

    @tool
    def delegate(config: RunnableConfig) -> str:
        """Do it elsewhere."""
        inner = create_agent(ScriptedChatModel([call("ls"), "Done."]), ours)
        return inner.invoke(GOAL, config)["messages"][-1].text

    script = [[call("ls"), call("ls")], call("delegate"), call("ls"), "Done."]
    config = {ways: {"user_id": 7, "tenant_id": "acme"}}
    for _ in range(2):
        create_agent(ScriptedChatModel(script), [*ours, delegate]).invoke(GOAL, config)
    runs = [record["run"] for record in records]
    assert runs == [runs[0]] * 4 + [runs[4]] * 4
    assert runs[0] != runs[4]
    assert None not in runs
    assert {(record["user"], record["tenant"]) for record in records} == {("7", "acme")}


def test_two_middlewares_in_one_agent(shop, tmp_path):
    (tmp_path / "notes").mkdir()
    turns = [[call("ls"), call("list_notes")], "Done."]
    model = ScriptedChatModel(turns)
    second = FsAgentMiddleware(
        tmp_path / "notes", name="Notes", only=["ls"], renamed={"ls": "list_notes"}
    )
    agent = create_agent(model, middleware=[FsAgentMiddleware(shop, only=["ls"]), second])
    state = agent.invoke(GOAL)
    first, other = (m.text for m in state["messages"] if m.type == "tool")
    assert "shop" in first
    assert "shop" not in other


def stored(message):
    return len(JsonPlusSerializer().dumps_typed(message)[1])


def test_a_stored_message_is_little_longer_than_its_text(shop):
    (shop / "long.txt").write_text("".join(f"line {n} of a long file\n" for n in range(900)))
    tools = {tool.name: tool for tool in get_tools(shop)}
    for name, sent in [("read", {"file_path": "long.txt"}), ("grep", {"pattern": "line"})]:
        message = tools[name].invoke({"type": "tool_call", "name": name, "id": "1", "args": sent})
        assert message.artifact["success"]
        assert stored(message) <= 1.2 * len(message.text)
    (read,) = get_tools(shop, only=["read"], artifact="full")
    sent = {"file_path": "long.txt"}
    message = read.invoke({"type": "tool_call", "name": "read", "id": "1", "args": sent})
    assert "line 899" in str(message.artifact)


LONG = "".join(f"value_{n} = {n}  # {'x' * 30}\n" for n in range(20))
ALWAYS = [  # toolset, tool, what it is sent, the documented keys
    ("filesystem", "grep", {"pattern": "value_1"}, ["matches"]),
    ("file_ops", "read_file", {"path": "long.py"}, ["data", "content"]),
    ("compact", "Write", {"file_path": "x.py", "content": "x = gone\n"}, ["metadata", "lint"]),
    ("compact", "Write", {"file_path": "x.py", "content": "x = 1\n"}, ["metadata", "path"]),
]


@pytest.mark.parametrize(("toolset", "name", "sent", "keys"), ALWAYS)
def test_the_documented_keys_are_always_there(toolset, name, sent, keys, shop):
    (shop / "long.py").write_text(LONG)
    artifacts = []
    for artifact in ("facts", "full"):
        workspace = Workspace(shop, lint="report", servers={"python": []})
        tools = {tool.name: tool for tool in get_tools(workspace, toolset, artifact=artifact)}
        message = tools[name].invoke({"type": "tool_call", "name": name, "id": "1", "args": sent})
        assert message.status == "success", message.text
        artifacts.append(message.artifact)
    facts, full = artifacts
    assert facts.keys() - {"code"} == full.keys() - {"code"}
    for key in keys:
        assert facts.keys() >= full.keys()
        facts, full = facts[key], full[key]
    assert facts in (full, None)


DOCUMENTED = [
    ("workspace", "read", {"file_path": "long.py"}),
    ("line_ids", "grep", {"pattern": "value_1"}),
    ("compact", "Read", {"file_path": "long.py"}),
    ("file_ops", "read_file", {"path": "long.py"}),
    ("filesystem", "read", {"path": "long.py"}),
]


@pytest.mark.parametrize(("toolset", "name", "sent"), DOCUMENTED)
def test_an_artifact_has_every_documented_value_in_the_toolsets_of_the_documents(
    toolset, name, sent, shop
):
    (shop / "long.py").write_text(LONG)
    workspace = Workspace(shop)
    (tool,) = get_tools(workspace, toolset, only=[name], renamed={name: "mine"})
    message = tool.invoke({"type": "tool_call", "name": "mine", "id": "1", "args": sent})
    expected = tool.core.call(sent).to_dict()
    assert {**message.artifact, "duration": 0} == {**expected, "duration": 0}
    assert None not in message.artifact.values()


@pytest.mark.parametrize("sent", [{"file_path": "README.md"}, {"file_path": "nope.py"}])
def test_an_artifact_can_be_left_out_for_who_redacts_messages(sent, shop):
    (tool,) = get_tools(shop, "workspace", only=["read"], artifact="off")
    message = tool.invoke({"type": "tool_call", "name": "read", "id": "1", "args": sent})
    assert message.artifact is None
    assert message.status == ("error" if "nope" in sent["file_path"] else "success")


def test_a_picture_is_stored_once_or_not_at_all(shop):
    image = pytest.importorskip("PIL.Image")
    image.effect_noise((300, 300), 90).save(shop / "noise.png")
    sent = {"type": "tool_call", "name": "read", "id": "1", "args": {"file_path": "noise.png"}}
    (read,) = get_tools(shop, only=["read"])
    message = read.invoke(sent)
    picture = message.content[1]["base64"]
    assert stored(message) < 1.2 * len(picture)
    (read,) = get_tools(shop, only=["read"], images="off")
    assert isinstance(read.invoke(sent).content, str)


@pytest.mark.parametrize("option", ["artifact", "images"])
def test_a_wrong_form_of_messages_is_refused(option, shop):
    with pytest.raises(ConfigInvalid, match=option):
        get_tools(shop, **{option: "all"})
