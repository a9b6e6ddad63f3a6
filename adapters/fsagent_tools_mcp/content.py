"""Core tools and outcomes in MCP's types."""

from dataclasses import asdict

from mcp import types

from fsagent_tools import Effect, Outcome, Tool
from fsagent_tools.remote import sliced
from fsagent_tools.types import Block
from fsagent_tools_mcp.meta import CODE, EFFECT, SHAPE


def described(tool: Tool) -> types.Tool:
    """Name, schema, and what the effect means to a client."""
    effect = tool.effect
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(
            read_only_hint=effect is Effect.READ,
            destructive_hint=effect in (Effect.WRITE, Effect.DELETE, Effect.EXECUTE),
            open_world_hint=effect in (Effect.EXECUTE, Effect.NETWORK),
        ),
        _meta={EFFECT: effect.value, SHAPE: asdict(tool.entry.result)},
    )


def result(outcome: Outcome, *, whole: bool) -> types.CallToolResult:
    """Text first, then images and documents; the structured content has what the text has not.

    whole: all of `Outcome.to_dict()` instead, as `sliced` makes it.
    """
    text = types.TextContent(type="text", text=outcome.text)
    return types.CallToolResult(
        content=[text, *map(_block, outcome.blocks)],
        structured_content=sliced(outcome.to_dict(), outcome.text) if whole else outcome.facts(),
        is_error=not outcome.ok,
        _meta={CODE: outcome.code} if whole else None,
    )


def _block(block: Block) -> types.ContentBlock:
    if block.kind == "image":
        return types.ImageContent(type="image", data=block.data, mime_type=block.mime_type)
    file = types.BlobResourceContents(
        uri="file:///document", blob=block.data, mime_type=block.mime_type
    )
    return types.EmbeddedResource(type="resource", resource=file)
