"""What a LangGraph run knows of a call: where its live output goes, and which call it is."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from threading import Lock
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt import ToolRuntime as ToolRuntime

from fsagent_tools import Effect
from fsagent_tools.types import calls_of

_RUNTIME = "__pregel_runtime"  # LangGraph's name; `get_runtime` is for this very task only


def run_of(state: Any, runtime: Any, call: str | None = None) -> "ToolRuntime[Any, Any]":
    """What a tool would get, from the runtime of the node in which this is called."""
    return ToolRuntime(
        state=state,
        context=runtime.context,
        config=get_config(),
        stream_writer=runtime.stream_writer,
        tool_call_id=call,
        store=runtime.store,
        execution_info=runtime.execution_info,
    )


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
    """What a call is called: its session is the thread.

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
        **{name: str(value) for name, value in who.items() if value is not None},
    }


def in_turn(
    effect: Effect,
    runtime: "ToolRuntime[Any, Any] | None",
    call: str | None,
    ids: Mapping[str, str | None],
) -> AbstractContextManager[None]:
    """The turn of a call among those of its message; outside a graph it has none."""
    state = getattr(runtime, "state", None)
    messages = state.get("messages") if isinstance(state, Mapping) else state
    messages = getattr(messages, "messages", messages)
    messages = messages if isinstance(messages, list) else []
    said = next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)
    order = [str(each["id"]) for each in said.tool_calls] if said else []
    if runtime is None or said is None or call not in order or len(order) == 1:
        return nullcontext()
    ours = {tool.name for tool in runtime.tools if hasattr(tool, "core")}
    answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    begin = [str(each["id"]) for each in said.tool_calls if each["name"] in ours]
    message = calls_of((ids["session"] or ids["run"], said.id, *order), order, {*begin} - answered)
    task = runtime.config.get("configurable", {}).get("checkpoint_ns") or None
    return message.turn(call, effect, GraphBubbleUp, lambda pause, _: pause, task)


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
