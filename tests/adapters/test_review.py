"""All calls of a message are asked about at once, in LangChain's own form, with diffs."""

import blockbuster
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from fsagent_tools import Effect, Workspace
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import FsAgentApproval, FsAgentMiddleware, get_tools, interrupt_on

THREAD = {"configurable": {"thread_id": "1"}}
WRITES = [
    call("write", path="a.txt", content="new a\n"),
    call("bash", command="echo ran >> log"),
    call("read", path="a.txt"),
    call("bash", command="echo ran >> log"),
    call("write", path="../outside", content=""),
]
APPROVE = {"type": "approve"}


@pytest.fixture(autouse=True)
def state_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.txt").write_text("old a\n")
    return tmp_path / "root"


class Agent:
    def __init__(self, way, middleware, tools=(), turns=(WRITES, "Done.")):
        model = ScriptedChatModel(list(turns))
        self.way = way
        self.graph = create_agent(
            model, list(tools), middleware=middleware, checkpointer=InMemorySaver()
        )

    async def send(self, sent):
        if self.way == "invoke":
            return self.graph.invoke(sent, THREAD)
        return await self.graph.ainvoke(sent, THREAD)

    async def start(self):
        return await self.send({"messages": [("user", "go")]})

    async def decide(self, *decisions):
        return await self.send(Command(resume={"decisions": [*decisions]}))


def waiting(state):
    (one,) = state["__interrupt__"]
    return one.value


def messages(state):
    return [m for m in state["messages"] if m.type == "tool"]


ways = pytest.mark.parametrize("way", ["invoke", "ainvoke"])


@ways
@pytest.mark.parametrize("form", ["FsAgentMiddleware", "FsAgentApproval"])
async def test_one_interrupt_shows_all_effects_before_any_happens(form, way, root):
    tools = get_tools(root)
    if form == "FsAgentApproval":
        agent = Agent(way, [FsAgentApproval(tools)], tools)
    else:
        agent = Agent(way, [FsAgentMiddleware(root, approval=True)])
    request = waiting(await agent.start())
    assert [action["name"] for action in request["action_requests"]] == ["write", "bash", "bash"]
    assert "-old a\n+new a" in request["action_requests"][0]["description"]
    assert "echo ran >> log" in request["action_requests"][1]["description"]
    assert {c["action_name"] for c in request["review_configs"]} == {"write", "bash"}
    assert (root / "a.txt").read_text() == "old a\n"
    assert not (root / "log").exists()
    state = await agent.decide(APPROVE, APPROVE, {"type": "reject", "message": "once is enough"})
    assert (root / "a.txt").read_text() == "new a\n"
    assert (root / "log").read_text() == "ran\n"
    assert "once is enough" in " ".join(m.text for m in messages(state))
    assert "outside the workspace" in " ".join(m.text for m in messages(state))
    assert state["messages"][-1].text == "Done."


@ways
async def test_an_edited_call_is_approved_as_it_was_written(way, root):
    agent = Agent(way, [FsAgentMiddleware(root, approval=True)], turns=[WRITES[:1], "Done."])
    await agent.start()
    action = {"name": "write", "args": {"path": "b.txt", "content": "mine\n"}}
    state = await agent.decide({"type": "edit", "edited_action": action})
    assert "__interrupt__" not in state
    assert (root / "b.txt").read_text() == "mine\n"
    assert (root / "a.txt").read_text() == "old a\n"


@ways
async def test_what_changed_while_the_decision_was_awaited_is_asked_about_again(way, root):
    agent = Agent(way, [FsAgentMiddleware(root, approval=True)], turns=[WRITES[:2], "Done."])
    await agent.start()
    (root / "a.txt").write_text("somebody else\n")
    request = waiting(await agent.decide(APPROVE, APPROVE))
    assert "-somebody else\n+new a" in request["action_requests"][0]["description"]
    assert not (root / "log").exists()
    await agent.decide({"type": "reject"}, APPROVE)
    assert (root / "a.txt").read_text() == "somebody else\n"
    assert (root / "log").read_text() == "ran\n"


