"""fsagent tools for LlamaIndex: `get_tools` and a tool spec."""

from fsagent_tools_llamaindex.spec import FsAgentToolSpec
from fsagent_tools_llamaindex.tools import FsAgentTool, OutputDelta, get_tools

__all__ = ["FsAgentTool", "FsAgentToolSpec", "OutputDelta", "get_tools"]
