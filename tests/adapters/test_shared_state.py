"""Hosts that share `state=`: processes with a state directory of their own each, and one saver."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from tests.conftest import eventually

pytest.importorskip("langgraph.checkpoint.sqlite", reason="a development requirement")
LANGGRAPH = textwrap.dedent(
    """
    import json, sys
    from langchain.agents import create_agent
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.types import Command
    from fsagent_tools.testing import call
    from fsagent_tools.testing.langchain import ScriptedChatModel
    from fsagent_tools_langchain import FsAgentMiddleware

    folder, options, do, script = sys.argv[1], *map(json.loads, sys.argv[2:])
    script = [s if isinstance(s, str) else [call(n, **sent) for n, sent in s] for s in script]
    middleware = FsAgentMiddleware(f"{folder}/root", state=f"{folder}/state", **options)
    model = ScriptedChatModel(script)
    with SqliteSaver.from_conn_string(f"{folder}/graph.sqlite") as saver:
        agent = create_agent(model, checkpointer=saver, middleware=[middleware])
        thread = {"configurable": {"thread_id": "1"}}
        if "approve" in do:
            sent = Command(resume={"decisions": [{"type": "approve"}] * do["approve"]})
        else:
            sent = None if "back" in do or "resume" in do else {"messages": [("user", "go")]}
        if "back" in do:
            states = [one for one in agent.get_state_history(thread) if one.next][::-1]
            thread = states[do["back"]].config
        state = agent.invoke(sent, thread)
        tools = [[m.status, m.text] for m in state["messages"] if m.type == "tool"]
        print(json.dumps({"waits": "__interrupt__" in state, "tools": tools}))
    """
)
LLAMA_INDEX = textwrap.dedent(
    """
    import asyncio, json, sys, warnings
    warnings.simplefilter("ignore")
    from pathlib import Path
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.workflow import Context
    from fsagent_tools.testing import call
    from fsagent_tools.testing.llamaindex import ScriptedLLM
    from fsagent_tools_llamaindex import get_tools

    folder, options, do, script = sys.argv[1], *map(json.loads, sys.argv[2:])
    script = [s if isinstance(s, str) else [call(n, **sent) for n, sent in s] for s in script]
    kept = Path(folder, f"context {do['from']}.json")

    async def run():
        tools = get_tools(f"{folder}/root", state=f"{folder}/state", **options)
        agent = FunctionAgent(tools=tools, llm=ScriptedLLM(script))
        known = json.loads(kept.read_text()) if kept.exists() else None
        context = Context.from_dict(agent, known) if known else Context(agent)
        await agent.run("go", ctx=context)
        Path(folder, f"context {do['to']}.json").write_text(json.dumps(context.to_dict()))
        print(json.dumps({}))

    asyncio.run(run())
    """
)


class Hosts:
    def __init__(self, folder, program, **options):
        self.folder, self.program, self.options = folder, program, options

    def begin(self, host, do, *script):
        words = [str(self.folder), *map(json.dumps, (self.options, do, script))]
        return subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", self.program, *words],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "XDG_STATE_HOME": str(self.folder / f"own of {host}")},
        )

    def run(self, host, do, *script):
        with self.begin(host, do, *script) as process:
            return json.loads(process.stdout.read())

    def files(self):
        return {path.name: path.read_text() for path in (self.folder / "root").glob("*.txt")}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "state").mkdir()
    return tmp_path


def write(name, content):
    return ["write", {"file_path": name, "content": content}]


def test_asked_on_one_approved_on_another_and_finished_on_a_third_exactly_once(folder):
    hosts = Hosts(folder, LANGGRAPH, approval=True)
    wait = "echo ran >> log; touch begun; until test -e go; do sleep 0.05; done"
    script = [["bash", {"command": wait}], write("a.txt", "one\n")], "Done."
    assert hosts.run("A", {}, *script)["waits"]
    with hosts.begin("B", {"approve": 2}, *script) as killed:
        assert eventually((folder / "root/begun").exists)
        killed.kill()
    (folder / "root/go").touch()
    end = hosts.run("C", {"resume": 1}, *script)
    while end["waits"]:
        end = hosts.run("C", {"approve": 2}, *script)
    (unknown, _) = end["tools"]
    assert "was begun before, and how it ended is not known" in unknown[1]
    assert (folder / "root/log").read_text() == "ran\n"
    assert hosts.files() == {"a.txt": "one\n"}