@ways
async def test_edits_of_one_file_are_approved_at_once(way, root):
    (root / "a.txt").write_text("".join(f"line {n}\n" for n in range(9)))
    edits = [
        call("edit", path="a.txt", old_string=f"line {n}\n", new_string=f"{n}!\n") for n in range(9)
    ]
    middleware = FsAgentMiddleware(root, "filesystem", approval=True)
    agent = Agent(way, [middleware], turns=[edits, "Done."])
    request = waiting(await agent.start())
    assert len(request["action_requests"]) == 9
    for n, action in enumerate(request["action_requests"]):
        assert f"-line {n}\n+{n}!" in action["description"]
        assert "Another call of this message changes a.txt, too" in action["description"]
    state = await agent.decide(*[APPROVE] * 9)
    assert "__interrupt__" not in state
    assert (root / "a.txt").read_text() == "".join(f"{n}!\n" for n in range(9))


@ways
async def test_of_two_approved_writes_of_one_text_the_later_one_is_asked_about_again(way, root):
    twice = [call("write", path="a.txt", content=text) for text in ("1\n", "2\n")]
    agent = Agent(way, [FsAgentMiddleware(root, approval=True)], turns=[twice, "Done."])
    await agent.start()
    request = waiting(await agent.decide(APPROVE, APPROVE))
    (written,) = {"1\n", "2\n"} & {(root / "a.txt").read_text()}
    (other,) = {"1\n", "2\n"} - {written}
    assert f"-{written}+{other}".strip() in request["action_requests"][0]["description"]
    assert request["review_configs"][0]["allowed_decisions"] == ["approve", "reject"]
    state = await agent.decide(APPROVE)
    assert (root / "a.txt").read_text() == other
    assert not [m for m in messages(state) if m.status == "error"]


async def test_an_event_loop_is_not_held_up_by_what_is_shown(root):
    agent = Agent("ainvoke", [FsAgentMiddleware(root, approval=True)], turns=[WRITES[:1], "Done."])
    with blockbuster.blockbuster_ctx():
        await agent.start()
        await agent.decide(APPROVE)
    assert (root / "a.txt").read_text() == "new a\n"


@ways
async def test_without_a_tool_that_asks_nothing_is_asked(way, root):
    tools = get_tools(root, only=["read"])
    agent = Agent(way, [FsAgentApproval(tools)], tools, turns=[WRITES[2], "Done."])
    assert "old a" in messages(await agent.start())[0].text


MALFORMED = [
    True,
    "yes",
    {"decisions": [APPROVE, APPROVE]},
    {"decisions": [{"type": "maybe"}]},
    {"approved": True},
]


@ways
@pytest.mark.parametrize("answer", MALFORMED, ids=repr)
async def test_malformed_decisions_are_the_hosts_error_and_can_be_mended(answer, way, root):
    agent = Agent(way, [FsAgentMiddleware(root, approval=True)], turns=[WRITES[:1], "Done."])
    await agent.start()
    for _ in range(2):
        with pytest.raises(ConfigInvalid, match="decisions"):
            await agent.send(Command(resume=answer))
    assert (root / "a.txt").read_text() == "old a\n"
    await agent.decide(APPROVE)
    assert (root / "a.txt").read_text() == "new a\n"


@ways
async def test_langchains_own_middleware_shows_our_diff(way, root):
    tools = get_tools(root)
    own = HumanInTheLoopMiddleware(interrupt_on(tools))
    agent = Agent(way, [own], tools)
    request = waiting(await agent.start())
    assert "-old a\n+new a" in request["action_requests"][0]["description"]
    await agent.decide(APPROVE, APPROVE, APPROVE)
    assert (root / "log").read_text() == "ran\nran\n"


def test_only_effects_that_need_approval_are_asked_about(root):
    asked = {*interrupt_on(get_tools(root))}
    assert asked >= {"write", "edit_lines", "bash"}
    assert not asked & {"read", "grep", "glob", "ls", "webfetch", "websearch"}
    network = Workspace(root, approve_effects=[Effect.NETWORK])
    assert {*interrupt_on(get_tools(network))} == {"webfetch", "websearch"}
