"""One call that gives a deep agent our files, in every part of it."""

from collections.abc import Sequence
from typing import Any

from deepagents.backends import CompositeBackend

from fsagent_tools import Toolset
from fsagent_tools.types import WorkspaceSource
from fsagent_tools_deepagents.backend import FsAgentBackend
from fsagent_tools_langchain import FsAgentMiddleware

ARTIFACTS = "/.ai/cache"  # ignored by git and by searches


def deep_agent_options(
    workspace: WorkspaceSource,
    toolset: Toolset | str | None = None,
    *,
    subagents: Sequence[Any] = (),
    **options: Any,
) -> dict[str, Any]:
    """For `create_deep_agent(model=model, **deep_agent_options("."))`: `backend`, `middleware` and
    `subagents`.

    The agent and its subagents have the tools of `get_tools`; memory, skills and summaries are
    of the same files. What deepagents keeps is in `ARTIFACTS`. A function as workspace
    tells one for each run, by its context or config. subagents: as of `create_deep_agent`; those
    that are compiled, or elsewhere, stay as they are. The rest is as in `FsAgentMiddleware`. Raises
    `ConfigInvalid`.
    """
    files: Any = FsAgentMiddleware(workspace, toolset, replaces="FilesystemMiddleware", **options)
    core = files.tools[0].core
    own = core.pool or core.workspace  # one session for both
    backend = FsAgentBackend(own)
    return {
        "backend": CompositeBackend(backend, {}, artifacts_root=ARTIFACTS),
        "middleware": [files],
        "subagents": [_with(files, each) for each in subagents],
    }


def _with(files: Any, subagent: Any) -> Any:
    if "runnable" in subagent or "graph_id" in subagent:
        return subagent
    return {**subagent, "middleware": [files, *subagent.get("middleware", ())]}
