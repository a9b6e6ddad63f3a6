"""Definitions are cheap: they are paid for in every single model call."""

import re

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

import fsagent_tools_langchain
import fsagent_tools_llamaindex
from fsagent_tools import TOOLSETS, select_tools, toolset
from fsagent_tools.toolkit import tokens

FILE_TOOLS = ("read", "write", "edit_lines", "glob", "grep", "ls")
MOST_OF_A_TOOL = 170
MOST_OF_SIX = 650
MOST_OF_OPENAI = 450


def as_langchain(folder, name):
    return [convert_to_openai_tool(t) for t in fsagent_tools_langchain.get_tools(folder, name)]


def as_llamaindex(folder, name):
    tools = fsagent_tools_llamaindex.get_tools(folder, name)
    return [tool.metadata.to_openai_tool() for tool in tools]


@pytest.mark.parametrize("name", TOOLSETS)
@pytest.mark.parametrize("convert", [as_langchain, as_llamaindex])
def test_a_framework_sends_the_definition_of_the_core(convert, name, tmp_path):
    assert convert(tmp_path, name) == [tokens.definition(t) for t in select_tools(tmp_path, name)]


@pytest.mark.parametrize("convert", [as_langchain, as_llamaindex])
def test_the_six_file_tools_fit_their_budget(convert, tmp_path):
    assert tokens.counter() is not None
    cost = tokens.cost(convert(tmp_path, "workspace"))
    six = {name: cost[name] for name in FILE_TOOLS}
    assert sum(six.values()) <= MOST_OF_SIX, six


@pytest.mark.parametrize("name", TOOLSETS)
def test_no_tool_is_expensive(name, tmp_path):
    cost = tokens.cost(as_langchain(tmp_path, name))
    several = {"str_replace_based_edit_tool": 190, "memory": 220}  # four tools, six in one
    most = {"edit_lines": 220} if name == "lines" else several
    assert not {tool: n for tool, n in cost.items() if n > most.get(tool, MOST_OF_A_TOOL)}


@pytest.mark.parametrize("name", TOOLSETS)
def test_a_tool_on_its_own_has_a_description(name, tmp_path):
    for entry in toolset(name).entries:
        (tool,) = select_tools(tmp_path, name, only=[entry.shown_name])
        assert tool.description or entry.action.beside


@pytest.mark.parametrize("name", TOOLSETS)
def test_names_and_descriptions_are_what_every_provider_takes(name, tmp_path):
    for tool in select_tools(tmp_path, name):
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name)
        assert 0 < len(tool.description) <= 1024
        assert len(tool.description.split("\n")[0]) <= 120
        for parameter in tool.schema["properties"].values():
            assert parameter["description"]
            assert not {"title", "default", "anyOf"} & parameter.keys()


def test_without_a_table_the_cost_is_estimated_closely(monkeypatch, tmp_path):
    definitions = [tokens.definition(tool) for tool in select_tools(tmp_path, "workspace")]
    exact = sum(tokens.cost(definitions).values())
    monkeypatch.setattr(tokens, "counter", lambda: None)
    assert sum(tokens.cost(definitions).values()) == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize("convert", [as_langchain, as_llamaindex])
def test_the_toolset_openai_fits_its_budget(convert, tmp_path):
    cost = tokens.cost(convert(tmp_path, "openai"))
    assert sum(cost.values()) <= MOST_OF_OPENAI, cost
