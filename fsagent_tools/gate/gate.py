"""Every call on a workspace passes here, whoever makes it: `run_gated`, from top to bottom.

Configuration comes before it, where a path becomes a workspace; the policy of paths after it, at
the door to files, where the object is known.
"""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fsagent_tools.call import HostError, changed, current, new_step
from fsagent_tools.effects import Effect
from fsagent_tools.errors import Cancelled, ToolError
from fsagent_tools.gate.request import Approve, Origins, Request, run_approved
from fsagent_tools.runtime.shadows import importing

if TYPE_CHECKING:
    from fsagent_tools.files.guarded import GuardedFiles
    from fsagent_tools.policy import Policy
    from fsagent_tools.session.memory import Session


class Gated:
    """What is behind the gate: a workspace, or a part of one."""

    policy: "Policy"
    files: "GuardedFiles"
    session: "Session"
    services: Any  # of the workspace, a room above
    log: Any  # an `EventLog` or None
    approve: Approve | None
    approve_effects: frozenset[Effect]
    approve_direct: bool
    origins: Origins


@dataclass(frozen=True)
class GatedCall:
    """What asks to pass: a call of a tool, or of one of a workspace's own methods."""

    action: str  # the name that a policy knows it by
    name: str  # the name that its caller knows
    effect: Effect  # what it may do
    risk: str  # the same as a word
    sent: Any  # the arguments as the caller sent them
    validate: Callable[[], Any]  # gives the validated arguments; raises `InvalidArguments`
    execute: Callable[[Any], Any]  # carries it out with them
    arguments: Callable[[Any], Mapping[str, Any]]  # shows them to who is asked for approval
    only_reports: Callable[[Any], bool] = lambda _: False  # whether it has no effect with them
    answer: Callable[[Any], Any] = lambda result: result  # what the caller gets of the result
    refuse: Callable[[Exception], Any] | None = None  # and of an error; None raises it
    is_tool: bool = False  # of a model, and so approved; a method only with `approve_direct`
    is_mark: bool = False  # it belongs to the host's own history: a checkpoint, an undo


def run_gated(workspace: Gated, call: GatedCall) -> Any:
    """Pass one call and carry it out: log, policy of actions, parameters, approval, run.

    Returns what `call.answer` or `call.refuse` makes of it, raises what the host's callbacks raise.
    """
    context, session = current.get(), workspace.session
    with workspace.services.in_use(workspace), importing(), _logged(workspace, call) as event:

        def execute() -> Any:
            event.outside = _is_from_outside(workspace.policy, call.effect, params)
            try:
                result = call.execute(params)
                event.outside = event.outside or getattr(result, "sandbox", "") == "none"
                return result
            finally:  # whatever came of it
                if event.outside:
                    session.outside[call.name] = None

        try:
            context.check()
            workspace.policy.check_action(call.action, call.effect, shown=call.name)
            event.params = params = call.validate()
            if context.turn and not context.dry:
                context.turn.wait()
            with changed(tool=call.name, step=new_step(), inside=session):
                approve = approver(workspace, call.effect, is_tool=call.is_tool)
                if approve is not None and not call.only_reports(params):
                    shown, outside = call.arguments(params), tuple(session.outside)
                    request = Request(call.name, call.effect, call.risk, shown, outside=outside)
                    call_id = context.ids.get("call")  # the caller's; a log gives others its own
                    result = run_approved(execute, request, approve, workspace.origins, call_id)
                elif context.dry:
                    raise Cancelled("This call is not asked about.")
                else:
                    if context.turn:
                        context.turn.check()
                    result = execute()
            event.done = call.answer(result)
        except HostError as carried:
            raise carried.error from None
        except Exception as error:
            event.error = error if isinstance(error, ToolError) else None
            if call.refuse is None:
                raise
            event.done = call.refuse(error)
        return event.done


def approver(workspace: Gated, effect: Effect, *, is_tool: bool) -> Approve | None:
    """Who is asked about it, None for nobody."""
    if effect not in workspace.approve_effects or not (is_tool or workspace.approve_direct):
        return None
    own = current.get().approve
    return workspace.approve if own is None else own


def _logged(workspace: Gated, call: GatedCall) -> Any:
    """What `run_gated` notes of the call: `params`, `error`, and what was `done`."""
    if workspace.log is None or current.get().dry:
        return nullcontext(SimpleNamespace())
    names = call.name, call.effect.value, workspace.session.id
    files, found = workspace.files, workspace.services.diffs_of_call
    place = {"workspace": files.local_root, "virtual": files.virtual, "found": found}
    return workspace.log.event(*names, sent=call.sent, mark=call.is_mark, **place)


def _is_from_outside(policy: "Policy", effect: Effect, params: Any) -> bool:
    """Whether what a call answers may come from outside the project."""
    if effect is not Effect.EXECUTE:
        return effect is Effect.NETWORK
    is_program = isinstance(getattr(params, "command", None), str)
    is_online = policy.process.network and getattr(params, "network", None) is not False
    return is_program and (is_online or policy.process.sandbox == "off")
