"""A toolset as a LlamaIndex tool spec."""

from collections.abc import Mapping, Sequence
from typing import Unpack

from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec

from fsagent_tools import Options, Toolset, WorkspaceSource, select_tools
from fsagent_tools_llamaindex.tools import FsAgentTool


class FsAgentToolSpec(BaseToolSpec):
    """The tools of `get_tools`, which takes the same arguments."""

    def __init__(
        self,
        workspace: WorkspaceSource,
        toolset: Toolset | str = "workspace",
        **options: Unpack[Options],
    ) -> None:
        self._tools = {tool.name: tool for tool in select_tools(workspace, toolset, **options)}
        self.spec_functions = [*self._tools]

    def to_tool_list(
        self,
        spec_functions: Sequence[SPEC_FUNCTION_TYPE] | None = None,
        func_to_metadata_mapping: Mapping[str, ToolMetadata] | None = None,
    ) -> list[FunctionTool]:
        """All tools, or those named in `spec_functions`. Raises `KeyError` for an unknown name."""
        metadata = func_to_metadata_mapping or {}
        return [
            FsAgentTool(self._tools[str(name)], metadata.get(str(name)))
            for name in spec_functions or self.spec_functions
        ]
