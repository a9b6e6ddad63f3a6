"""A toolset as an MCP server, for any transport of the SDK."""

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Unpack

from anyio import to_thread
from mcp import MCPError, types
from mcp.server.context import ServerRequestContext as Context
from mcp.server.lowlevel import Server

from fsagent_tools import Effect, Outcome, Tool, Toolset, Workspace, Workspaces, select_tools
from fsagent_tools.errors import ActionDenied
from fsagent_tools.types import Block, Options
from fsagent_tools_mcp.client import Client, InputRequired, session_of


def server(
    workspace: Workspace | Workspaces | str | Path,
    toolset: Toolset | str | None = None,
    *,
    approval: bool = False,
    **options: Unpack[Options],
) -> Server[Any]:
    """A server with the tools of `select_tools`, for `run` or `http_app`.

    If `workspace` is a path, each session gets a workspace of its own, so that what one model has
    read does not count as read by another. A session is the one that `_meta` names under `SESSION`,
    else that of the transport.

    Args:
        workspace: A `Workspace`, a path or a `Workspaces`.
        toolset: A toolset or its name; by default the configured one, else "lines".
        approval: Ask the client's user before each change.
        **options: Those of `Options`.

    Raises:
        ConfigInvalid: If an option is wrong.
    """
    is_path = isinstance(workspace, str | Path)
    where: Any = (lambda context: (workspace, session_of(context))) if is_path else workspace
    return server_of(select_tools(where, toolset, **options), approval=approval)


def server_of(bound: Iterable[Tool], *, approval: bool = False) -> Server[Any]:
    """`server` with tools that `select_tools` has bound already."""
    tools = {tool.name: tool for tool in bound}

    async def list_tools(context: Context, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[*map(_described, tools.values())])

    async def call_tool(context: Context, params: Any) -> Any:
        if (tool := tools.get(params.name)) is None:
            known = f"There is no tool {params.name!r}. There are: {', '.join(tools)}."
            raise MCPError(types.INVALID_PARAMS, known)
        _close_at_end(context, tool.pool)
        try:
            async with Client(context, params).calling(tool, approval=approval) as here:
                outcome = await here.acall(params.arguments or {})
        except InputRequired as waiting:
            return waiting.args[0]
        except ActionDenied as refusal:
            outcome = Outcome.refused(refusal, tool.entry.result)
        return types.CallToolResult(
            content=[types.TextContent(text=outcome.text), *map(_content, outcome.blocks)],
            structured_content=outcome.facts(),  # what the text has not
            is_error=not outcome.ok,
        )

    is_virtual = any(tool.workspace.files.virtual for tool in tools.values())
    paths = "/ is its root" if is_virtual else "paths are relative to it"
    return Server(
        "fsagent-tools",
        version=version("fsagent-tools"),
        instructions=f"These tools work on one project directory; {paths}.",
        get_tool_input_schema=lambda name: tools[name].schema if name in tools else None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described(tool: Tool) -> types.Tool:
    """Name, schema, and what the effect means to a client."""
    hints = types.ToolAnnotations(
        read_only_hint=tool.effect is Effect.READ,
        destructive_hint=tool.effect in (Effect.WRITE, Effect.DELETE, Effect.EXECUTE),
        open_world_hint=tool.effect in (Effect.EXECUTE, Effect.NETWORK),
    )
    return types.Tool(
        name=tool.name, description=tool.description, input_schema=tool.schema, annotations=hints
    )


def _content(block: Block) -> types.ContentBlock:
    if block.kind == "image":
        return types.ImageContent(data=block.data, mime_type=block.mime_type)
    file: Any = {"uri": "file:///document", "blob": block.data, "mime_type": block.mime_type}
    return types.EmbeddedResource(resource=types.BlobResourceContents(**file))


def _close_at_end(context: Context, pool: Workspaces | None) -> None:
    """What is of the transport's session ends with it, when the client ends it or falls silent."""
    connection = context.session._connection
    if pool and connection.session_id and __name__ not in connection.state:
        connection.state[__name__] = pool
        end = connection.exit_stack.push_async_callback
        end(to_thread.run_sync, pool.end, connection.session_id)
