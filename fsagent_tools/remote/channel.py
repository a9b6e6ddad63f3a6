"""What carries a call to where the files are, and what comes back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol, runtime_checkable

from fsagent_tools.call import CancelFlag
from fsagent_tools.effects import Effect
from fsagent_tools.records import dataclass
from fsagent_tools.results import ERROR, Block, Shape


@dataclass(frozen=True)
class Described:
    """A tool as its server tells it; `schema` is the JSON schema of its parameters.

    shape: of what is refused before it reaches the server.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    effect: Effect
    shape: Shape = field(default_factory=Shape)


@dataclass(frozen=True)
class Sending:
    """One call. ask: do nothing yet, but tell what would change. answer: a `Question`'s state,
    whose change may now happen. session: names what its model has seen. call: the same for all
    sendings of one call. scope: where `call` is unique, of a call that runs once: sent again, by
    whichever host, it only tells what it said. emit: takes live output.
    """

    name: str
    arguments: Mapping[str, Any]
    ask: bool = False
    answer: str = ""
    session: str = ""
    call: str = ""
    scope: str = ""
    emit: Callable[[str], None] | None = None
    cancelled: CancelFlag = field(default_factory=CancelFlag)


@dataclass(frozen=True)
class RemoteReply:
    """A finished call: `Outcome.text`, `code`, `to_dict()` and `blocks`, as told by the server."""

    text: str
    code: str
    told: Mapping[str, Any]
    blocks: tuple[Block, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.text.startswith(ERROR) or self.code == "OK"


@dataclass(frozen=True)
class Question:
    """The call waits for approval; `state` names the change in an answer."""

    state: str
    paths: tuple[str, ...]
    diff: str


@runtime_checkable
class Channel(Protocol):
    """Carries calls to where the files are. Thread-safe; raises `ToolError`."""

    def tools(self) -> Sequence[Described]: ...
    def call(self, sending: Sending) -> RemoteReply | Question: ...
