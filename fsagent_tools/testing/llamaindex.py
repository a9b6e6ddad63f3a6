"""A LlamaIndex function-calling model that speaks a script."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM

from fsagent_tools.testing.script import Message, Script, Turn


class ScriptedLLM(MockFunctionCallingLLM):
    """Says `turns` in order, for `FunctionAgent(llm=...)` and `AgentWorkflow`; streams.

    `bound` holds the schemas of the tools last offered, in OpenAI's form.
    """

    bound: list[dict[str, Any]] = []  # noqa: RUF012 pydantic copies it

    def __init__(self, turns: Sequence[Turn], **settings: Any) -> None:
        script = Script(turns)

        def respond(
            messages: Sequence[ChatMessage], tools: Sequence[Any] = (), **_: Any
        ) -> ChatMessage:
            self.bound = [tool.metadata.to_openai_tool() for tool in tools]
            return _spoken(script, messages)

        super().__init__(response_generator=respond, **settings)


def _spoken(script: Script, messages: Sequence[ChatMessage]) -> ChatMessage:
    said = [Message(m.role.value, m.content or "") for m in messages]
    answer = script.answer(said)
    blocks: list[Any] = [TextBlock(text=answer.text)] if answer.text else []
    for id_, one in answer.calls:
        blocks.append(
            ToolCallBlock(tool_call_id=id_, tool_name=one.name, tool_kwargs=dict(one.arguments))
        )
    return ChatMessage(role="assistant", blocks=blocks)
