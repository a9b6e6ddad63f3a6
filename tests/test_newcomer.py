"""What a newcomer wants to do first, with the README and its recipes: their blocks have effect."""

import ast
import asyncio
import inspect
import json
import re
import shlex
from pathlib import Path

import pytest

from fsagent_tools.cli import main
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.testing.llamaindex import ScriptedLLM

ROOT = Path(__file__).parents[1]
TEXT = "".join((ROOT / name).read_text() for name in ("README.md", "docs/howto/recipes.md"))
TURNS = (call("read", file_path="README.md"), "It is a small shop.")
NEW = {"file_path": "new.txt", "content": "new\n"}


@pytest.fixture
def follow(shop, monkeypatch, typed, request):
    """Runs the one block of a section, answers questions with `answer`; gives its names."""
    monkeypatch.chdir(shop)
    request.node.add_marker(
        pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
    )

    def run(section, answer="y"):
        typed(answer)
        names = {"model": ScriptedChatModel(TURNS), "llm": ScriptedLLM(TURNS)}
        code = compile(block(section), "README", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if inspect.iscoroutine(waiting := eval(code, names)):
            asyncio.run(waiting)
        return {getattr(tool, "name", ""): tool for tool in names.get("tools", ())}, names

    return run


def block(section, language="python"):
    title = rf"^##+ {re.escape(section)}$"
    found = re.search(rf"{title}.*?^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return found[1]


def said(tool, **arguments):
    message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})
    return message.status, message.text


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
@pytest.mark.parametrize("framework", ["LangChain", "LlamaIndex"])
def test_an_agent_reads_the_project(follow, capsys, framework):
    follow(framework)
    assert "It is a small shop." in capsys.readouterr().out


def test_an_agent_that_may_only_read_has_no_tool_that_writes(follow):
    tools, _ = follow("Read only")
    assert {tool.metadata["effect"] for tool in tools.values()} == {"read"}
    assert said(tools["read"], file_path="README.md")[0] == "success"


def test_files_are_kept_away_from_the_agent(follow, shop):
    (shop / ".env").write_text("SECRET")
    (shop / "shop/.env").write_text("SECRET")
    tools, _ = follow("Keep files away from the agent")
    assert "bash" not in tools
    for name in (".env", "shop/.env"):
        status, text = said(tools["read"], file_path=name)
        assert (status, "SECRET" in text) == ("error", False)
    assert "SECRET" not in said(tools["grep"], pattern="SECRET")[1].replace("'SECRET'", "")
    assert said(tools["read"], file_path="shop/cart.py")[0] == "success"


@pytest.mark.parametrize(("answer", "status"), [("y", "success"), ("n", "error")])
def test_every_change_is_approved(answer, status, follow, shop, capsys):
    tools, _ = follow("Approve every change", answer)
    assert said(tools["write"], **NEW)[0] == status
    assert (shop / "new.txt").exists() == (answer == "y")
    assert "+new" in capsys.readouterr().out


def test_what_happened_can_be_read_afterwards(follow, shop):
    tools, _ = follow("See what happened")
    said(tools["bash"], command="echo hello > hello.txt")
    read, bash = map(json.loads, (shop.parent / "agent.jsonl").read_text().splitlines())
    assert (read["tool"], read["paths"]) == ("read", ["README.md"])
    assert (bash["command"], bash["changed"]) == ("echo hello > hello.txt", ["hello.txt"])


def test_a_change_is_undone(follow, shop):
    follow("Undo")
    assert not (shop / "notes.txt").exists()


def test_the_steps_of_an_agent_are_streamed(follow, capsys):
    follow("Stream")
    steps = [line for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    assert [next(iter(ast.literal_eval(re.match(r"\{'\w+'", s)[0] + ": 0}"))) for s in steps] == [
        "model", "tools", "model",
    ]  # fmt: skip


def test_users_do_not_see_each_others_files(follow):
    _, names = follow("Many users")
    [answer] = [m for m in names["answer"]["messages"] if m.type == "tool"]
    assert answer.status == "error"  # README.md is not in the folder of this user


def test_the_command_line_does_the_same(shop, monkeypatch, capsys):
    monkeypatch.chdir(shop)
    for line in block("On the command line", "console").splitlines()[:3]:
        words = shlex.split(line.removeprefix("$ fsagent "), comments=True)
        assert main(words) == 0
    assert "return 0" in (shop / "shop/prices.py").read_text()
    assert "def parse" in capsys.readouterr().out
