"""A call of an agent of LlamaIndex runs once, in whatever process its `Context` goes on."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from workflows.runtime.types.results import StepWorkerContext

from fsagent_tools import EventLog, Workspace, identified
from fsagent_tools.testing import call
from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools_llamaindex import get_tools
from fsagent_tools_llamaindex.approval import ApprovalGiven, ApprovalRequired, ask
from tests.conftest import eventually

pytestmark = [
    pytest.mark.skipif(
        "event" not in StepWorkerContext.__dataclass_fields__,
        reason="this LlamaIndex does not say what a step is about",
    ),
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key"),
]
HOST = textwrap.dedent(
    """
    import asyncio, json, sys
    from pathlib import Path
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.agent.workflow.workflow_events import ToolCall, ToolCallResult
    from llama_index.core.workflow import Context
    from fsagent_tools import identified
    from fsagent_tools.testing import call
    from fsagent_tools.testing.llamaindex import ScriptedLLM
    from fsagent_tools_llamaindex import get_tools

    root, kept, scope = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    wait = "touch begun; until test -e go; do sleep 0.05; done"
    turn = [call("bash", command=f"echo ran >> log; {wait}"), call("bash", command="echo b >> log")]

    async def main():
        llm = ScriptedLLM([turn, "Done."])
        agent = FunctionAgent(tools=get_tools(root, once=True), llm=llm)
        saved = json.loads(kept.read_text()) if kept.exists() else None
        context = Context.from_dict(agent, saved) if saved else Context(agent)
        with identified(scope=scope):
            handler = agent.run(ctx=context) if saved else agent.run("go", ctx=context)
        calls, told = 0, []
        async for event in handler.stream_events():
            calls += type(event) is ToolCall
            if calls == 2 and not kept.exists():
                kept.write_text(json.dumps(handler.ctx.to_dict()))
            if isinstance(event, ToolCallResult):
                told.append(event.tool_output.content)
                if len(told) == 2:
                    print(json.dumps(sorted(told)), flush=True)
                    return

    asyncio.run(main())
    """
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def host(root, scope="turn 1"):
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", HOST, root, root.parent / "context.json", scope],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )


def lines(root):
    return sorted((root / "log").read_text().split())


def test_a_host_that_is_killed_in_the_middle_and_another_that_goes_on(root):
    with host(root) as killed:
        kept = root.parent / "context.json"
        assert eventually(lambda: (root / "begun").exists() and kept.exists())
        assert eventually(lambda: lines(root) == ["b", "ran"])
        killed.kill()
    (root / "go").touch()
    with host(root) as again:
        told = json.loads(again.stdout.read())
    assert lines(root) == ["b", "ran"]
    assert any("was begun before, and how it ended is not known" in one for one in told), told
    with host(root, "turn 2") as other:
        assert len(json.loads(other.stdout.read())) == 2
    assert lines(root) == ["b", "b", "ran", "ran"]


async def ran(root, llm, *, answer=None, **options):
    """What the calls of one run in the scope "turn" told."""
    with identified(scope="turn"):
        handler = FunctionAgent(tools=get_tools(root, **options), llm=llm).run("go")
    told = []
    async for event in handler.stream_events():
        if isinstance(event, ApprovalRequired):
            handler.ctx.send_event(ApprovalGiven(fingerprint=event.fingerprint, **answer))
        if isinstance(event, ToolCallResult):
            told.append(event.tool_output.content)
    await handler
    return told


async def test_a_run_of_the_same_scope_repeats_what_was_told(root):
    turns = [call("bash", command="echo ran | tee -a log"), "Done."]
    assert [await ran(root, ScriptedLLM(turns), once=True) for _ in "12"] == [["ran"]] * 2
    assert lines(root) == ["ran"]


@pytest.mark.parametrize("again", [
    {"arguments": {"command": "echo person | tee -a log"}},
    {"arguments": {"command": "echo another | tee -a log"}},
    {},
])  # fmt: skip
async def test_a_call_that_a_person_has_changed_runs_once(root, again):
    """Whatever another host is answered about it, or nothing: it only tells what was done."""
    turns = [call("bash", command="echo model >> log"), "Done."]
    edited = {"arguments": {"command": "echo person | tee -a log"}}
    asking = [Workspace(root, approve=ask) for _ in "12"]
    told = [
        await ran(host, ScriptedLLM(turns), answer={"approved": True, **given})
        for host, given in zip(asking, (edited, again), strict=True)
    ]
    assert told[0] == told[1]
    assert "The user changed the arguments" in told[0][0]
    assert lines(root) == ["person"]


class Naming(ScriptedLLM):
    """Gives calls another ID, as the classes of LlamaIndex for some providers do."""

    id_: str

    def get_tool_calls_from_response(self, *given, **more):
        found = super().get_tool_calls_from_response(*given, **more)
        return [one.model_copy(update={"tool_id": self.id_}) for one in found]


@pytest.mark.parametrize("id_", ["bash", ""])
async def test_calls_that_have_no_id_of_their_own_are_not_taken_for_the_same(root, id_):
    turns = [[call("bash", command="echo ran >> log")] * 2, "Done."]
    assert len(await ran(root, Naming(turns, id_=id_), once=True)) == 2
    assert lines(root) == ["ran", "ran"]


async def test_records_have_the_id_of_the_models_call(root):
    records = []
    workspace = Workspace(root, log=EventLog(records.append))
    llm = Naming([call("ls"), "Done."], id_="call_7")
    await FunctionAgent(tools=get_tools(workspace), llm=llm).run("go")
    assert [record["call"] for record in records] == ["call_7"]
