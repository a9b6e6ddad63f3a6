"""A LlamaIndex function-calling model that speaks a script."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools.types import BaseTool

from fsagent_tools.testing.script import Message, Script, Turn


class ScriptedLLM(MockFunctionCallingLLM):
    """Says `turns` in order, for `FunctionAgent(llm=...)` and `AgentWorkflow`; streams.

    `bound` holds the schemas of the tools last offered, in OpenAI's form.
    """

    bound: list[dict[str, Any]] = []  # noqa: RUF012 pydantic copies it

    def __init__(self, turns: Sequence[Turn], **settings: Any) -> None:
        script = Script(turns)

        def respond(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
            return _spoken(script, messages, self.bound)

        super().__init__(response_generator=respond, **settings)

    def _prepare_chat_with_tools(
        self, tools: Sequence[BaseTool], *given: Any, **more: Any
    ) -> dict[str, Any]:
        self.bound = [tool.metadata.to_openai_tool() for tool in tools]
        prepared: dict[str, Any] = super()._prepare_chat_with_tools(tools, *given, **more)
        return prepared


def _spoken(
    script: Script, messages: Sequence[ChatMessage], bound: Sequence[dict[str, Any]]
) -> ChatMessage:
    said = [
        Message(m.role.value, m.content or "", str(m.additional_kwargs.get("turn", "")))
        for m in messages
    ]
    answer = script.answer(said, schema=bound[-1]["function"]["name"] if bound else "")
    blocks: list[Any] = [TextBlock(text=answer.text)] if answer.text else []
    for id_, one in answer.calls:
        blocks.append(
            ToolCallBlock(tool_call_id=id_, tool_name=one.name, tool_kwargs=dict(one.arguments))
        )
    return ChatMessage(role="assistant", blocks=blocks, additional_kwargs={"turn": answer.mark})
