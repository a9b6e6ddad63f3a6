"""Every operation on a workspace passes here, whoever asks for it: `run`, from top to bottom.

Configuration comes before it, where a path becomes a workspace; the policy of paths after it, at
the door to files, where the object is known.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType, ref

from fsagent_tools.call import HostError, changed, current, new_step
from fsagent_tools.effects import Effect
from fsagent_tools.errors import Cancelled, ConfigInvalid, ToolError
from fsagent_tools.gate.request import Approve, Origins, Request, run_approved
from fsagent_tools.runtime.shadows import importing

if TYPE_CHECKING:
    from fsagent_tools.files.guarded import GuardedFiles
    from fsagent_tools.policy import Policy
    from fsagent_tools.session.memory import Session

# Workspaces of this process that hold something open while nobody calls: five descriptors each, of
# which the history has three.
_MAX_OPEN = 12
_used: dict[int, "ReferenceType[Gated]"] = {}  # in the order of their last use


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

    def rest(self) -> None:
        """Give up open handles and texts; what was shown and background commands stay."""
        self.session.free()
        self.session.store.rest()
        self.services.rest()
        self.files.close()


class Operation:
    """What asks to pass: a call of a tool, or of one of a workspace's own methods.

    Attributes:
        action: The name that a policy knows it by.
        name: The name that its caller knows.
        effect: What it may do.
        risk: The same as a word.
        sent: The arguments as the caller sent them.
        is_tool: Of a model, and so approved; a host's own method only with `approve_direct`.
        is_mark: It belongs to the host's own history: a checkpoint, an undo.
    """

    action: str
    name: str
    effect: Effect
    risk: str
    sent: Any
    is_tool = False
    is_mark = False

    def params(self) -> Any:
        """The validated arguments. Raises `InvalidArguments`."""
        raise NotImplementedError

    def execute(self, params: Any) -> Any:
        """Carry it out."""
        raise NotImplementedError

    def arguments(self, params: Any) -> Mapping[str, Any]:
        """What is shown to who is asked for approval."""
        raise NotImplementedError

    def only_reports(self, params: Any) -> bool:
        """Whether it has no effect with these arguments."""
        return False

    def settle(self, work: Callable[[], Any]) -> Any:
        """What the caller gets of `work`, which carries it out or raises."""
        try:
            return work()
        except HostError as carried:
            raise carried.error from None


def run_gated(workspace: Gated, operation: Operation) -> Any:
    """Pass one operation and carry it out.

    Args:
        workspace: Where.
        operation: What.

    Returns:
        What the operation settles as.

    Raises:
        Exception: What the operation raises, or the host's own callbacks.
    """
    call_id = current.get().ids.get("call")  # the caller's; a log gives one of its own to others

    def work() -> Any:
        try:
            call = current.get()
            call.check()
            workspace.policy.check_action(operation.action, operation.effect, shown=operation.name)
            event.params = params = operation.params()
            if call.turn and not call.dry:
                call.turn.wait()
            with changed(tool=operation.name, step=new_step(), inside=workspace.session):
                approve = approver(workspace, operation)
                if approve is not None and not operation.only_reports(params):
                    request = Request(
                        operation.name,
                        operation.effect,
                        operation.risk,
                        operation.arguments(params),
                        outside=tuple(workspace.session.outside),
                    )
                    return run_approved(execute, request, approve, workspace.origins, call_id)
                if call.dry:
                    raise Cancelled("This call is not asked about.")
                if call.turn:
                    call.turn.check()
                return execute()
        except ToolError as error:
            event.error = error
            raise

    def execute() -> Any:
        """Whatever comes of it, the session may have had something from outside then."""
        event.outside = _is_from_outside(workspace, operation, event.params)
        try:
            done = operation.execute(event.params)
            event.outside = event.outside or getattr(done, "sandbox", "") == "none"
            return done
        finally:
            if event.outside:
                workspace.session.outside[operation.name] = None

    _ = workspace.services.changeable  # closed to imports, once
    with _in_use(workspace), importing(), _logged(workspace, operation) as event:
        event.done = operation.settle(work)
        return event.done


def approver(workspace: Gated, operation: Operation) -> Approve | None:
    """Who is asked about it, None for nobody."""
    asks = operation.is_tool or workspace.approve_direct
    if operation.effect not in workspace.approve_effects or not asks:
        return None
    own = current.get().approve
    return workspace.approve if own is None else own


def check_guards(policy: object, approve: object, log: object) -> None:
    """Raise `ConfigInvalid` for what would fail only when it is first asked."""
    if policy is not None and not hasattr(policy, "check_action"):
        raise ConfigInvalid(f"policy is a Policy, not {policy!r}: Policy(readonly=True).")
    if approve is not None and not callable(approve):
        raise ConfigInvalid(f"approve is a function that gets each Request, not {approve!r}.")
    if log is not None and not hasattr(log, "event"):
        raise ConfigInvalid(f"log is an EventLog, not {log!r}: EventLog('agent.jsonl').")


@contextmanager
def _in_use(workspace: Gated) -> Iterator[None]:
    """Count the callers of a workspace; of very many, those used longest ago rest."""
    services = workspace.services
    with services.using:
        services.callers += 1
    try:
        yield
    finally:
        with services.using:
            services.callers -= 1
        _used.pop(id(workspace), None)
        _used[id(workspace)] = ref(workspace)
        while len(_used) > _MAX_OPEN:
            with suppress(StopIteration, RuntimeError):  # other threads do the same
                found = _used.pop(next(iter(_used)), None)
                if other := found and found():
                    other.rest()


def _logged(workspace: Gated, operation: Operation) -> AbstractContextManager[Any]:
    """What `run` notes of the operation: `params`, `error`, and what was `done`."""
    if workspace.log is None or current.get().dry:
        return nullcontext(SimpleNamespace())
    runs = operation.effect is Effect.EXECUTE
    logged: AbstractContextManager[Any] = workspace.log.event(
        operation.name,
        operation.effect.value,
        workspace.session.id,
        root=workspace.files.local_root if runs else None,
        workspace=workspace.files.local_root,
        virtual=workspace.files.virtual,
        sent=operation.sent,
        mark=operation.is_mark,
        found=workspace.services.diffs_of_call,
    )
    return logged


def _is_from_outside(workspace: Gated, operation: Operation, params: Any) -> bool:
    """Whether what it answers may come from outside the project."""
    if operation.effect is not Effect.EXECUTE:
        return operation.effect is Effect.NETWORK
    process, runs = workspace.policy.process, isinstance(getattr(params, "command", None), str)
    online = process.network and getattr(params, "network", None) is not False
    return runs and (online or process.sandbox == "off")
