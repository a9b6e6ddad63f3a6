"""The frameworks' own standard tests, for every tool of every toolset, nothing overridden."""

import pytest
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests
from llama_index.core.tools.tool_spec.base import BaseToolSpec

from fsagent_tools import TOOLSETS, select_tools
from fsagent_tools_langchain import get_tools
from fsagent_tools_llamaindex import FsAgentToolSpec
from samples import arguments

pytestmark = pytest.mark.full

EVERY = [(name, tool.name) for name in TOOLSETS for tool in select_tools(".", name)]


class OneTool:
    """Names the tool under test."""

    @pytest.fixture(autouse=True, params=EVERY, ids="-".join)
    def _chosen(self, request, shop):
        toolset, name = request.param
        (self._tool,) = get_tools(shop, toolset, only=[name])

    @property
    def tool_constructor(self):
        return self._tool

    @property
    def tool_invoke_params_example(self):
        return arguments(self._tool.core)


class TestUnit(OneTool, ToolsUnitTests):
    pass


class TestIntegration(OneTool, ToolsIntegrationTests):
    pass


def test_the_tool_spec_is_a_base_tool_spec():
    assert BaseToolSpec.__name__ in [base.__name__ for base in FsAgentToolSpec.__mro__]
