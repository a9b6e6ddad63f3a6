"""Approval by LangChain's `HumanInTheLoopMiddleware`: what it asks about, and what it showed."""

import _thread
import asyncio
import json
from collections.abc import Callable, Iterable
from contextvars import copy_context
from inspect import isawaitable
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool

from fsagent_tools import Request, Tool, identified
from fsagent_tools.errors import Conflict
from fsagent_tools_langchain.live import ToolRuntime, run_of

if TYPE_CHECKING:
    from langchain.agents.middleware import InterruptOnConfig

FINGERPRINT = "\n\nfingerprint: "  # ends a description: 16 digits of what it shows
NOTHING = "As the files are now, this call changes nothing or is refused."
_STEPS = 8  # of a graph, between a question and the call that it is about
_SAVER, _INTERRUPT = "__pregel_checkpointer", "__interrupt__"  # LangGraph's names


def interrupt_on(
    tools: Iterable[BaseTool], *, when: Callable[[Request], bool] | None = None
) -> "dict[str, bool | InterruptOnConfig]":
    """For `HumanInTheLoopMiddleware(interrupt_on(tools))`: those of ours that need approval.

    `Workspace(approve_effects=...)` says which effects need it. A call is described by its diff. If
    the files have changed by the time it runs, it is refused with the new diff, and the model's
    next call is asked about. What a reviewer edits runs as the reviewer wrote it.

    Args:
        tools: Those of `get_tools`; others in the list are not asked about.
        when: Whether a call is asked about, by its arguments alone, as the model sent them (there
            is no diff): the middleware calls it again when the run is resumed, and a False by then
            would run what was rejected. By default always.
    """
    return {tool.name: _configured(tool, when) for tool in tools if _needs_approval(tool)}


def _needs_approval(tool: Any) -> bool:
    core = getattr(tool, "core", None)
    return core is not None and core.effect in core.workspace.approve_effects


def _configured(tool: Any, when: Callable[[Request], bool] | None) -> "InterruptOnConfig":
    core: Tool = tool.core
    tool.reviewed = True

    def describe(tool_call: Any, state: Any, runtime: Any) -> str:
        run, sent = run_of(state, runtime, tool_call["id"]), tool_call["args"]

        def described() -> str:
            with core.within(run) as here, identified(call=tool_call["id"]):
                request = here.preview(sent)
            return shown(request) if request else f"{_spelled(core.name, sent)}\n\n{NOTHING}"

        return _outside_loop(described)

    def asks(request: Any) -> bool:
        arguments = request.tool_call["args"]
        effect = core.effect_of(arguments)
        if effect not in core.workspace.approve_effects:
            return False
        return when is None or when(Request(core.name, effect, core.risk, arguments))

    decisions: Any = ["approve", "edit", "reject"]
    return {"allowed_decisions": decisions, "description": describe, "when": asks}


def shown(request: Request) -> str:
    """What a person reads: the diff, or the arguments of what has none."""
    text = request.diff or _spelled(request.tool, dict(request.arguments))
    return f"{text}{FINGERPRINT}{request.fingerprint[:16]}"


def _spelled(name: str, arguments: object) -> str:
    return f"{name} {json.dumps(arguments, ensure_ascii=False, default=str)}"


def holding(
    tool: Tool, runtime: ToolRuntime[Any, Any], sent: object, *, waits: bool
) -> Callable[[Request], Any]:
    """For `approving`: what was asked about is only done as it was shown.

    What nobody was asked about, or a reviewer wrote, passes. The workspace's own `approve` is
    asked, too. waits: the call is awaited, and so is the checkpointer.
    """

    async def approve(request: Request) -> Any:
        approved = await _approved(tool.name, runtime, sent, waits=waits)
        now, _, fingerprint = shown(request).rpartition(FINGERPRINT)
        if approved and fingerprint not in approved:
            raise Conflict(
                f"{' and '.join(request.paths) or request.tool} changed after this call was "
                f"approved, so nothing was done. Now the call would do this:\n{now}\n",
                hint="Call again if that is still right: approval is asked for anew.",
            )
        own = tool.workspace.approve
        verdict: Any = own(request) if own else True
        return await verdict if waits and isawaitable(verdict) else verdict

    def approve_now(request: Request) -> Any:
        try:
            approve(request).send(None)  # which awaits nothing
        except StopIteration as ended:
            return ended.value

    return approve if waits else approve_now


async def _approved(
    tool: str, runtime: ToolRuntime[Any, Any], sent: object, *, waits: bool
) -> set[str]:
    """The fingerprints that a person was shown of this call, or of equal ones of its message.

    The value of an interrupt stays in the checkpoint in which the graph paused, so any host that
    has the checkpointer finds it.
    """
    configured = runtime.config.get("configurable", {})
    saver: Any = configured.get(_SAVER)
    space = configured.get("checkpoint_ns", "").rpartition("|")[0]
    thread = {"thread_id": configured.get("thread_id"), "checkpoint_ns": space}
    place: Any = {"configurable": thread}
    for _ in range(_STEPS if saver else 0):
        saved = await saver.aget_tuple(place) if waits else saver.get_tuple(place)
        messages = saved.checkpoint["channel_values"].get("messages", ()) if saved else ()
        calls = [each["id"] for m in messages for each in getattr(m, "tool_calls", ())]
        if runtime.tool_call_id not in calls:
            break
        requests = [
            asked
            for _, channel, interrupts in saved.pending_writes or ()
            for asked in (_requests(interrupts) if channel == _INTERRUPT else ())
            if asked.get("tool_call_id", runtime.tool_call_id) == runtime.tool_call_id
        ]
        if requests or not saved.parent_config:
            equal = [each for each in requests if (each["name"], each["args"]) == (tool, sent)]
            return {each.get("description", "").rpartition(FINGERPRINT)[2] for each in equal}
        place = saved.parent_config
    return set()


def _requests(interrupts: Any) -> list[Any]:
    """Those of the middleware, in either of its modes."""
    values = [each.value for each in interrupts if isinstance(each.value, dict)]
    found = (value.get("action_requests", [value]) for value in values)
    return [request for requests in found for request in requests if "args" in request]


def _outside_loop(work: Callable[[], str]) -> str:
    """The result of work that reads files, which the middleware asks for on its event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    done: SimpleQueue[tuple[str, BaseException | None]] = SimpleQueue()
    context = copy_context()

    def run() -> None:
        try:
            done.put((context.run(work), None))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            done.put(("", error))

    _thread.start_new_thread(run, ())
    text, error = done.get()
    if error:
        raise error
    return text
