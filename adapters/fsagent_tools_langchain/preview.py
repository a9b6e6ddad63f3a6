"""What a person is shown of a call before it runs: which are asked about, and their diffs."""

import json
from collections.abc import Iterable
from typing import Any

from langchain.agents.middleware.human_in_the_loop import InterruptOnConfig
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.prebuilt import ToolRuntime

from fsagent_tools import Request, identified

SHOWN = "fsagent_shown"  # in a state: what all calls of the message would do, by their IDs


def interrupt_on(tools: Iterable[BaseTool]) -> dict[str, bool | InterruptOnConfig]:
    """For `HumanInTheLoopMiddleware(interrupt_on=...)`: our tools whose effects need approval.

    `Workspace(approve_effects=...)` says which effects these are. A call is described by its diff;
    one that changes nothing or will be refused is not asked about.
    """
    return {tool.name: _configured(tool) for tool in tools if asks(tool)}


def asks(tool: Any) -> bool:
    """Whether the tool is ours and its effect needs approval."""
    core = getattr(tool, "core", None)
    return core is not None and core.effect in core.workspace.approve_effects


def preview(tool: Any, call: Any, state: Any, runtime: Any) -> Request | None:
    """What the call would do; None where nobody is asked. `runtime` is the graph's."""
    run = run_of(state, runtime, call["id"])
    with tool.core.within(run) as here, identified(call=call["id"]):
        request: Request | None = here.preview(call["args"])
    return request


def run_of(state: Any, runtime: Any, call: str | None = None) -> ToolRuntime[Any, Any]:
    """What a tool itself would get, for a function that tells its workspace."""
    return ToolRuntime(
        state=state,
        context=runtime.context,
        config=get_config(),
        stream_writer=runtime.stream_writer,
        tool_call_id=call,
        store=runtime.store,
        execution_info=runtime.execution_info,
    )


def describe(request: Request, beside: Iterable[Request] = ()) -> str:
    """What a person reads: the diff, or the arguments of what has none.

    beside: other calls of the same message; what they do to the same files is not in this diff.
    """
    arguments = json.dumps(dict(request.arguments), ensure_ascii=False, default=str)
    text = request.diff or f"{request.tool} {arguments}"
    shared = {*request.paths} & {path for other in beside for path in other.paths}
    if not shared:
        return text
    return (
        f"{text}\n\nAnother call of this message changes {', '.join(sorted(shared))}, too. "
        "If it changes these very lines, you will be asked again."
    )


def _configured(tool: BaseTool) -> InterruptOnConfig:
    def shown(tool_call: Any, state: Any, runtime: Any) -> str:
        if SHOWN in state:
            text: str = state[SHOWN].get(tool_call["id"], "")
            return text
        request = preview(tool, tool_call, state, runtime)
        return describe(request) if request else ""

    return {
        "allowed_decisions": ["approve", "edit", "reject"],
        "description": shown,
        "when": lambda asked: bool(shown(asked.tool_call, asked.state, asked.runtime)),
    }
