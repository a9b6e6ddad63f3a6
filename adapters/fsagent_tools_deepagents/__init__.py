"""A backend for deepagents: its file tools and commands, by our guarded files and processes."""

from fsagent_tools_deepagents.backend import FsAgentBackend

__all__ = ["FsAgentBackend"]


def __dir__() -> list[str]:
    return [*__all__]
