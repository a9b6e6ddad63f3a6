"""Where the live output of a tool goes in a LangGraph run."""

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
