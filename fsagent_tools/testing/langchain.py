"""A LangChain chat model that speaks a script."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr

from fsagent_tools.testing.script import Answer, Message, Script, Turn

ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}


class ScriptedChatModel(BaseChatModel):
    """Says `turns` in order, for `create_agent(model=...)`; streams, and records what it is given.

    `bound` holds the schemas of the tools last bound, in OpenAI's form.
    """

    bound: list[dict[str, Any]] = Field(default_factory=list)
    _script: Script = PrivateAttr()
    _schema: str = PrivateAttr("")

    def __init__(self, turns: Sequence[Turn], **settings: Any) -> None:
        super().__init__(**settings)
        self._script = Script(turns)

    @property
    def _llm_type(self) -> str:
        return "fsagent-scripted"

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **more: Any
    ) -> "ScriptedChatModel":
        self.bound = [convert_to_openai_tool(tool) for tool in tools]
        takes_text = "response_format" in more or not self.bound
        self._schema = "" if takes_text else self.bound[-1]["function"]["name"]
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        chunks = _chunks(self._answer(messages, run_manager))
        return generate_from_stream(ChatGenerationChunk(message=chunk) for chunk in chunks)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(self._answer(messages, run_manager)):
            generation = ChatGenerationChunk(message=chunk)
            if run_manager:
                run_manager.on_llm_new_token(str(chunk.content), chunk=generation)
            yield generation

    def _answer(self, messages: list[BaseMessage], run: CallbackManagerForLLMRun | None) -> Answer:
        told = [(m, getattr(m, "response_metadata", {}).get("turn", "")) for m in messages]
        said = [Message(ROLES[m.type], str(m.text), mark) for m, mark in told]
        thread = ((run and run.metadata) or {}).get("thread_id", "")
        return self._script.answer(said, str(thread), self._schema)


def _chunks(answer: Answer) -> Iterator[AIMessageChunk]:
    for word in re.findall(r"\S+\s*|\s+", answer.text):
        yield AIMessageChunk(content=word)
    for index, (id_, one) in enumerate(answer.calls):
        text = one.json()
        half = len(text) // 2
        first = tool_call_chunk(name=one.name, args=text[:half], id=id_, index=index)
        rest = tool_call_chunk(args=text[half:], index=index)
        yield AIMessageChunk(content="", tool_call_chunks=[first])
        yield AIMessageChunk(content="", tool_call_chunks=[rest])
    told = {"turn": answer.mark}
    yield AIMessageChunk(content="", chunk_position="last", response_metadata=told)
