"""fsagent tools for LangChain and LangGraph: `get_tools`, a toolkit and an agent middleware."""

from typing import TYPE_CHECKING, Any

from fsagent_tools.errors import MissingDependency
from fsagent_tools_langchain.toolkit import FsAgentToolkit
from fsagent_tools_langchain.tools import FsAgentTool, get_tools

if TYPE_CHECKING:
    from fsagent_tools_langchain.middleware import FsAgentMiddleware

__all__ = ["FsAgentMiddleware", "FsAgentTool", "FsAgentToolkit", "get_tools"]


def __getattr__(name: str) -> Any:
    if name != "FsAgentMiddleware":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from fsagent_tools_langchain.middleware import FsAgentMiddleware
    except ModuleNotFoundError as error:
        raise MissingDependency(f"{name}: {error}.", hint="pip install langchain") from error
    return FsAgentMiddleware
