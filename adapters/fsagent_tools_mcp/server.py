"""A toolset as an MCP server, for any transport of the SDK."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Unpack

from anyio import to_thread
from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from fsagent_tools import (
    Effect,
    Outcome,
    Tool,
    Toolset,
    Workspace,
    Workspaces,
    approving,
    emitting,
    identified,
    select_tools,
)
from fsagent_tools.errors import ActionDenied
from fsagent_tools.types import Block, Options
from fsagent_tools_mcp.client import (
    SESSION,
    InputRequired,
    asker,
    beneath,
    call_id,
    reporting,
    roots_of,
    wanted,
)

INSTRUCTIONS = "These tools work on one project directory; "
PATHS = {False: "paths are relative to it.", True: "/ is its root."}

Context = ServerRequestContext[Any, Any]


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
    where = seats(workspace) if isinstance(workspace, str | Path) else workspace
    return server_of(select_tools(where, toolset, **options), approval=approval)


def server_of(bound: Iterable[Tool], *, approval: bool = False) -> Server[Any]:
    """`server` with tools that are bound already."""
    tools = {tool.name: tool for tool in bound}
    pools = {id(tool.pool): tool.pool for tool in tools.values() if tool.pool}
    listed: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    listed["tools"] = [described(tool) for tool in tools.values()]

    async def list_tools(context: Context, params: Any) -> dict[str, Any]:
        return listed

    async def call_tool(context: Context, params: Any) -> dict[str, Any]:
        tool = tools.get(params.name)
        if tool is None:
            named = f"There is no tool {params.name!r}. There are: {', '.join(tools)}."
            raise MCPError(types.INVALID_PARAMS, named)
        _close_at_end(context, pools)
        call = call_id(params)
        roots = await roots_of(context, params)
        if roots is None:
            asked = {"inputRequests": {**wanted(context)}, "requestState": f"{call} "}
            return {"resultType": "input_required", **asked}
        asking = approving(asker(context, params, call)) if approval else nullcontext()
        with identified(session=_session(context), call=call), asking:
            found = await _called(tool, context, params.arguments or {}, roots)
        if isinstance(found, InputRequired):
            return found.result(wanted(context))
        return result(found)

    made: Server[Any] = Server(
        "fsagent-tools",
        version=version("fsagent-tools"),
        instructions=INSTRUCTIONS + PATHS[any(t.workspace.files.virtual for t in tools.values())],
        get_tool_input_schema=lambda name: tools[name].schema if name in tools else None,
    )
    made.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    made.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    return made


async def _called(
    tool: Tool, context: Context, arguments: Mapping[str, Any], roots: Sequence[types.Root]
) -> Outcome | InputRequired:
    async with reporting(context) as emit:
        with tool.within(context) as here, emitting(emit):
            try:
                return await beneath(here, roots).acall(arguments)
            except InputRequired as waiting:
                return waiting
            except ActionDenied as refusal:
                return Outcome.refused(refusal, tool.entry.result)


def _close_at_end(context: Context, pools: Mapping[int, Workspaces]) -> None:
    """What is of the transport's session ends with it, when the client ends it or falls silent."""
    connection = context.session._connection
    if connection.session_id and not connection.state.get(__name__):
        connection.state[__name__] = True
        for pool in pools.values():
            end = partial(to_thread.run_sync, pool.end, connection.session_id)
            connection.exit_stack.push_async_callback(end)


def seats(path: str | Path) -> Callable[[Context | None], tuple[str | Path, str | None]]:
    """For `Workspaces`: a workspace at `path` for each session."""
    return lambda context: (path, _session(context))


def _session(context: Context | None) -> str | None:
    """What the client names its session, else the transport's, which only HTTP has."""
    if context is None:
        return None
    named = (context.meta or {}).get(SESSION)
    if isinstance(named, str):
        return named
    headers = getattr(context.request, "headers", {})
    return headers.get("mcp-session-id")


def described(tool: Tool) -> Mapping[str, Any]:
    """Name, schema, and what the effect means to a client."""
    effect = tool.effect
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": {
            "readOnlyHint": effect is Effect.READ,
            "destructiveHint": effect in (Effect.WRITE, Effect.DELETE, Effect.EXECUTE),
            "openWorldHint": effect in (Effect.EXECUTE, Effect.NETWORK),
        },
    }


def result(outcome: Outcome) -> dict[str, Any]:
    """Text first, then images and documents; the structured content has what the text has not."""
    return {
        "resultType": "complete",
        "content": [{"type": "text", "text": outcome.text}, *map(_block, outcome.blocks)],
        "structuredContent": outcome.facts(),
        "isError": not outcome.ok,
    }


def _block(block: Block) -> Mapping[str, Any]:
    if block.kind == "image":
        return {"type": "image", "data": block.data, "mimeType": block.mime_type}
    file = {"uri": "file:///document", "blob": block.data, "mimeType": block.mime_type}
    return {"type": "resource", "resource": file}
