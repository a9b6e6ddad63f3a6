"""An outcome as LangChain message content."""

from typing import Any

from langchain_core.messages import ToolMessage

from fsagent_tools import Block, Outcome

Content = str | list[str | dict[str, Any]]


def content_of(outcome: Outcome) -> Content:
    """Text, or standard content blocks when the outcome has an image or a document."""
    if not outcome.blocks:
        return outcome.text
    return [{"type": "text", "text": outcome.text}, *map(_block, outcome.blocks)]


def refusal(outcome: Outcome, tool_name: str, tool_call_id: str) -> ToolMessage:
    """The message of an outcome that is not ok: LangChain would drop the artifact of an error."""
    return ToolMessage(
        content_of(outcome),
        artifact=outcome.to_dict(),
        tool_call_id=tool_call_id,
        name=tool_name,
        status="error",
    )


def _block(block: Block) -> dict[str, Any]:
    return {"type": block.kind, "base64": block.data, "mime_type": block.mime_type}
