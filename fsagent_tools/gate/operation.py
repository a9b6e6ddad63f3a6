"""What the gate has to know: of a workspace, and of an operation on it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from typing import TYPE_CHECKING, Any

from fsagent_tools.effects import Effect
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.records import dataclass
from fsagent_tools.results import Shape

if TYPE_CHECKING:
    from fsagent_tools.approval.ledger import Ledger
    from fsagent_tools.approval.request import Approve
    from fsagent_tools.events import EventLog
    from fsagent_tools.files.guarded import GuardedFiles
    from fsagent_tools.policy import Policy
    from fsagent_tools.services import Services
    from fsagent_tools.session.memory import Session


class Gated:
    """What is behind the gate: a workspace, or a part of one."""

    policy: "Policy"
    files: "GuardedFiles"
    session: "Session"
    services: "Services"
    log: "EventLog | None"
    approve: "Approve | None"
    approve_effects: frozenset[Effect]
    approve_direct: bool

    @property
    def ledger(self) -> "Ledger":
        raise NotImplementedError

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


def _never(_: Any) -> bool:
    return False


@dataclass
class Operation:
    """Something that is asked for.

    action, shown: the names that a policy may know it by. sent: as the caller sent it. read: makes
    the arguments of it. run: carries it out. asks: whether `approve` is asked although the host's
    own methods ask nobody. only_tells: whether it has no effect, with these arguments. spelling: of
    an argument's name. said: to who is asked, beside the arguments. shape: of its `Outcome`,
    None for what gives no outcome. mark: see `Event`.
    """

    action: str
    shown: str
    effect: Effect
    sent: Any
    read: Callable[[], Any]
    run: Callable[[Any], Any]
    asks: bool = False
    risk: str = ""
    only_tells: Callable[[Any], bool] = _never
    spelling: Callable[[str], str] = str
    said: Mapping[str, str] = field(default_factory=dict)
    shape: Shape | None = None
    mark: bool = False
