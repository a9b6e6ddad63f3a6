"""fsagent tools for LlamaIndex, under the name that LlamaHub lists."""

from fsagent_tools_llamaindex import FsAgentToolSpec

__all__ = ["FsAgentToolSpec"]
