"""A toolset as a LlamaIndex tool spec."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec

from fsagent_tools import Toolset, select_tools
from fsagent_tools.types import Options, WorkspaceSource
from fsagent_tools_llamaindex.tools import FsAgentTool, functions


class FsAgentToolSpec(BaseToolSpec):
    """A tool spec with the tools of `get_tools`, which takes the same arguments.

    Each tool is also a method: `spec.read("a.txt")` returns text, and so does `await spec.aread`.
    """

    def __init__(
        self,
        workspace: WorkspaceSource,
        toolset: Toolset | str | None = None,
        **options: Unpack[Options],
    ) -> None:
        self._tools = {tool.name: tool for tool in select_tools(workspace, toolset, **options)}
        self.spec_functions = [*self._tools]
        for name, tool in self._tools.items():
            vars(self).update(zip((name, f"a{name}"), functions(tool), strict=True))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Any]: ...

    def to_tool_list(
        self,
        spec_functions: Sequence[SPEC_FUNCTION_TYPE] | None = None,
        func_to_metadata_mapping: Mapping[str, ToolMetadata] | None = None,
    ) -> list[FunctionTool]:
        """All tools, or those named in `spec_functions`, where a pair is a tool's two methods.

        Raises `KeyError` for an unknown name.
        """
        metadata = func_to_metadata_mapping or {}
        names = [
            (one, one) if isinstance(one, str) else one
            for one in spec_functions or self.spec_functions
        ]
        return [
            FsAgentTool(self._tools[name], metadata.get(name) or metadata.get(other))
            for name, other in names
        ]
