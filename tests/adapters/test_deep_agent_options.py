"""One call gives a deep agent our files in every part of it, on one disk."""

from dataclasses import dataclass

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from fsagent_tools import MemoryFiles, Workspace
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_deepagents import FsAgentBackend, deep_agent_options
from fsagent_tools_langchain import FsAgentMiddleware

GO, THREAD = {"messages": [("user", "go")]}, {"configurable": {"thread_id": "1"}}
REVIEWER = {"name": "reviewer", "description": "Reviews.", "system_prompt": "Review."}
SKILL = "---\nname: prices\ndescription: How prices are made.\n---\n# Prices\n"


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def root(tmp_path):
    (root := tmp_path / "root").mkdir()
    (root / "a.txt").write_text("one\n")
    return root


def texts(state):
    return [message.text for message in state["messages"] if message.type == "tool"]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("toolset", [None, "deepagents"])
async def test_memory_skills_and_subagents_are_of_one_disk(toolset, way, root):
    (root / "AGENTS.md").write_text("Prices are in euros.\n")
    (root / "skills/prices").mkdir(parents=True)
    (root / "skills/prices/SKILL.md").write_text(SKILL)
    heard = []

    def reviews(messages):
        heard.append(messages[0].text)
        return call("read_file" if toolset else "read", file_path="a.txt")

    def asks(messages):
        heard.append(messages[0].text)
        return call("task", description="Review.", subagent_type="reviewer")

    model = ScriptedChatModel([asks, reviews, "Fine.", "Done."])
    agent = create_deep_agent(
        model=model,
        memory=["/AGENTS.md"],
        skills=["/skills"],
        checkpointer=InMemorySaver(),
        **deep_agent_options(root, toolset, subagents=[REVIEWER]),
    )
    state = agent.invoke(GO, THREAD) if way == "invoke" else await agent.ainvoke(GO, THREAD)
    assert "Prices are in euros." in heard[0]
    assert "How prices are made." in heard[0]
    assert heard[1].startswith("Review.")
    assert texts(state) == ["Fine."]
    assert {path.name for path in root.iterdir()} - {".ai"} == {"AGENTS.md", "a.txt", "skills"}


def test_a_subagent_of_the_hosts_has_our_tools_and_keeps_its_own_middleware(root):
    own = FsAgentMiddleware(root, name="more", only=["ls"], prefix="more_")
    compiled = {"name": "c", "description": "d", "runnable": create_agent(ScriptedChatModel(["x"]))}
    given = [{**REVIEWER, "middleware": [own]}, compiled]
    options = deep_agent_options(root, subagents=given)
    assert options["subagents"][0]["middleware"] == [*options["middleware"], own]
    assert options["subagents"][1] is compiled
    assert given[0]["middleware"] == [own]


@pytest.mark.full
def test_a_long_conversation_is_summarized_and_kept(root, caplog):
    turns = ["word " * 100_000] * 12
    agent = create_deep_agent(
        model=ScriptedChatModel(turns), checkpointer=InMemorySaver(), **deep_agent_options(root)
    )
    for _ in range(5):
        agent.invoke(GO, THREAD)
    (history,) = root.glob(".ai/cache/conversation_history/*.md")
    assert "word word" in history.read_text()
    assert "ffloading" not in caplog.text


@dataclass
class User:
    name: str


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_each_user_has_a_workspace_and_memory_of_their_own(way, tmp_path):
    heard = {}
    for name in ("ann", "bob"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "AGENTS.md").write_text(f"I am {name}.\n")
        turns = [
            lambda messages: (
                heard.update(said=messages[0].text)
                or call("write", file_path="mine.txt", content="x")
            ),
            "Done.",
        ]
        options = deep_agent_options(lambda run: tmp_path / run.context.name)
        agent = create_deep_agent(
            model=ScriptedChatModel(turns), memory=["/AGENTS.md"], context_schema=User, **options
        )
        if way == "invoke":
            agent.invoke(GO, context=User(name))
        else:
            await agent.ainvoke(GO, context=User(name))
        assert f"I am {name}." in heard["said"]
        assert (tmp_path / name / "mine.txt").read_text() == "x"


def test_a_backend_of_a_function_works_where_the_run_is(tmp_path):
    backend = FsAgentBackend(lambda run: tmp_path if run is None else tmp_path / "no")
    assert backend.write("/a.txt", "x").error is None
    assert backend.execute("cat a.txt").output == "x"
    with pytest.raises(ConfigInvalid, match="Pass a path"):
        FsAgentBackend(lambda _: Workspace(files=MemoryFiles({}))).ls("/")
