"""What fifty runs of an agent leave on the machine: nothing."""

import gc
import tempfile

import pytest
from blockbuster import blockbuster_ctx
from langchain.agents import create_agent
from llama_index.core.agent.workflow import FunctionAgent

import fsagent_tools_langchain
import fsagent_tools_llamaindex
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.testing.llamaindex import ScriptedLLM
from samples import PRICES, TURNS, fixed
from tests.conftest import alive, children, descriptors, eventually

pytestmark = pytest.mark.full

STAYS = "sleep 27182818"
SCRIPT = [call("bash", command=f"exec {STAYS}", background=True), *TURNS]


async def langchain(shop):
    tools = await fsagent_tools_langchain.aget_tools(shop)
    agent = create_agent(ScriptedChatModel(SCRIPT), tools)
    await agent.ainvoke({"messages": [("user", "Fix shop.")]})


async def llamaindex(shop):
    tools = await fsagent_tools_llamaindex.aget_tools(shop)
    await FunctionAgent(tools=tools, llm=ScriptedLLM(SCRIPT)).run("Fix shop.")


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
@pytest.mark.parametrize("run", [langchain, llamaindex])
async def test_fifty_runs_leave_no_process_directory_or_descriptor(run, shop, monkeypatch):
    temp = shop.with_name("temp")
    temp.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temp))
    broken, before, known = (shop / PRICES).read_bytes(), children(), set()

    def left():
        gc.collect()  # more than once: a thread that ends has its workspace until then
        return alive(STAYS) or children() - before or [*temp.iterdir()] or descriptors() - known

    await run(shop)
    assert alive(STAYS)
    assert [*temp.iterdir()]
    assert eventually(lambda: left() == descriptors())  # of which some are for all runs
    known |= descriptors()
    for _ in range(50):
        (shop / PRICES).write_bytes(broken)
        with blockbuster_ctx():
            await run(shop)
            gc.collect()  # what is collected ends on the loop, too
        assert fixed(shop)
    assert eventually(lambda: not left()), left()
