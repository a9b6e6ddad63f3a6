"""fsagent tools for LangChain and LangGraph: `get_tools`, a toolkit and an agent middleware."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fsagent_tools.errors import MissingDependency

try:
    from fsagent_tools_langchain.toolkit import FsAgentToolkit
    from fsagent_tools_langchain.tools import FsAgentTool, aget_tools, get_tools
except ModuleNotFoundError as error:
    raise ImportError(f"{error}: pip install 'fsagent-tools[langchain]'") from error

if TYPE_CHECKING:
    from fsagent_tools_langchain.middleware import FsAgentMiddleware
    from fsagent_tools_langchain.preview import interrupt_on
    from fsagent_tools_langchain.review import FsAgentApproval

_HOMES = {
    "FsAgentMiddleware": "middleware",
    "FsAgentApproval": "review",
    "interrupt_on": "preview",
}

__all__ = ["FsAgentTool", "FsAgentToolkit", "aget_tools", "get_tools"]
if find_spec("langchain"):  # what is named here must be there for `import *`
    __all__ += ["FsAgentApproval", "FsAgentMiddleware", "interrupt_on"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        raise MissingDependency(
            f"{name}: {error}.", hint="pip install 'langchain>=1.4.2'"
        ) from error
    return getattr(module, name)


def __dir__() -> list[str]:
    return [*__all__]
