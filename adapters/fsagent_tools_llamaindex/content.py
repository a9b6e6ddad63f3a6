"""An outcome as a LlamaIndex ToolOutput."""

from base64 import b64decode
from typing import Any, Literal

from llama_index.core.base.llms.types import ContentBlock, DocumentBlock, ImageBlock, TextBlock
from llama_index.core.tools import ToolOutput

from fsagent_tools import Outcome
from fsagent_tools.types import Block

Images = Literal["tool", "off"]


def output_of(
    outcome: Outcome, tool_name: str, arguments: dict[str, Any], *, images: Images = "tool"
) -> ToolOutput:
    """Text first, images and documents after it; `raw_output` is `Outcome.to_dict()`."""
    blocks = outcome.blocks if images == "tool" else ()
    return ToolOutput(
        tool_name=tool_name,
        blocks=[TextBlock(text=outcome.text), *map(_block, blocks)],
        raw_input=arguments,
        raw_output=outcome.to_dict(),
        is_error=not outcome.ok,
    )


def _block(block: Block) -> ContentBlock:
    data = b64decode(block.data)
    if block.kind == "image":
        return ImageBlock(image=data, image_mimetype=block.mime_type)
    return DocumentBlock(data=data, document_mimetype=block.mime_type)
