"""Long results of other tools go to a file, of which the model gets the ends and the name."""

from asyncio import to_thread
from dataclasses import replace
from hashlib import sha256
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from fsagent_tools import ToolError, identified
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools_langchain.live import ids_of
from fsagent_tools_langchain.preview import run_of
from fsagent_tools_langchain.tools import FsAgentTool

PLACE = ".ai/cache/results"  # ignored by git, by searches and by reports of what changed
BEGIN, END = 1500, 500  # characters that the model gets


class Evicting:
    """Hooks of `FsAgentMiddleware(evict_above=...)`, before those of the class behind it."""

    tools: Any
    evict_above: int

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        core = self.tools[0].core
        if core.pool is None and core.workspace.files.local_root is None:
            hint = "Pass a path, or evict_above=0."
            raise ConfigInvalid("Long results go to a file of this machine.", hint=hint)

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        result = super().wrap_tool_call(request, handler)  # type: ignore[misc]
        return result if self._fits(result, request) else self._evicted(result, request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        result = await super().awrap_tool_call(request, handler)  # type: ignore[misc]
        if self._fits(result, request):
            return result
        return await to_thread(self._evicted, result, request)

    def _fits(self, result: Any, request: Any) -> bool:
        """What our tools answer is bounded, and says itself how to go on."""
        messages = [*_messages(result)]
        return isinstance(request.tool, FsAgentTool) or all(map(self._is_short, messages))

    def _is_short(self, message: Any) -> bool:
        return not isinstance(message, ToolMessage) or len(message.text) <= self.evict_above

    def _evicted(self, result: Any, request: Any) -> Any:
        kept = [
            message if self._is_short(message) else self._shortened(message, request)
            for message in _messages(result)
        ]
        if isinstance(result, ToolMessage):
            return kept[0]
        return replace(result, update={**result.update, "messages": kept})

    def _shortened(self, message: ToolMessage, request: Any) -> ToolMessage:
        """As it is where the policy lets no file be written: nothing is lost."""
        text, run = message.text, run_of(request.state, request.runtime, message.tool_call_id)
        ids = ids_of(run, message.tool_call_id)
        name = sha256(repr([ids["session"], ids["run"], ids["call"]]).encode()).hexdigest()[:16]
        path = f"{PLACE}/{name}.txt"
        with self.tools[0].core.within(run) as here, identified(session="results"):
            if here.entry is not self.tools[0].core.entry:  # at a place that only tools reach
                return message
            try:  # of a session of its own: a model's undo is about its own calls
                here.workspace.write_text(path, text)
            except ToolError:
                return message
            path = f"/{path}" if here.workspace.files.virtual else path
        said = (
            f"This result has {len(text):,} characters. All of it is in the file {path}: "
            f"read it in parts, or search it.\n\n"
            f"It begins:\n{text[:BEGIN]}\n\nIt ends:\n{text[-END:]}"
        )
        blocks = message.content if isinstance(message.content, list) else []
        others = [b for b in blocks if isinstance(b, dict) and b.get("type") != "text"]
        content: Any = [{"type": "text", "text": said}, *others] if others else said
        return message.model_copy(update={"content": content})


def _messages(result: Any) -> Any:
    if isinstance(result, Command):
        return result.update.get("messages", ()) if isinstance(result.update, dict) else ()
    return (result,)
