"""Whoever sits at a terminal sees the diff and answers y, n or why not."""

import os
import pty
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import eventually

pytestmark = pytest.mark.full

MODEL = """
import sys
from fsagent_tools.testing import call
WRITES = [("a.txt", "new\\n"), ("b.txt", "b\\n")]
TURNS = [[call("write", path=path, content=text) for path, text in WRITES], "Done."]
root, approve = sys.argv[1:]
"""
CALLBACK = """
from langchain.agents import create_agent
from fsagent_tools import Workspace, approve_at_terminal
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import get_tools
tools = get_tools(Workspace(root, approve=approve_at_terminal))
agent = create_agent(ScriptedChatModel(TURNS), tools)
print(*(m.text for m in agent.invoke({"messages": [("user", "go")]})["messages"]))
"""
LLAMAINDEX = """
import asyncio
from llama_index.core.agent.workflow import FunctionAgent
from fsagent_tools import Workspace, approve_at_terminal
from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools_llamaindex import get_tools
async def main():
    tools = get_tools(Workspace(root, approve=approve_at_terminal))
    handler = FunctionAgent(tools=tools, llm=ScriptedLLM(TURNS)).run("go")
    async for event in handler.stream_events():
        if type(event).__name__ == "ToolCallResult":
            print(event.tool_output.content)
    print(await handler)
asyncio.run(main())
"""
PROGRAMS = {
    "callback": CALLBACK,
    "llamaindex": LLAMAINDEX,
}


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, kind, root):
        self.master, slave = pty.openpty()
        code = textwrap.dedent(MODEL + PROGRAMS[kind])
        environment = {
            **os.environ,
            "XDG_STATE_HOME": f"{root}-state",
            "NO_COLOR": "1",
            "TERM": "dumb",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code, root, kind],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
        )
        os.close(slave)
        os.set_blocking(self.master, False)
        self.shown = ""

    def sees(self, text):
        """Waits until the terminal shows it; what stands before it is done with."""
        assert eventually(lambda: text in self._read()), self.shown
        before, self.shown = self.shown.split(text, 1)
        return before

    def types(self, text):
        os.write(self.master, text.encode())

    def _read(self):
        with suppress(OSError):  # nothing yet, or the program has ended
            self.shown += os.read(self.master, 65536).decode().replace("\r\n", "\n")
        return self.shown

    def close(self):
        os.close(self.master)
        self.process.kill()
        self.process.wait()


@pytest.fixture
def terminal(tmp_path):
    opened = []
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.txt").write_text("old\n")

    def start(kind):
        opened.append(Terminal(kind, tmp_path / "root"))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


@pytest.mark.parametrize("kind", PROGRAMS)
def test_the_diff_is_shown_and_an_answer_is_of_one_call(kind, terminal, tmp_path):
    at, told = terminal(kind), ""
    for _ in range(2):  # in any order
        shown = at.sees("Allow write")
        told += shown
        question = at.sees("or why not: ")
        assert "[y/N" in question
        if "+++ b/b.txt" in shown:  # what was done to the other file may be told behind it
            at.types("not this one\n")
        else:
            assert "+++ b/a.txt" in shown
            at.types("y\n")
    assert (told + at.sees("Done.")).count("not this one") == 2  # echoed, and told to the model
    assert Path(tmp_path / "root/a.txt").read_text() == "new\n"
    assert not Path(tmp_path / "root/b.txt").exists()
