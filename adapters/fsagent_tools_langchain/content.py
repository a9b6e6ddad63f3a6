"""An outcome as a LangChain message: its content, and the artifact for the program."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from langchain_core.messages import ToolMessage

from fsagent_tools import Outcome, Tool
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.types import Block, Options

Content = str | list[str | dict[str, Any]]
Artifact = Literal["facts", "full", "off"]
Images = Literal["tool", "user", "off"]
DOCUMENTED = ("workspace", "line_ids", "compact", "file_ops", "filesystem")  # follow a document


class MessageOptions(Options, total=False):
    """`Options`, and what the messages of tools contain.

    Attributes:
        artifact: "full" is `Outcome.to_dict()`, with the whole text and the pictures; checkpoints
            then store each answer twice. "facts" has the same keys, with None for each long value.
            "off" is None, for hosts whose middleware redacts messages: it does not see artifacts.
            By default "full" in the toolsets that follow a document, whose values are promised
            there, else "facts".
        images: "tool" (default) puts pictures and documents into the tool's message, which
            Anthropic, Gemini and OpenAI's Responses API accept and OpenAI's chat completions
            refuse. "off" leaves them out. "user": `FsAgentMiddleware` sends them to the model in a
            user message after the tools', which is its default for OpenAI's chat completions.
    """

    artifact: Artifact
    images: Images


@dataclass(frozen=True)
class Form:
    """How outcomes become messages. Raises `ConfigInvalid`."""

    artifact: Artifact | None = None
    images: Images = "tool"

    def __post_init__(self) -> None:
        for name, right in (("artifact", get_args(Artifact)), ("images", get_args(Images))):
            if getattr(self, name) not in (None, *right):
                raise ConfigInvalid(f"{name} is one of {', '.join(right)}.")

    def result(self, tool: Tool, outcome: Outcome, tool_call_id: str | None) -> tuple[Any, Any]:
        """Content and artifact; of a refusal a whole message, or LangChain drops the artifact."""
        content = self.content(outcome)
        artifact = self._artifact(tool, outcome)
        if outcome.ok or tool_call_id is None:
            return content, artifact
        message = ToolMessage(
            content, artifact=artifact, tool_call_id=tool_call_id, name=tool.name, status="error"
        )
        return message, artifact

    def _artifact(self, tool: Tool, outcome: Outcome) -> dict[str, Any] | None:
        which = self.artifact or ("full" if tool.toolset in DOCUMENTED else "facts")
        if which == "off":
            return None
        return outcome.to_dict() if which == "full" else outcome.facts()

    def content(self, outcome: Outcome) -> Content:
        """Text, or standard content blocks when the outcome has an image or a document."""
        if not outcome.blocks or self.images == "off":
            return outcome.text
        return [{"type": "text", "text": outcome.text}, *map(_block, outcome.blocks)]


def _block(block: Block) -> dict[str, Any]:
    return {"type": block.kind, "base64": block.data, "mime_type": block.mime_type}
