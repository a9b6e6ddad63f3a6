"""The client's roots: they can only tighten what the server was started with."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit

from mcp import types
from mcp.server.context import ServerRequestContext

from fsagent_tools import Effect, Tool
from fsagent_tools.errors import ActionDenied
from fsagent_tools_mcp.meta import ROOTS


def wanted(context: ServerRequestContext[Any, Any]) -> Mapping[str, Any]:
    """What a client that has roots is asked for with whatever else it is asked for."""
    can = context.session.client_capabilities
    return {} if can is None or can.roots is None else {ROOTS: {"method": "roots/list"}}


async def roots_of(
    context: ServerRequestContext[Any, Any], params: Any
) -> Sequence[types.Root] | None:
    """What the client told; () where it has none, None where it has to be asked first."""
    if not wanted(context):
        return ()
    if context.session.can_send_request:
        asked = types.ListRootsRequest()  # `list_roots` warns that the protocol is about to lose it
        return (await context.session.send_request(asked, types.ListRootsResult)).roots
    told = (params.input_responses or {}).get(ROOTS)
    return told.roots if isinstance(told, types.ListRootsResult) else None


def beneath(tool: Tool, roots: Sequence[types.Root]) -> Tool:
    """The tool for files that are beneath one of the roots. Raises `ActionDenied`.

    An empty list says nothing. What runs programs is refused where roots are narrower than the
    workspace, since programs reach all of it.
    """
    if not roots:
        return tool
    top = os.path.realpath(tool.workspace.root)
    given = [os.path.realpath(unquote(urlsplit(str(root.uri)).path)) for root in roots]
    if any(os.path.commonpath((top, one)) == one for one in given):
        return tool
    if tool.effect is Effect.EXECUTE:
        raise ActionDenied(
            f"{tool.name} runs programs, which can reach more than the roots of this client.",
            hint="Use the tools for files.",
        )
    inside = [one for one in given if one.startswith(f"{top}{os.sep}")]
    paths = [os.path.relpath(one, top) for one in inside]
    return replace(tool, workspace=tool.workspace.view(beneath=paths))
