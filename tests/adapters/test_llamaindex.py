"""Agents of LlamaIndex that really run, with a scripted model."""

import asyncio
import copy
import json

import pytest
from blockbuster import BlockingError, blockbuster_ctx
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.base.llms.types import DocumentBlock, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.calling import acall_tool, call_tool
from llama_index.core.workflow import Context

from fsagent_tools import Outcome
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.testing import call
from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools.types import Block
from fsagent_tools_llamaindex import FsAgentToolSpec, OutputDelta, aget_tools, get_tools
from fsagent_tools_llamaindex.tools import output_of
from samples import PRICES, TURNS, arguments, fixed, parallel
from tests.conftest import PATIENCE

# Agents look at all their own attributes, deprecated ones of pydantic included.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")


async def run(agent):
    """The final text and the results of the tools."""
    handler = agent.run("Fix shop.")
    events = [event async for event in handler.stream_events()]
    return str(await handler), [e.tool_output for e in events if isinstance(e, ToolCallResult)]


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("make", [FunctionAgent, AgentWorkflow])
async def test_an_agent_finds_reads_and_fixes(make, streaming, shop):
    agent = FunctionAgent(tools=get_tools(shop), llm=ScriptedLLM(TURNS), streaming=streaming)
    said, results = await run(agent if make is FunctionAgent else AgentWorkflow(agents=[agent]))
    assert fixed(shop)
    assert said.strip() == "Prices are fixed."
    assert sorted(result.is_error for result in results) == [False, False, True, True]
    for result in results:
        json.dumps(result.raw_output)
        assert result.content.startswith("Error: ") is result.is_error


async def test_two_edits_of_one_file_in_one_turn_are_both_there(shop):
    llm = ScriptedLLM([call("read", file_path=PRICES), parallel, "Done."])
    _, results = await run(FunctionAgent(tools=get_tools(shop), llm=llm))
    text = (shop / PRICES).read_text()
    assert fixed(shop)
    assert 'return "changed"' in text
    assert not any(result.is_error for result in results)


async def test_live_output_of_a_command(shop):
    llm = ScriptedLLM([call("bash", command="echo one; sleep 0.2; echo two"), "Done."])
    handler = FunctionAgent(tools=get_tools(shop), llm=llm).run("Count.")
    deltas = [e.delta async for e in handler.stream_events() if isinstance(e, OutputDelta)]
    await handler
    assert "".join(deltas) == "one\ntwo\n"


@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key")  # memory
async def test_a_run_can_be_saved(shop):
    agent = FunctionAgent(tools=get_tools(shop), llm=ScriptedLLM(TURNS))
    context = Context(agent)
    await agent.run("Fix shop.", ctx=context)
    assert json.dumps(context.to_dict())


async def test_a_tool_with_live_output_needs_no_workflow(counting, shop):
    (tool,) = get_tools(shop, counting[0])
    assert tool.call(to=2).content == (await tool.acall(to=2)).content == "counted to 2"


async def test_cancelling_a_run_stops_the_work(counting, shop):
    toolset, begun, stopped = counting
    llm = ScriptedLLM([call("count", to=10_000)])
    handler = FunctionAgent(tools=get_tools(shop, toolset), llm=llm).run("Count.")
    await asyncio.to_thread(begun.wait, PATIENCE)
    await handler.cancel_run()
    assert await asyncio.to_thread(stopped.wait, PATIENCE)


async def test_nothing_blocks_the_event_loop(shop):
    with blockbuster_ctx():
        tools = await aget_tools(shop)
        for tool in tools:
            await tool.acall(**arguments(tool.core))
        with pytest.raises(BlockingError):  # the guard is awake
            tools[0].call(**arguments(tools[0].core))


async def test_a_sync_call_inside_a_running_loop(shop):
    (tool,) = get_tools(shop, only=["read"])
    assert tool.call(file_path=PRICES).content == (await tool.acall(file_path=PRICES)).content
    assert call_tool(tool, {"nope": 1}).content == (await acall_tool(tool, {"nope": 1})).content


def test_the_tools_are_function_tools(shop):
    for tool in get_tools(shop):
        assert isinstance(tool, FunctionTool)
        assert tool.metadata.fn_schema.model_json_schema() == tool.core.schema
        assert tool.fn.__name__ == tool.metadata.name
    assert tool.fn(**arguments(tool.core)) == tool.call(**arguments(tool.core)).content


def test_the_spec_lists_all_tools_or_some(shop):
    spec = FsAgentToolSpec(shop, without=["write"])
    names = [tool.metadata.name for tool in spec.to_tool_list()]
    assert names == spec.spec_functions
    assert "write" not in names
    described = ToolMetadata("Look at a file.", "look")
    (tool,) = spec.to_tool_list(["read"], {"read": described})
    assert tool.call(file_path=PRICES).tool_name == "look"


def test_images_and_documents_are_blocks_beside_the_text():
    blocks = (Block("image", "image/png", "aGk="), Block("file", "application/pdf", "aGk="))
    output = output_of(Outcome("two", blocks=blocks), "read", {})
    text, image, document = output.blocks
    assert isinstance(text, TextBlock)
    assert isinstance(image, ImageBlock)
    assert isinstance(document, DocumentBlock)
    assert image.resolve_image().read() == document.resolve_document().read() == b"hi"
    assert document.document_mimetype == "application/pdf"
    assert output.content == "two"


def test_pictures_are_left_out_where_they_are_not_wanted(shop):
    image = pytest.importorskip("PIL.Image")
    image.effect_noise((30, 30), 90).save(shop / "noise.png")
    sent = {"file_path": "noise.png"}
    for images, kinds in (("tool", [TextBlock, ImageBlock]), ("off", [TextBlock])):
        (read,) = get_tools(shop, only=["read"], images=images)
        assert [type(block) for block in read.call(**sent).blocks] == kinds
        assert [type(block) for block in copy.deepcopy(read).call(**sent).blocks] == kinds
    with pytest.raises(ConfigInvalid, match="images is one of tool, off"):
        get_tools(shop, images="user")
