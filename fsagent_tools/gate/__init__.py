"""The one chain that every operation on a workspace passes, whoever asks for it.

In this order, each within the one before it:

- imports: nothing is imported from where tools may have written;
- log: a record, however it ends;
- cancellation, policy of actions, arguments (defaults, pins, what the host sets);
- announcement: changes have the operation's name, and are one step of the history;
- approval: what would happen is shown, and only that may then happen.

Configuration comes before it, where a path becomes a workspace; the policy of paths after it, at
the door to files, where the object is known.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import field
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType, ref

from fsagent_tools.approval.request import (
    Approve,
    Request,
    run_approved,
)
from fsagent_tools.call import HostError, changed, current, new_step
from fsagent_tools.effects import Effect
from fsagent_tools.errors import Cancelled, ConfigInvalid, InvalidArguments, ToolError
from fsagent_tools.records import dataclass
from fsagent_tools.runtime.shadows import importing

if TYPE_CHECKING:
    from fsagent_tools.approval.shown import Origins
    from fsagent_tools.events import EventLog
    from fsagent_tools.files.guarded import GuardedFiles
    from fsagent_tools.policy import Policy
    from fsagent_tools.services import Services
    from fsagent_tools.session.memory import Session

__all__ = ["Gated", "Operation", "approver", "check_guards", "passed"]
_Work = Callable[[], Any]
_AT_HAND = 24  # workspaces of this process that hold something open while nobody calls
_used: dict[int, "ReferenceType[Gated]"] = {}  # in the order of their last use


class Gated:
    """What is behind the gate: a workspace, or a part of one."""

    policy: "Policy"
    files: "GuardedFiles"
    session: "Session"
    services: "Services"
    log: "EventLog | None"
    approve: Approve | None
    approve_effects: frozenset[Effect]
    approve_direct: bool
    origins: "Origins"

    def transaction(self) -> "AbstractContextManager[None]":
        raise NotImplementedError

    def rest(self) -> None:
        """Give up open handles and texts; what was shown and background commands stay."""
        self.session.free()
        self.session.store.rest()
        self.services.rest()
        self.files.close()


def check_guards(policy: object, approve: object, log: object) -> None:
    """Raise `ConfigInvalid` for what would fail only when it is first asked."""
    if policy is not None and not hasattr(policy, "check_action"):
        raise ConfigInvalid(f"policy is a Policy, not {policy!r}: Policy(readonly=True).")
    if approve is not None and not callable(approve):
        raise ConfigInvalid(f"approve is a function that gets each Request, not {approve!r}.")
    if log is not None and not hasattr(log, "event"):
        raise ConfigInvalid(f"log is an EventLog, not {log!r}: EventLog('agent.jsonl').")


def _raised(work: _Work) -> Any:
    """What `work` gives or raises, and what callbacks of the host raise as they do."""
    try:
        return work()
    except HostError as carried:
        raise carried.error from None


@dataclass
class Operation:
    """Something that is asked for.

    action, shown: the names that a policy may know it by. sent: as the caller sent it. read: makes
    the arguments of it. run: carries it out. asks: whether `approve` is asked although the host's
    own methods ask nobody. only_tells: whether it has no effect, with these arguments. spelling: of
    an argument's name. said: to who is asked, beside the arguments. mark: see `Event`. settle: what
    it makes of the work, which carries it out or raises.
    """

    action: str
    shown: str
    effect: Effect
    sent: Any
    read: Callable[[], Any]
    run: Callable[[Any], Any]
    asks: bool = False
    risk: str = ""
    only_tells: Callable[[Any], bool] = lambda _: False
    spelling: Callable[[str], str] = str
    said: Mapping[str, str] = field(default_factory=dict)
    mark: bool = False
    settle: Callable[[_Work], Any] = _raised


def passed(where: Gated, asked: Operation) -> Any:
    """What the operation settles as."""
    call = current.get().ids.get("call")  # as the caller knows it; a log gives others names
    services = where.services
    _ = services.changeable  # closed to imports, once
    with services.using:
        services.callers += 1
    try:
        with importing(), _recorded(where, asked) as event:
            done = event.done = asked.settle(partial(_checked, where, asked, event, call))
            return done
    finally:
        with services.using:
            services.callers -= 1
        _rest_others(where)


def approver(where: Gated, asked: Operation) -> Approve | None:
    """Who is asked about it, None for nobody."""
    if asked.effect not in where.approve_effects or not (asked.asks or where.approve_direct):
        return None
    own = current.get().approve
    return where.approve if own is None else own


def _rest_others(where: Gated) -> None:
    """What was used longest ago rests, beyond so many."""
    _used.pop(id(where), None)
    _used[id(where)] = ref(where)
    while len(_used) > _AT_HAND:
        with suppress(StopIteration, RuntimeError):  # other threads do the same
            found = _used.pop(next(iter(_used)), None)
            if other := found and found():
                other.rest()


def _recorded(where: Gated, asked: Operation) -> AbstractContextManager[Any]:
    """What the steps note of the operation: `params`, `error`, and what was `done`."""
    if where.log is None or current.get().dry:
        return nullcontext(SimpleNamespace())
    runs = asked.effect is Effect.EXECUTE
    return where.log.event(
        asked.shown,
        asked.effect.value,
        where.session.id,
        root=where.files.local_root if runs else None,
        workspace=where.files.local_root,
        virtual=where.files.virtual,
        sent=asked.sent,
        mark=asked.mark,
        found=where.services.diffs_of_call,
    )


def _checked(where: Gated, asked: Operation, event: Any, call: str | None) -> Any:
    try:
        current.get().check()
        where.policy.check_action(asked.action, asked.effect, shown=asked.shown)
        event.params = asked.read()
        if (turn := current.get().turn) and not current.get().dry:
            turn.wait()
        with changed(tool=asked.shown, step=_step(where, asked), inside=where.session):
            return _approved(where, asked, event, call)
    except ToolError as error:
        event.error = error
        raise


def _step(where: Gated, asked: Operation) -> str:
    """What the changes of the operation are called together. Raises `InvalidArguments`."""
    under_way = current.get().transaction
    if not under_way or not under_way.takes(where.session):
        return new_step()
    if asked.effect is Effect.EXECUTE or asked.mark:
        raise InvalidArguments(
            f"{asked.shown} cannot be part of a transaction: it holds changes of files only.",
            hint="Call it before or after; `checkpoint` and `undo` take back commands, too.",
        )
    return under_way.step


def _approved(where: Gated, asked: Operation, event: Any, call: str | None) -> Any:
    approve, params = approver(where, asked), event.params
    run = partial(_run, where, asked, event)
    if approve is not None and not asked.only_tells(params):
        own = {asked.spelling(n): v for n, v in params.as_json(given=True).items()}
        said, before = {**asked.said, **own}, tuple(where.session.outside)
        request = Request(asked.shown, asked.effect, asked.risk, said, outside=before)
        return run_approved(run, request, approve, where.origins, call)
    if current.get().dry:
        raise Cancelled("This call is not asked about.")
    if turn := current.get().turn:
        turn.check()
    return run()


def _run(where: Gated, asked: Operation, event: Any) -> Any:
    """Carry it out. Whatever comes of it, the session has had something from outside then."""
    event.outside = _from_outside(where, asked, event.params)
    try:
        done = asked.run(event.params)
        event.outside = event.outside or getattr(done, "sandbox", "") == "none"
        return done
    finally:
        if event.outside:
            where.session.outside[asked.shown] = None


def _from_outside(where: Gated, asked: Operation, params: Any) -> bool:
    """Whether what it answers may come from outside the project."""
    if asked.effect is not Effect.EXECUTE:
        return asked.effect is Effect.NETWORK
    process, runs = where.policy.process, isinstance(getattr(params, "command", None), str)
    online = process.network and getattr(params, "network", None) is not False
    return runs and (online or process.sandbox == "off")
