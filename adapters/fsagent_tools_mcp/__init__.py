"""fsagent tools for MCP clients: a server for stdio and streamable HTTP, and remote tools."""

from fsagent_tools_mcp.client import HttpChannel
from fsagent_tools_mcp.http import http_app
from fsagent_tools_mcp.meta import SESSION
from fsagent_tools_mcp.server import server

__all__ = ["SESSION", "HttpChannel", "http_app", "server"]
