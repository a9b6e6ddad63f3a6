"""LlamaIndex's workflows wait for an approval, and only what was shown then happens."""

import asyncio
import json
from contextlib import suppress

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from workflows.errors import WorkflowCancelledByUser
from workflows.runtime.types.results import StepWorkerState

import fsagent_tools_llamaindex
from fsagent_tools import Workspace
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.testing import call
from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools_llamaindex.approval import (
    ApprovalGiven,
    ApprovalRequired,
    ask,
    resume_run,
    save_run,
)
from samples import PRICES
from tests.conftest import PATIENCE

TURNS = [call("rm", path=PRICES), "Done."]

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")


@pytest.mark.parametrize("approved", [True, False])
async def test_llamaindex_waits_for_the_answer(approved, shop):
    tools = fsagent_tools_llamaindex.get_tools(Workspace(shop, approve=ask), "filesystem")
    handler = FunctionAgent(tools=tools, llm=ScriptedLLM(TURNS)).run("Clean up.")
    requests = []
    async for event in handler.stream_events():
        if isinstance(event, ApprovalRequired):
            requests.append(event.request)
            assert (shop / PRICES).exists()
            handler.ctx.send_event(ApprovalGiven(fingerprint="0", approved=True))  # of another
            handler.ctx.send_event(
                ApprovalGiven(fingerprint=event.fingerprint, approved=approved, reason="keep it")
            )
    assert "Done." in str(await handler)
    assert [request["diff"] for request in requests] == [f"delete {PRICES}"]
    assert (shop / PRICES).exists() is not approved


async def answered(shop, **answer):
    """What was asked, and what the tools gave, of an agent whose questions get this answer."""
    tools = fsagent_tools_llamaindex.get_tools(Workspace(shop, approve=ask), "filesystem")
    handler = FunctionAgent(tools=tools, llm=ScriptedLLM(TURNS)).run("Clean up.")
    asked, results = [], []
    async for event in handler.stream_events():
        if isinstance(event, ApprovalRequired):
            asked.append(event.request["diff"])
            handler.ctx.send_event(ApprovalGiven(fingerprint=event.fingerprint, **answer))
        if isinstance(event, ToolCallResult):
            results.append(event.tool_output)
    assert "Done." in str(await handler)
    return asked, results


@pytest.mark.skipif(
    "work_item_id" not in StepWorkerState.__dataclass_fields__,
    reason="this LlamaIndex does not tell equal calls apart",
)
async def test_llamaindex_asks_about_each_of_two_equal_calls_of_one_message(shop):
    twice = call("bash", command="echo ran >> log")
    tools = fsagent_tools_llamaindex.get_tools(Workspace(shop, approve=ask))
    handler = FunctionAgent(tools=tools, llm=ScriptedLLM([[twice, twice], "Done."])).run("Go.")
    asked = []
    async with asyncio.timeout(PATIENCE):
        async for event in handler.stream_events():
            if isinstance(event, ApprovalRequired):
                assert event.request["fingerprint"] == event.fingerprint
                asked.append(event.fingerprint)
                given = ApprovalGiven(fingerprint=event.fingerprint, approved=len(asked) == 1)
                handler.ctx.send_event(given)
        assert "Done." in str(await handler)
    assert len({*asked}) == 2
    assert (shop / "log").read_text() == "ran\n"


def test_llamaindex_outside_a_workflow_refuses(shop):
    tools = fsagent_tools_llamaindex.get_tools(Workspace(shop, approve=ask), "filesystem")
    (rm,) = [tool for tool in tools if tool.metadata.name == "rm"]
    with pytest.raises(ConfigInvalid, match="workflow"):
        rm.call(path=PRICES)
    assert (shop / PRICES).exists()


async def test_llamaindex_goes_on_in_another_process_to_the_end_of_the_run(
    shop, tmp_path, monkeypatch
):
    """The call runs once, and the model that is told of it has the whole conversation."""

    def agent():
        tools = fsagent_tools_llamaindex.get_tools(Workspace(shop, approve=ask))
        command = call("bash", command=f"echo ran >> {shop}/log")
        turns = [command, lambda messages: " ".join(m.role for m in messages)]
        return FunctionAgent(tools=tools, llm=ScriptedLLM(turns))

    handler = agent().run("Go.")
    async for event in handler.stream_events():
        if isinstance(event, ApprovalRequired):
            saved = json.dumps(await save_run(handler.ctx))
            break
    await handler.cancel_run()
    with suppress(WorkflowCancelledByUser):
        await handler
    assert not (shop / "log").exists()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state of another"))
    handler = await resume_run(agent(), json.loads(saved))
    handler.ctx.send_event(ApprovalGiven(fingerprint=event.fingerprint, approved=True))
    async with asyncio.timeout(PATIENCE):
        assert "user assistant tool" in str(await handler)
    assert (shop / "log").read_text() == "ran\n"
