"""A toolset as a LangChain toolkit."""

from typing import Unpack

from langchain_core.tools import BaseTool, BaseToolkit
from pydantic import ConfigDict, PrivateAttr

from fsagent_tools import Toolset
from fsagent_tools.types import WorkspaceSource
from fsagent_tools_langchain.content import MessageOptions
from fsagent_tools_langchain.tools import get_tools


class FsAgentToolkit(BaseToolkit):
    """The tools of `get_tools`, which takes the same arguments, created once."""

    model_config = ConfigDict(extra="forbid")
    _tools: list[BaseTool] = PrivateAttr()

    def __init__(
        self,
        workspace: WorkspaceSource,
        toolset: Toolset | str | None = None,
        **options: Unpack[MessageOptions],
    ) -> None:
        super().__init__()
        self._tools = [*get_tools(workspace, toolset, **options)]

    def get_tools(self) -> list[BaseTool]:
        return list(self._tools)
