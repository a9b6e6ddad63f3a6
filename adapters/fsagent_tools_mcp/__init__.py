"""fsagent tools for MCP clients: a server for stdio and streamable HTTP."""

from fsagent_tools_mcp.http import http_app
from fsagent_tools_mcp.server import SESSION, server

__all__ = ["SESSION", "http_app", "server"]
