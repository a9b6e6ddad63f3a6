"""deepagents on our guarded files and processes: a backend, and all options by one call."""

from fsagent_tools_deepagents.backend import FsAgentBackend, deep_agent_options

__all__ = ["FsAgentBackend", "deep_agent_options"]
__dir__ = __all__.copy
