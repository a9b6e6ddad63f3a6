"""Where the live output of a tool goes in a LangGraph run, and what the run is called."""

from collections.abc import Callable
from typing import Any

try:
    from langgraph.prebuilt import ToolRuntime as ToolRuntime
except ImportError:  # langchain-core alone: nothing injects a runtime, nothing streams

    class ToolRuntime:  # type: ignore[no-redef]
        """Stands in for the annotation that LangGraph looks for."""


def sink(runtime: "ToolRuntime[Any, Any] | None") -> Callable[[str], None] | None:
    """The run's `tools` stream where it has one, else its `custom` stream."""
    if runtime is None:
        return None
    return getattr(runtime, "emit_output_delta", None) or runtime.stream_writer


def ids_of(runtime: "ToolRuntime[Any, Any] | None", call: str | None) -> dict[str, str | None]:
    """What the event log calls a call: the thread is its session."""
    info = getattr(runtime, "execution_info", None)
    thread, run = (getattr(info, name, None) for name in ("thread_id", "run_id"))
    return {"session": thread, "run": run and str(run), "call": call}
