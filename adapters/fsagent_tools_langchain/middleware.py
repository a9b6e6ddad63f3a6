"""A toolset as an agent middleware: the tools and a few words on how to use them."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Unpack

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage

from fsagent_tools.types import AnyToolset, WorkspaceSource
from fsagent_tools_langchain.tools import FsAgentTool, MessageOptions, get_tools

PROMPT = (
    "Your file tools work on one project directory; paths are relative to it. "
    "A call that answers with an error changed nothing: do what it says, then call again."
)
VIRTUAL_PROMPT = PROMPT.replace("paths are relative to it", "/ is its root")
IDS_PROMPT = (
    " Each line of a file is shown with an ID in front. To edit a line, quote its ID exactly as it "
    "was shown; an ID stays valid while other lines change."
)
MOVED = ("image", "file")  # blocks of tools' messages that some providers take from users only


class FsAgentMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gives `create_agent` the tools of `get_tools`, and a few words on how to use them.

    Where `response_format` puts OpenAI's API into its strict mode, tools have strict schemas; for
    Ollama, whose client drops the types of strict ones, they never have.

    Args:
        workspace, toolset, **options: As in `get_tools`.
        system_prompt: Replaces `PROMPT` (and `IDS_PROMPT`) in the system message; "" adds nothing.
        name: Has to be unique in an agent; by default that of the class and the prefix, if any.
        replaces: The name of a middleware that others add, such as deepagents'
            "FilesystemMiddleware", whose place it takes.
    """

    def __init__(
        self,
        workspace: WorkspaceSource,
        toolset: AnyToolset = None,
        *,
        system_prompt: str | None = None,
        name: str = "",
        replaces: str = "",
        **options: Unpack[MessageOptions],
    ) -> None:
        self.tools = tools = get_tools(workspace, toolset, **options)
        own = [tool.core for tool in tools if isinstance(tool, FsAgentTool)]
        words = VIRTUAL_PROMPT if any(one.workspace.files.virtual for one in own) else PROMPT
        words += IDS_PROMPT * any(one.entry.action_name == "edit_lines" for one in own)
        self.system_prompt = words if system_prompt is None else system_prompt
        self._images = options.get("images")
        self._name = replaces or name or f"FsAgentMiddleware{options.get('prefix', '')}"

    @property
    def name(self) -> str:
        return self._name

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(self._prepared(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        return await handler(self._prepared(request))

    def _prepared(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        kinds = {kind.__name__ for kind in type(request.model).__mro__}
        is_openai, wanted = "BaseChatOpenAI" in kinds, request.response_format
        # Where a model chooses the Responses API by itself, users' pictures are right, too.
        takes_text_only = is_openai and not getattr(request.model, "use_responses_api", False)
        if self._images == "user" or (self._images is None and takes_text_only):
            request = request.override(messages=shown_by_user(request.messages))
        if is_openai and wanted and not isinstance(wanted, ToolStrategy):
            request = request.override(tools=with_schemas(request.tools, strict=True))
        elif "ChatOllama" in kinds:
            request = request.override(tools=with_schemas(request.tools, strict=False))
        return self._prompted(request)

    def _prompted(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        if not self.system_prompt:
            return request
        before = request.system_message.content_blocks if request.system_message else []
        gap = "\n\n" if before else ""
        content: list[Any] = [*before, {"type": "text", "text": gap + self.system_prompt}]
        return request.override(system_message=SystemMessage(content=content))


def with_schemas(tools: Iterable[Any], *, strict: bool) -> list[Any]:
    """Ours with such schemas, as LangChain binds them; others as they are."""
    return [t.twin if isinstance(t, FsAgentTool) and t.core.strict != strict else t for t in tools]


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
