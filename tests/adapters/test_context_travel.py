"""A `Context` that was kept and is used again gets the files that it had then."""

import json
import subprocess
import sys

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.workflow import Context

from fsagent_tools import ToolError, Workspace
from fsagent_tools.testing import call
from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools_llamaindex import get_tools
from tests.adapters.test_travel import files
from tests.adapters.test_travel import root as root
from tests.adapters.test_travel import state as state

pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key"),
]


def write(name, text):
    return call("write", file_path=name, content=text)


def agent(workspace, *turns):
    return FunctionAgent(tools=get_tools(workspace, checkpoints=True), llm=ScriptedLLM(turns))


async def run(workspace, kept, *turns):
    """One run of an agent on a kept context; what is kept of it afterwards."""
    workflow = agent(workspace, *turns, "done")
    context = Context.from_dict(workflow, json.loads(kept)) if kept else Context(workflow)
    await workflow.run("go", ctx=context)
    return json.dumps(context.to_dict())


async def test_an_earlier_context_brings_its_files_back(root):
    workspace = Workspace(root)
    one = await run(workspace, None, write("a.txt", "one"))
    two = await run(workspace, one, write("a.txt", "two"), write("b.txt", "three"))
    assert files(root) == {"a.txt": "two", "b.txt": "three"}
    await run(workspace, one, call("ls"))
    assert files(root) == {"a.txt": "one"}
    three = await run(workspace, two, write("c.txt", "x"))
    assert files(root) == {"a.txt": "two", "b.txt": "three", "c.txt": "x"}
    await run(workspace, three, call("ls"))
    assert files(root) == {"a.txt": "two", "b.txt": "three", "c.txt": "x"}


async def test_calls_beside_each_other_and_a_context_that_goes_on_take_nothing_back(root):
    workspace = Workspace(root)
    kept = await run(workspace, None, [write(f"{n}.txt", "x") for n in range(6)], call("ls"))
    assert len(files(root)) == 6
    (root / "0.txt").write_text("by hand")
    await run(workspace, kept, [write(f"{n}.txt", "y") for n in range(1, 6)])
    assert files(root) == {"0.txt": "by hand", **{f"{n}.txt": "y" for n in range(1, 6)}}


async def test_a_context_that_was_on_another_host_is_gone_on_from(root, tmp_path, monkeypatch):
    kept, hosts = None, {host: Workspace(root) for host in "AB"}
    for number, host in enumerate("ABAAB"):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"state of {host}"))
        kept = await run(hosts[host], kept, write(f"{number}.txt", "x"))
    assert len(files(root)) == 5


async def test_what_others_changed_is_refused_to_the_model(root):
    workspace, heard = Workspace(root), []

    def listen(messages):
        heard.append(messages[-1].text)
        return "done"

    one = await run(workspace, None, write("a.txt", "one\n"))
    await run(workspace, one, write("a.txt", "two\n"))
    (root / "a.txt").write_text("somebody's\n")
    await run(workspace, one, call("ls"), listen)
    assert "a.txt" in heard[0]
    assert "The thread went back to an earlier state; its files could not." in heard[0]
    assert "Ask the user to put these files right." in heard[0]
    assert "`paths`" not in heard[0]  # which this call does not have
    assert "changed" in heard[0]
    assert files(root) == {"a.txt": "somebody's\n"}


async def test_outside_a_workflow_a_tool_works_as_ever(root):
    tools = {tool.metadata.name: tool for tool in get_tools(Workspace(root), checkpoints=True)}
    assert not (await tools["write"].acall(file_path="a.txt", content="x")).is_error
    assert not tools["ls"].call().is_error


def test_a_workspace_without_history_is_refused(root):
    with pytest.raises(ToolError, match="history"):
        get_tools(Workspace(root, history=False), checkpoints=True)


PROCESS = """
import asyncio, sys
sys.path[:0] = {path!r}
from tests.adapters.test_context_travel import *
print(asyncio.run(run(Workspace({root!r}), {kept!r}, {turn})))
"""


async def test_a_new_process_goes_back(root):
    workspace = Workspace(root)
    one = await run(workspace, None, write("a.txt", "one"))
    await run(workspace, one, [write("a.txt", "two"), write("b.txt", "x")])
    source = PROCESS.format(path=sys.path, root=str(root), kept=one, turn="call('ls')")
    ran = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert files(root) == {"a.txt": "one"}
