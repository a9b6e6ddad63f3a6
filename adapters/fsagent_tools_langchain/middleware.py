"""A toolset as an agent middleware: the tools and a few words on how to use them."""

from collections.abc import Awaitable, Callable
from typing import Any, Unpack

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import SystemMessage

from fsagent_tools import Toolset
from fsagent_tools.types import WorkspaceSource
from fsagent_tools_langchain.content import MessageOptions
from fsagent_tools_langchain.pictures import is_openai, shown_by_user, takes_text_only
from fsagent_tools_langchain.review import FsAgentApproval
from fsagent_tools_langchain.tools import FsAgentTool, get_tools

PROMPT = (
    "Your file tools work on one project directory; paths are relative to it. "
    "A call that answers with an error changed nothing: do what it says, then call again."
)
VIRTUAL_PROMPT = PROMPT.replace("paths are relative to it", "/ is its root")


class FsAgentMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gives `create_agent` the tools of `get_tools`, and adds `PROMPT` to the system message.

    Where `response_format` puts OpenAI's API into its strict mode, tools have strict schemas.
    All other arguments are those of `get_tools`; so is the first one. Further options:
    `system_prompt` replaces `PROMPT` (or `VIRTUAL_PROMPT` for virtual paths), "" adds nothing.
    `name` has to be unique in an agent; by default that of the class. `replaces` takes the place of
    a middleware that others add, such as deepagents' "FilesystemMiddleware".

    Args:
        toolset: As in `get_tools`.
        approval: Ask as `FsAgentApproval` does.
    """

    def __new__(cls, *_: Any, approval: bool = False, **__: Any) -> "FsAgentMiddleware":
        return super().__new__(_Approving if approval and cls is FsAgentMiddleware else cls)

    def __init__(  # noqa: PLR0913
        self,
        workspace: WorkspaceSource,
        toolset: Toolset | str | None = None,
        *,
        system_prompt: str | None = None,
        approval: bool = False,
        name: str = "",
        replaces: str = "",
        **options: Unpack[MessageOptions],
    ) -> None:
        self.tools = tools = get_tools(workspace, toolset, **options)
        virtual = any(isinstance(t, FsAgentTool) and t.core.workspace.files.virtual for t in tools)
        words = VIRTUAL_PROMPT if virtual else PROMPT
        self.system_prompt = words if system_prompt is None else system_prompt
        self._images = options.get("images")
        self._name = replaces or name or "FsAgentMiddleware"

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
        moves = self._images is None and takes_text_only(request.model)
        if moves or self._images == "user":
            request = request.override(messages=shown_by_user(request.messages))
        wanted = request.response_format
        if wanted and not isinstance(wanted, ToolStrategy) and is_openai(request.model):
            tools = [t.strict if isinstance(t, FsAgentTool) else t for t in request.tools]
            request = request.override(tools=tools)  # as LangChain binds
        return self._prompted(request)

    def _prompted(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        if not self.system_prompt:
            return request
        before = request.system_message.content_blocks if request.system_message else []
        gap = "\n\n" if before else ""
        content: list[Any] = [*before, {"type": "text", "text": gap + self.system_prompt}]
        return request.override(system_message=SystemMessage(content=content))


class _Approving(FsAgentMiddleware, FsAgentApproval):
    """`FsAgentMiddleware(approval=True)`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        FsAgentMiddleware.__init__(self, *arguments, **options)
        tools = self.tools
        FsAgentApproval.__init__(self, tools)
        self.tools = tools
