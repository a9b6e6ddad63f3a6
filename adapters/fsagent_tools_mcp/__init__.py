"""fsagent tools for MCP clients: a server for stdio and streamable HTTP."""

try:
    from fsagent_tools_mcp.client import SESSION
    from fsagent_tools_mcp.serve import http_app
    from fsagent_tools_mcp.server import server
except (ImportError, AttributeError) as error:  # no MCP library, or an older one
    raise ModuleNotFoundError(f"{error}: pip install 'fsagent-tools[mcp]'") from error

__all__ = ["SESSION", "http_app", "server"]


def __dir__() -> list[str]:
    return [*__all__]
