"""One call that gives a deep agent our files, in every part of it."""

from collections.abc import Sequence
from typing import Any

from deepagents.backends import CompositeBackend

from fsagent_tools import Toolset
from fsagent_tools.types import WorkspaceSource
from fsagent_tools_deepagents.backend import FsAgentBackend
from fsagent_tools_langchain import FsAgentMiddleware, interrupt_on

ARTIFACTS = "/.ai/cache"  # ignored by git and by searches


def deep_agent_options(
    workspace: WorkspaceSource,
    toolset: Toolset | str | None = None,
    *,
    subagents: Sequence[Any] = (),
    approval: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """For `create_deep_agent(model=model, **deep_agent_options("."))`.

    The agent and its subagents have the tools of `get_tools`; memory, skills and summaries are of
    the same files. What deepagents keeps is in `ARTIFACTS`.

    Args:
        workspace: As in `get_tools`; a function gets the context and config of a run.
        toolset: As in `get_tools`.
        subagents: As of `create_deep_agent`; compiled and remote ones stay as they are.
        approval: Ask before each change, by LangChain's middleware: see `interrupt_on`.
        **options: Those of `FsAgentMiddleware`.

    Returns:
        Its options backend, middleware, subagents and, for approval, interrupt_on.
    """
    files: Any = FsAgentMiddleware(workspace, toolset, replaces="FilesystemMiddleware", **options)
    core = files.tools[0].core
    backend = FsAgentBackend(core.pool or core.workspace)  # one session for both
    return {
        "backend": CompositeBackend(backend, {}, artifacts_root=ARTIFACTS),
        "middleware": [files],
        "subagents": [
            each
            if "runnable" in each or "graph_id" in each
            else {**each, "middleware": [files, *each.get("middleware", ())]}
            for each in subagents
        ],
        **({"interrupt_on": interrupt_on(files.tools)} if approval else {}),
    }
