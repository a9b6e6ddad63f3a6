"""fsagent tools for MCP clients: a server for stdio and streamable HTTP."""

from typing import Any

from fsagent_tools.errors import MissingDependency

try:
    from fsagent_tools_mcp.client import SESSION
    from fsagent_tools_mcp.serve import http_app
    from fsagent_tools_mcp.server import server
except (ImportError, AttributeError) as error:  # no MCP library, or an older one
    _LACKS = str(error)

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        raise MissingDependency(f"{name}: {_LACKS}.", hint="pip install 'fsagent-tools[mcp]'")


__all__ = ["SESSION", "http_app", "server"]


def __dir__() -> list[str]:
    return [*__all__]
