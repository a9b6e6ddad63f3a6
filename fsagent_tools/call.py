"""What one running tool call shares with its caller: a cancel flag, live output, a watcher."""

import os
import threading
import time
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from fsagent_tools.errors import Cancelled, ConfigInvalid, TimedOut, ToolError


@dataclass(frozen=True)
class PendingChange:
    """What a port is about to do to files, told under its locks and before any effect.

    verb: "write", "mkdir", "move", "copy" or "remove". paths: of the real objects, the source
    first. before, after: a written file's content, None for none. members: what else is in a tree.
    replaces: an existing file goes. state: facts of all entries, equal while these are the same.
    told: a diff, where the contents are elsewhere.
    """

    verb: str
    paths: tuple[str, ...]
    before: bytes | None = None
    after: bytes | None = None
    members: tuple[str, ...] = ()
    replaces: bool = False
    state: Hashable = None
    told: str = ""


class CancelFlag(threading.Event):
    """A flag that wakes who waits for something else."""

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: list[Callable[[], None]] = []
        self._waking = threading.RLock()

    def set(self) -> None:
        super().set()
        with self._waking:
            for wake in [*self._sleepers]:
                wake()

    @contextmanager
    def waking(self, wake: Callable[[], None]) -> Iterator[None]:
        """Inside the block, `wake` is called when the flag is set, in whatever thread that is.

        After it no more: what it would wake may serve somebody else by then.
        """
        with self._waking:
            self._sleepers.append(wake)
        try:
            yield
        finally:
            with self._waking:
                self._sleepers.remove(wake)


@dataclass(frozen=True)
class CallContext:
    """The call in progress in this context; ports poll it, nobody passes it along.

    watch: told of every change before it happens; what it raises prevents it. dry: nothing is
    going to happen, so ports prepare nothing on disk. wait: runs an awaitable on the event loop
    of an asynchronous caller. ids: what this call is called, see `identified`. approve: asked in
    place of the workspace's. tool, step: the name of the tool that runs, and what its changes are
    called together. inside: the session of the operation that is being carried out; what is a part
    of it does not pass the gate again. turn: that of the call among those of its message.
    """

    cancelled: CancelFlag = field(default_factory=CancelFlag)
    emit: Callable[[str], None] | None = None
    watch: Callable[[PendingChange], None] | None = None
    dry: bool = False
    wait: Callable[[Awaitable[Any]], Any] | None = None
    ids: Mapping[str, str] = field(default_factory=dict)
    approve: Callable[[Any], Any] | None = None
    tool: str = ""
    step: str = ""
    inside: object = None
    turn: Any = None

    def say(self, text: str) -> None:
        """Live output, for a caller that listens."""
        if self.emit:
            with host_code():
                self.emit(text)

    def check(self) -> None:
        """Raise `Cancelled` once the caller has given up. Cheap enough for any loop."""
        if self.cancelled.is_set():
            raise Cancelled("The call was cancelled before it changed anything.")


current: ContextVar[CallContext] = ContextVar("fsagent_call", default=CallContext())  # noqa: B039


def patience(seconds: float, what: str) -> Callable[[], None]:
    """A check for long work of this thread: raises `Cancelled`, and `TimedOut` once it has had so
    many seconds of a processor; on a busy machine, time that others had is not counted.
    """
    call, end = current.get(), time.thread_time() + seconds

    def check() -> None:
        call.check()
        if time.thread_time() > end:
            raise TimedOut(f"{what} took longer than {seconds:g} s.")

    return check


class HostError(Exception):
    """Carries what a callback of the host raised past everything that handles our own errors."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"{_place_of(error)} raised {error!r}")
        self.error = error


def _place_of(error: Exception) -> str:
    """The innermost function that did: of the host's code, or of what that called."""
    if not (frame := error.__traceback__):
        return "It"
    while frame.tb_next:
        frame = frame.tb_next
    code = frame.tb_frame.f_code
    return f"{code.co_qualname} ({code.co_filename}:{frame.tb_lineno})"


@contextmanager
def host_code() -> Iterator[None]:
    """Around a call of the host's own code: what it raises reaches it.

    A `ToolError` is told to the model, but `ConfigInvalid` is the host's own mistake. What it does
    with a workspace is no part of the operation.
    """
    try:
        with changed(inside=None):
            yield
    except ConfigInvalid as error:
        raise HostError(error) from error
    except ToolError:
        raise
    except Exception as error:
        raise HostError(error) from error


@contextmanager
def changed(**facts: Any) -> Iterator[None]:
    """Inside the block, calls have these facts of their context."""
    token = current.set(CallContext(**{**vars(current.get()), **facts}))
    try:
        yield
    finally:
        current.reset(token)


def new_step() -> str:
    """A name for changes that belong together."""
    return os.urandom(4).hex()


def one_step() -> AbstractContextManager[None]:
    """Inside the block, changes are one step: of the call in progress, or one of their own."""
    return nullcontext() if current.get().step else changed(step=new_step())


def emitting(sink: Callable[[str], None] | None) -> AbstractContextManager[None]:
    """Inside the block, live output of calls goes to `sink`, whatever thread they run in.

    Examples:
        >>> bash = toolset("workspace").bind(Workspace("."))["bash"]
        >>> with emitting(lambda text: print(text, end="")):
        ...     outcome = bash.call({"command": "echo one"})
        one
    """
    return changed(emit=sink)


def identified(
    *,
    session: str | None = None,
    run: str | None = None,
    call: str | None = None,
    user: str | None = None,
    tenant: str | None = None,
) -> AbstractContextManager[None]:
    """Inside the block, records of an `EventLog` carry these IDs. Blocks can be nested.

    Args:
        session: By default one of the workspace's own.
        run: Of the agent.
        call: Of the one tool call; by default a fresh one.
        user: For whom it is, in records only.
        tenant: The same.
    """
    given = {"session": session, "run": run, "call": call, "user": user, "tenant": tenant}
    ids = {name: value for name, value in given.items() if value is not None}
    return changed(ids={**current.get().ids, **ids})


def approving(approve: Callable[[Any], Any]) -> AbstractContextManager[None]:
    """Inside the block, `approve` replaces that of `Workspace(approve=...)`."""
    return changed(approve=approve)
