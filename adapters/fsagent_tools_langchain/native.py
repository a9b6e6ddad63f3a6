"""Tools as their provider defines them, with calls and answers in its form."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, Tool

from fsagent_tools_langchain.tools import TEXT, FsAgentTool


def is_openai(model: Any) -> bool:
    """Whether the model's class is LangChain's for OpenAI, or made of it."""
    return "BaseChatOpenAI" in {kind.__name__ for kind in type(model).__mro__}


def takes_custom_tools(model: Any) -> bool:
    """Whether the model is asked by OpenAI's Responses API, which has tools that take a text."""
    asked = getattr(model, "use_responses_api", None) or (
        getattr(model, "output_version", None) == "responses/v1"
    )
    return is_openai(model) and bool(asked)


def with_custom_tools(tools: Sequence[Any]) -> list[Any]:
    """The tools, those that OpenAI knows as custom ones in that form."""
    return [_custom(tool) or tool for tool in tools]


def in_strict_mode(tools: Sequence[Any]) -> list[Any]:
    """The tools, ours with schemas for it; what is native has no schema, or a fitting one."""
    return [
        tool.strict if isinstance(tool, FsAgentTool) and not tool.core.entry.native else tool
        for tool in tools
    ]


def answered_in_kind(messages: Sequence[Any]) -> list[Any]:
    """The answers to calls of custom tools as the API takes them."""
    asked = {
        one["id"]
        for message in messages
        if isinstance(message, AIMessage)
        for one in message.tool_calls
        if one["args"].keys() == {TEXT}
    }
    return [
        message.model_copy(update={"content": [_output(message)]})
        if isinstance(message, ToolMessage) and message.tool_call_id in asked
        else message
        for message in messages
    ]


def _output(message: ToolMessage) -> dict[str, Any]:
    return {"type": "custom_tool_call_output", "output": message.text}


def _custom(tool: Any) -> BaseTool | None:
    native = tool.core.native("openai") if isinstance(tool, FsAgentTool) else None
    if native is None:
        return None
    metadata = {"type": "custom_tool", "format": native["format"]}
    description = tool.description
    return Tool(name=tool.name, description=description, func=tool.invoke, metadata=metadata)
