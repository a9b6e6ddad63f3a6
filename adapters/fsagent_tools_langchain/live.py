"""What a LangGraph run knows of a call: where its live output goes, and which call it is."""

from collections.abc import Callable
from typing import Any

try:
    from langgraph.prebuilt import ToolRuntime as ToolRuntime
except ImportError:  # langchain-core alone: nothing injects a runtime, nothing streams

    class ToolRuntime:  # type: ignore[no-redef]
        """Stands in for the annotation that LangGraph looks for."""


def sink(runtime: "ToolRuntime[Any, Any] | None", tool: str) -> Callable[[str], None] | None:
    """The run's streams `tools` and `custom`, whichever are read."""
    if runtime is None:
        return None
    emit: Callable[[str], None] | None = getattr(runtime, "emit_output_delta", None)

    def write(text: str) -> None:
        if emit:
            emit(text)
        delta = {"tool_name": tool, "tool_call_id": runtime.tool_call_id, "delta": text}
        runtime.stream_writer(delta)

    return write


def ids_of(runtime: "ToolRuntime[Any, Any] | None", call: str | None) -> dict[str, str | None]:
    """What a call is called: its session is the thread, its scope the task, even when resumed."""
    info = getattr(runtime, "execution_info", None)
    thread, run = (getattr(info, name, None) for name in ("thread_id", "run_id"))
    configured = runtime.config.get("configurable", {}) if runtime else {}
    return {
        "session": thread,
        "run": run and str(run),
        "call": call,
        "scope": configured.get("checkpoint_ns") or None,
    }
