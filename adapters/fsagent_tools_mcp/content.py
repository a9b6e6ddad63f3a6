"""Core tools and outcomes as the protocol has them."""

from collections.abc import Mapping
from typing import Any

from fsagent_tools import Effect, Outcome, Tool
from fsagent_tools.types import Block


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
