"""One call, all ways: core, LangChain, LlamaIndex and MCP say the same."""

import asyncio
import json
import shutil

import pytest

import fsagent_tools_langchain
import fsagent_tools_llamaindex
from fsagent_tools import TOOLSETS, select_tools
from fsagent_tools_mcp.server import server_of
from mcp_client import Client
from samples import ID, NEW, PRICES, arguments


def core(tool, sent):
    outcome = tool.call(sent)
    return outcome.text, outcome.ok, outcome.to_dict()


def core_async(tool, sent):
    outcome = asyncio.run(tool.acall(sent))
    return outcome.text, outcome.ok, outcome.to_dict()


def as_call(tool, sent):
    return {"type": "tool_call", "name": tool.name, "id": "call_1", "args": sent}


def said(message):
    assert message.tool_call_id == "call_1"
    return message.content, message.status == "success", message.artifact


def langchain(tool, sent):
    tool = fsagent_tools_langchain.tools.adapt(tool, FULL)
    return said(tool.invoke(as_call(tool, sent)))


def langchain_async(tool, sent):
    tool = fsagent_tools_langchain.tools.adapt(tool, FULL)
    return said(asyncio.run(tool.ainvoke(as_call(tool, sent))))


def output(result):
    return result.content, not result.is_error, result.raw_output


def llamaindex(tool, sent):
    return output(fsagent_tools_llamaindex.FsAgentTool(tool).call(**sent))


def llamaindex_async(tool, sent):
    return output(asyncio.run(fsagent_tools_llamaindex.FsAgentTool(tool).acall(**sent)))


def mcp(tool, sent, mode="auto"):
    async def through_a_client():
        async with Client(server_of([tool]), mode=mode) as client:
            return await client.call_tool(tool.name, sent)

    result = asyncio.run(through_a_client())
    return result.content[0].text, not result.is_error, None  # it has what the text has not


def mcp_before_2026(tool, sent):
    return mcp(tool, sent, "legacy")


WAYS = [core, core_async, langchain, langchain_async, llamaindex, llamaindex_async]
WAYS += [mcp, mcp_before_2026]


def answers(shop, toolset, name, sent, first=()):
    """What each way answers in its own fresh copy of the project, at the same path.

    Without `created`, which is new in every copy.
    """
    pristine = shop.with_name("pristine")
    shop.rename(pristine)
    for way in WAYS:
        shutil.copytree(pristine, shop)
        tools = {tool.name: tool for tool in select_tools(shop, toolset)}
        for before, its in first:
            assert tools[before].call(its).ok
        text, ok, data = way(tools[name], sent)
        yield text, ok, data and {n: value for n, value in data.items() if n != "created"}
        shutil.rmtree(shop)


def batched(values, size):
    return [values[at : at + size] for at in range(0, len(values), size)]


def of_all(shop, toolset, name):
    """One tool of the whole set."""
    return next(tool for tool in select_tools(shop, toolset) if tool.name == name)


def timeless(answer):
    text, ok, data = answer
    stored = json.loads(json.dumps(data))
    return text, ok, stored and {n: value for n, value in stored.items() if n != "duration"}


def same(found):
    expected, *others = map(timeless, found)
    for text, ok, data in others:
        assert (text, ok, data or expected[2]) == expected
    assert expected[0].strip()
    return expected


FULL = fsagent_tools_langchain.tools.Form(artifact="full")
EVERY = [(name, tool.name) for name in TOOLSETS for tool in select_tools(".", name)]
every_tool = pytest.mark.parametrize(("toolset", "name"), EVERY)


@every_tool
def test_a_sensible_call(toolset, name, shop):
    tool = of_all(shop, toolset, name)
    text, ok, data = same(answers(shop, toolset, name, arguments(tool)))
    assert data["success"] is ok
    assert ok or text.startswith("Error: ")


@every_tool
def test_no_arguments_at_all(toolset, name, shop):
    tool = of_all(shop, toolset, name)
    same([way(tool, {}) for way in WAYS])


NAMED = 5  # unknown arguments that a refusal names
MADE_UP = ("wrong", "config", "callbacks", "run_manager", "runtime", "self", "args", "ctx", "fn")


@every_tool
def test_only_visible_parameters_can_be_set_by_the_model(toolset, name, shop):
    tool = of_all(shop, toolset, name)
    fields, renamed = tool.entry.action.params.model_fields, tool.entry.rename.values()
    hidden = [n for n in fields if n not in tool.arguments.model_fields and n not in renamed]
    for guessed in batched([*MADE_UP, *hidden], NAMED):
        sent = {**arguments(tool), **dict.fromkeys(guessed, "x" * 3000)}
        text, ok, _ = same([way(tool, sent) for way in WAYS])
        assert not ok
        named = ", ".join(map(repr, guessed))
        assert text.startswith(
            f"Error: Unknown argument{'s' * (len(guessed) > 1)} {named}. Allowed: "
        )


@every_tool
def test_a_long_wrong_argument_does_not_come_back(toolset, name, shop):
    tool = of_all(shop, toolset, name)
    sent = {n: ["x" * 3000] for n in tool.schema["properties"]}
    text, ok, _ = same([way(tool, sent) for way in WAYS])
    assert ok == (not sent)
    assert len(text) < 1500


READ = [("read", {"file_path": PRICES})]
EDIT = {"file_path": PRICES, "changes": [{"line_id": ID, "new_content": NEW}]}
CASES = {
    "an alias": ("read", {"path": PRICES}, (), True),
    "null for a default": ("read", {"file_path": PRICES, "limit": None}, (), True),
    "a number as text": ("read", {"file_path": PRICES, "limit": "3"}, (), True),
    "a list as JSON text": (
        "edit_lines",
        {**EDIT, "changes": f'[{{"line_id": "{ID}", "new_content": "    return 0"}}]'},
        READ,
        True,
    ),
    "an edit": ("edit_lines", EDIT, READ, True),
    "an edit before a read": ("edit_lines", EDIT, (), False),
    "a missing file": ("read", {"file_path": "nope.py"}, (), False),
    "a path outside": ("write", {"file_path": "../x", "content": ""}, (), False),
    "a number out of range": ("read", {"file_path": PRICES, "offset": -1}, (), False),
}


@pytest.mark.parametrize("case", CASES)
def test_what_models_do_with_the_line_id_tools(case, shop):
    name, sent, first, fine = CASES[case]
    assert same(answers(shop, "workspace", name, sent, first))[1] is fine
