"""LangChain's middleware asks with our diffs, and only what was shown then happens, on any host."""

import gc
from contextlib import closing

import blockbuster
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, PIIMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from fsagent_tools import Effect, Workspace
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import FsAgentMiddleware, get_tools, interrupt_on

GO, THREAD = {"messages": [("user", "go")]}, {"configurable": {"thread_id": "1"}}
APPROVE = {"type": "approve"}
WRITE, COMMAND = (
    call("write", path="a.txt", content="new a\n"),
    call("bash", command="echo ran >> log"),
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.txt").write_text("old a\n")
    return tmp_path / "root"


class Agent:
    """An agent of `workspace` with LangChain's middleware."""

    def __init__(self, way, workspace, turns, toolset=None, saver=None, **options):
        tools = get_tools(workspace, toolset)
        middleware = [HumanInTheLoopMiddleware(interrupt_on(tools, **options))]
        self.way = way
        self.graph = create_agent(
            ScriptedChatModel([*turns, "Done."]),
            tools,
            middleware=middleware,
            checkpointer=saver or InMemorySaver(),
        )

    async def send(self, sent):
        if self.way == "invoke":
            self.state = self.graph.invoke(sent, THREAD)
        else:
            self.state = await self.graph.ainvoke(sent, THREAD)
        return self.asked

    async def start(self):
        return await self.send(GO)

    async def decide(self, *decisions):
        return await self.send(Command(resume={"decisions": [*decisions]}))

    @property
    def asked(self):
        waiting = self.state.get("__interrupt__", ())
        return [request for one in waiting for request in one.value["action_requests"]]

    @property
    def answers(self):
        return [m for m in self.state["messages"] if m.type == "tool"]


ways = pytest.mark.parametrize("way", ["invoke", "ainvoke"])


@ways
async def test_one_interrupt_shows_all_effects_before_any_happens(way, root):
    outside = call("write", path="../outside", content="")
    calls = [WRITE, COMMAND, call("read", path="a.txt"), COMMAND, outside]
    agent = Agent(way, root, [calls])
    asked = await agent.start()
    assert [request["name"] for request in asked] == ["write", "bash", "bash", "write"]
    assert "-old a\n+new a" in asked[0]["description"]
    assert "echo ran >> log" in asked[1]["description"]
    assert "is refused" in asked[3]["description"]
    (interrupt,) = agent.state["__interrupt__"]
    reviews = interrupt.value["review_configs"]
    assert {*reviews[0]["allowed_decisions"]} == {"approve", "edit", "reject"}
    assert (root / "a.txt").read_text() == "old a\n"
    assert not (root / "log").exists()
    no = {"type": "reject", "message": "once is enough"}
    assert not await agent.decide(APPROVE, APPROVE, no, APPROVE)
    assert (root / "a.txt").read_text() == "new a\n"
    assert (root / "log").read_text() == "ran\n"
    told = " ".join(message.text for message in agent.answers)
    assert "once is enough" in told
    assert "outside the workspace" in told
    assert agent.state["messages"][-1].text == "Done."


@ways
async def test_an_edited_call_runs_as_the_reviewer_wrote_it(way, root):
    agent = Agent(way, root, [WRITE])
    await agent.start()
    action = {"name": "write", "args": {"path": "b.txt", "content": "mine\n"}}
    assert not await agent.decide({"type": "edit", "edited_action": action})
    assert (root / "b.txt").read_text() == "mine\n"
    assert (root / "a.txt").read_text() == "old a\n"


@ways
async def test_a_call_whose_file_changed_meanwhile_is_refused_and_the_next_one_asked_about(
    way, root
):
    agent = Agent(way, root, [[WRITE, COMMAND], WRITE])
    await agent.start()
    (root / "a.txt").write_text("somebody else\n")
    asked = await agent.decide(APPROVE, APPROVE)
    refused, ran = agent.answers
    assert (refused.status, ran.status) == ("error", "success")
    assert "a.txt changed after this call was approved" in refused.text
    for shown in (refused.text, asked[0]["description"]):
        assert "-somebody else\n+new a" in shown
    assert (root / "a.txt").read_text() == "somebody else\n"
    assert not await agent.decide(APPROVE)
    assert (root / "a.txt").read_text() == "new a\n"
    assert (root / "log").read_text() == "ran\n"


@ways
@pytest.mark.parametrize("changed", ["removed", "content"])
async def test_a_removal_is_of_the_file_that_was_shown(changed, way, root):
    agent = Agent(way, root, [call("rm", path="a.txt")], "filesystem")
    (request,) = await agent.start()
    assert request["description"].startswith("delete a.txt")
    (root / "a.txt").unlink()
    if changed == "content":
        (root / "a.txt").write_text("precious")
    assert not await agent.decide(APPROVE)
    assert agent.answers[0].status == "error"
    assert (root / "a.txt").exists() is (changed == "content")


@ways
async def test_what_would_have_done_nothing_when_it_was_shown_does_nothing(way, root):
    """Approved was a refusal; by now the call could be carried out."""
    edit = call("edit", path="b.txt", old_string="old", new_string="new")
    agent = Agent(way, root, [edit], "filesystem")
    (request,) = await agent.start()
    assert "changes nothing or is refused" in request["description"]
    (root / "b.txt").write_text("old\n")
    await agent.decide(APPROVE)
    assert agent.answers[0].status == "error"
    assert (root / "b.txt").read_text() == "old\n"


@ways
async def test_edits_of_one_file_are_approved_at_once(way, root):
    (root / "a.txt").write_text("".join(f"line {n}\n" for n in range(9)))
    edits = [
        call("edit", path="a.txt", old_string=f"line {n}\n", new_string=f"{n}!\n") for n in range(9)
    ]
    agent = Agent(way, root, [edits], "filesystem")
    asked = await agent.start()
    for n, request in enumerate(asked):
        assert f"-line {n}\n+{n}!" in request["description"]
    assert not await agent.decide(*[APPROVE] * 9)
    assert (root / "a.txt").read_text() == "".join(f"{n}!\n" for n in range(9))


@ways
async def test_of_two_approved_writes_of_one_text_the_later_one_is_refused(way, root):
    twice = [call("write", path="a.txt", content=text) for text in ("1\n", "2\n")]
    agent = Agent(way, root, [twice])
    await agent.start()
    await agent.decide(APPROVE, APPROVE)
    assert [message.status for message in agent.answers] == ["success", "error"]
    assert "-1\n+2" in agent.answers[1].text
    assert (root / "a.txt").read_text() == "1\n"


async def test_the_same_command_twice_is_two_calls_and_each_runs_once(root):
    agent = Agent("ainvoke", root, [[COMMAND] * 3])
    assert len(await agent.start()) == 3
    await agent.decide(APPROVE, {"type": "reject"}, APPROVE)
    assert (root / "log").read_text() == "ran\nran\n"


async def test_an_event_loop_is_not_held_up_by_what_is_shown(root):
    agent = Agent("ainvoke", root, [WRITE])
    gc.collect()  # what earlier tests left waits for its processes when it goes
    with blockbuster.blockbuster_ctx():
        await agent.start()
        await agent.decide(APPROVE)
    assert (root / "a.txt").read_text() == "new a\n"


@ways
async def test_a_host_says_by_the_arguments_what_is_not_asked_about(way, root):
    pytest.importorskip("tree_sitter_bash")

    def is_unknown(request):
        return any(part.words != ("git", "status") for part in request.commands)

    commands = ["git status; git status", "git status && touch log", "git status > log"]
    calls = [call("bash", command=command) for command in commands]
    agent = Agent(way, root, [calls], when=is_unknown)
    asked = await agent.start()
    assert [request["args"]["command"] for request in asked] == commands[1:]
    await agent.decide({"type": "reject"}, {"type": "reject"})
    assert not (root / "log").exists()
    assert [message.name for message in agent.answers] == ["bash"] * 3


@ways
async def test_the_workspaces_own_rule_holds_for_what_a_person_approved(way, root):
    asked = []

    def approve(request):
        asked.append(request.tool)
        return "not here" if request.tool == "write" else True

    agent = Agent(way, Workspace(root, approve=approve), [[WRITE, COMMAND]])
    await agent.start()
    asked.clear()
    await agent.decide(APPROVE, APPROVE)
    assert sorted(asked) == ["bash", "write"]
    assert "not here" in agent.answers[0].text
    assert (root / "a.txt").read_text() == "old a\n"
    assert (root / "log").read_text() == "ran\n"


def test_only_effects_that_need_approval_are_asked_about(root):
    asked = {*interrupt_on(get_tools(root))}
    assert asked >= {"write", "edit_lines", "bash"}
    assert not asked & {"read", "grep", "glob", "ls", "webfetch", "websearch"}
    network = Workspace(root, approve_effects=[Effect.NETWORK])
    assert {*interrupt_on(get_tools(network))} == {"webfetch", "websearch"}


@ways
async def test_of_a_tool_with_several_commands_reading_is_not_asked_about(way, root):
    name = "str_replace_based_edit_tool"
    change = {"command": "str_replace", "old_str": "old", "new_str": "new"}
    calls = [call(name, command="view", path="a.txt"), call(name, path="a.txt", **change)]
    agent = Agent(way, root, [calls], "anthropic")
    (request,) = await agent.start()
    assert request["args"]["command"] == "str_replace"
    await agent.decide(APPROVE)
    assert (root / "a.txt").read_text() == "new a\n"


class Hosts:
    """Each step of the thread is on a new host, which has only the files and the saver."""

    def __init__(self, way, root, folder, monkeypatch):
        self.way, self.root, self.folder, self.set = way, root, folder, monkeypatch.setenv
        self.number = 0

    async def send(self, sent, turns=((COMMAND, WRITE),)):
        self.number += 1
        self.set("XDG_STATE_HOME", str(self.folder / f"host {self.number}"))
        turns = [[*turn] for turn in turns]
        database = str(self.folder / "states.db")
        with closing(Workspace(self.root)) as workspace:
            if self.way == "ainvoke":
                async with AsyncSqliteSaver.from_conn_string(database) as saver:
                    agent = Agent(self.way, workspace, turns, saver=saver)
                    await agent.send(sent)
            else:
                with SqliteSaver.from_conn_string(database) as saver:
                    agent = Agent(self.way, workspace, turns, saver=saver)
                    await agent.send(sent)
        return agent


@pytest.fixture(params=["invoke", "ainvoke"])
def hosts(request, root, tmp_path, monkeypatch):
    return Hosts(request.param, root, tmp_path, monkeypatch)


YES = Command(resume={"decisions": [APPROVE, APPROVE]})


async def test_what_was_asked_on_one_host_is_answered_on_another_and_runs_once(hosts, root):
    turns = [(COMMAND, WRITE), (COMMAND,)]
    await hosts.send(GO, turns)
    agent = await hosts.send(YES, turns)
    assert (root / "log").read_text() == "ran\n"
    assert len(agent.asked) == 1
    agent = await hosts.send(Command(resume={"decisions": [APPROVE]}), turns)
    assert agent.state["messages"][-1].text == "Done."
    assert (root / "log").read_text() == "ran\nran\n"
    assert (root / "a.txt").read_text() == "new a\n"
    assert {message.status for message in agent.answers} == {"success"}


async def test_what_changed_before_the_answer_is_refused_on_any_host(hosts, root):
    await hosts.send(GO)
    (root / "a.txt").write_text("somebody else\n")
    agent = await hosts.send(YES)
    assert [message.status for message in agent.answers] == ["success", "error"]
    assert "-somebody else\n+new a" in agent.answers[1].text
    assert (root / "a.txt").read_text() == "somebody else\n"


class AsyncOnly(InMemorySaver):
    """As savers of hosts' own may be."""

    def get_tuple(self, config):
        raise NotImplementedError

    async def aget_tuple(self, config):
        return super().get_tuple(config)


async def test_a_saver_may_have_nothing_but_coroutines(root):
    agent = Agent("ainvoke", root, [[COMMAND, WRITE]], saver=AsyncOnly())
    await agent.start()
    (root / "a.txt").write_text("somebody else\n")
    await agent.decide(APPROVE, APPROVE)
    assert (root / "log").read_text() == "ran\n"
    assert (root / "a.txt").read_text() == "somebody else\n"


@ways
async def test_beside_the_middleware_that_brings_the_tools(way, root):
    ours = FsAgentMiddleware(root)
    agent = object.__new__(Agent)
    agent.way = way
    agent.graph = create_agent(
        ScriptedChatModel([WRITE, "Done."]),
        middleware=[ours, HumanInTheLoopMiddleware(interrupt_on(ours.tools))],
        checkpointer=InMemorySaver(),
    )
    assert "+new a" in (await agent.start())[0]["description"]
    (root / "a.txt").write_text("somebody else\n")
    await agent.decide(APPROVE)
    assert (root / "a.txt").read_text() == "somebody else\n"


@pytest.mark.parametrize("left", ["full", "off"])
def test_without_artifacts_nothing_is_left_of_what_was_redacted(left, root):
    (root / "a.txt").write_text("ask bob@example.com\n")
    tools = get_tools(root, only=["read"], artifact=left)
    redacting = PIIMiddleware("email", apply_to_tool_results=True)
    model = ScriptedChatModel([call("read", path="a.txt"), "Done."])
    state = create_agent(model, tools, middleware=[redacting]).invoke(GO)
    (answer,) = [m for m in state["messages"] if m.type == "tool"]
    assert "REDACTED" in answer.text
    assert ("bob@example.com" in repr(answer)) is (left == "full")
