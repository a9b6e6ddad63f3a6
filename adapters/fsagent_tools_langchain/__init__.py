"""fsagent tools for LangChain and LangGraph: `get_tools`, a toolkit and an agent middleware."""

from typing import TYPE_CHECKING, Any

try:
    from fsagent_tools_langchain.interrupts import interrupt_on
    from fsagent_tools_langchain.tools import FsAgentTool, FsAgentToolkit, aget_tools, get_tools
except ModuleNotFoundError as error:
    raise ImportError(f"{error}: pip install 'fsagent-tools[langchain]'") from error

if TYPE_CHECKING:
    from fsagent_tools_langchain.middleware import FsAgentMiddleware

__all__ = [
    "FsAgentMiddleware",
    "FsAgentTool",
    "FsAgentToolkit",
    "aget_tools",
    "get_tools",
    "interrupt_on",
]


def __getattr__(name: str) -> Any:
    if name != "FsAgentMiddleware":  # the one that needs all of `langchain`, a second of imports
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fsagent_tools_langchain.middleware import FsAgentMiddleware

    return FsAgentMiddleware


def __dir__() -> list[str]:
    return [*__all__]
