"""What a LangGraph run knows of a call: where its live output goes, and which call it is."""

import os
from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from typing import Any

_RUNTIME = "__pregel_runtime"  # LangGraph's name; `get_runtime` is for this very task only

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
    """What a call is called: its session is the thread, its scope the task, even when resumed.

    user, tenant: `user_id` and `tenant_id` of what is configurable, else of the metadata; the user
    that LangGraph's server knows goes before both.
    """
    info = getattr(runtime, "execution_info", None)
    thread, run = (getattr(info, name, None) for name in ("thread_id", "run_id"))
    config = runtime.config if runtime else {}
    configured = config.get("configurable", {})
    told = {**(config.get("metadata") or {}), **configured}
    user = getattr(getattr(runtime, "server_info", None), "user", None)
    who = {"user": getattr(user, "identity", told.get("user_id")), "tenant": told.get("tenant_id")}
    return {
        "session": thread,
        "run": str(run) if run else _run_of(configured.get(_RUNTIME)),
        "call": call,
        "scope": configured.get("checkpoint_ns") or None,
        **{name: str(value) for name, value in who.items() if value is not None},
    }


def _run_of(runtime: Any) -> str | None:
    """A name for a run that was given no ID: all its tasks, also in subgraphs, have one control."""
    if (control := getattr(runtime, "control", None)) is None:
        return None
    with _naming:
        return _name_of(control)


_naming = Lock()


@lru_cache(maxsize=10_000)  # runs that go on, by identity
def _name_of(_: object) -> str:
    return os.urandom(8).hex()
