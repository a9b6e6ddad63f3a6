"""The MCP library as the server uses it: that of version 2, or an earlier one in its shape."""

try:
    from mcp import MCPError
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
except ImportError:
    from fsagent_tools_mcp.sdk1 import (  # type: ignore[assignment]
        MCPError,
        Server,
        ServerRequestContext,
    )

__all__ = ["MCPError", "Server", "ServerRequestContext"]
