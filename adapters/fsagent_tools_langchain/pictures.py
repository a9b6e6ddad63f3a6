"""Pictures and documents for models whose provider takes them from the user only."""

from collections.abc import Iterable
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

MOVED = ("image", "file")


def is_openai(model: Any) -> bool:
    """Whether the model's class is LangChain's for OpenAI, or made of it."""
    return "BaseChatOpenAI" in {kind.__name__ for kind in type(model).__mro__}


def takes_text_only(model: Any) -> bool:
    """Whether tools answer this model in text: OpenAI's chat completions, and what imitates them.

    Where the model chooses the Responses API by itself that is not seen; pictures of the user are
    right there, too.
    """
    return is_openai(model) and not getattr(model, "use_responses_api", False)


def shown_by_user(messages: Iterable[BaseMessage]) -> list[Any]:
    """Each run of tool messages without its pictures, and a user's message with them behind it."""
    sent: list[Any] = []
    moved: list[Any] = []
    for message in messages:
        if moved and not isinstance(message, ToolMessage):
            sent.append(HumanMessage(moved))
            moved = []
        if isinstance(message, ToolMessage) and isinstance(message.content, list):
            blocks = [b for b in message.content if isinstance(b, dict) and b.get("type") in MOVED]
            rest = [block for block in message.content if block not in blocks]
            if blocks:
                heading = f"What {message.name} ({message.tool_call_id}) shows:"
                moved += [{"type": "text", "text": heading}, *blocks]
                message = message.model_copy(update={"content": rest})
        sent.append(message)
    return [*sent, HumanMessage(moved)] if moved else sent
