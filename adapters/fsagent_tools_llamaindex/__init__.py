"""fsagent tools for LlamaIndex: `get_tools` and a tool spec."""

try:
    from fsagent_tools_llamaindex.tools import (
        FsAgentMetadata,
        FsAgentTool,
        FsAgentToolSpec,
        OutputDelta,
        aget_tools,
        get_tools,
    )
except ModuleNotFoundError as error:
    raise ImportError(f"{error}: pip install 'fsagent-tools[llamaindex]'") from error

__all__ = ["FsAgentMetadata", "FsAgentTool", "FsAgentToolSpec", "OutputDelta"]
__all__ += ["aget_tools", "get_tools"]
__dir__ = __all__.copy
