"""The calls of one message: what changes files happens in the order in which the model wrote it.

Frameworks start all calls of a message at once. A call that changes files waits for every earlier
call, and every later one waits for it; reads and commands between two changes run side by side.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fsagent_tools.call import HostError, changed, current
from fsagent_tools.effects import ASKED, Effect
from fsagent_tools.errors import Conflict

ARRIVAL = 2.0  # seconds that an earlier call is waited for which a framework never starts
_LOOK = 0.1  # seconds between two looks whether the caller has given up

Pause = Exception  # by which a framework leaves a call, to run it again from its start


@dataclass
class _Call:
    """task: what a framework runs again as a whole. started: it is, or was, carried out."""

    effect: Effect
    task: object
    running: bool = True
    started: bool = False
    pause: Pause | None = None


class MessageCalls:
    """The calls of one message, for an adapter.

    Args:
        order: Their IDs, as the model wrote them; without it, calls are in the order in which they
            begin.
        expected: The IDs of those that will begin here.
    """

    def __init__(self, order: Collection[str] = (), expected: Collection[str] = ()) -> None:
        self._order = [*order]
        self._expected, self._until = {*expected}, time.monotonic() + ARRIVAL
        self._calls: dict[str, _Call] = {}
        self._news = threading.Condition()

    @contextmanager
    def turn(
        self,
        call: str,
        effect: Effect,
        pauses: type[Pause],
        hold: Callable[[Pause, bool], Pause],
        task: object = None,
    ) -> Iterator[None]:
        """Inside the block, operations wait for the turn of this call.

        Args:
            call: Its ID.
            effect: What it may do.
            pauses: Exceptions that leave the block to begin it again, once there is an answer.
            hold: Makes the exception that leaves this call until an earlier one, which `pauses`,
                has its answer; from that one's, and whether both are of one task.
            task: A framework runs it again as a whole. None: it has this call alone.
        """
        own = self._begun(call, _Call(effect, task or call))
        try:
            with changed(turn=CallTurn(self, call, hold)):
                yield
        except pauses as pause:
            own.pause = pause
            raise
        finally:
            with self._news:
                own.running = False
                self._news.notify_all()

    def _begun(self, call: str, own: _Call) -> _Call:
        with self._news:
            if call not in self._order:
                self._order.append(call)
            known = self._calls.get(call)
            if known and call not in self._expected:
                # It is the first that runs again. So will others that paused, and all of its
                # task; after its end, it is another message with the same IDs, or all of this.
                self._expected |= {
                    name
                    for name, other in self._calls.items()
                    if not other.running
                    and (other.pause or known.pause is None or other.task == own.task)
                }
            if known:
                self._until = time.monotonic() + ARRIVAL
            self._expected.discard(call)
            self._calls[call] = own
            self._news.notify_all()
        return own

    def await_turn(self, call: str, *, start: bool) -> tuple[Pause, bool] | None:
        """Wait until earlier calls have ended or paused.

        start: it is then carried out, unless one of them has paused; returns that pause, and
        whether both are of one task. Raises `Conflict` for a change that comes too late, and
        `Cancelled` if the caller gives up.
        """
        with self._news:
            at, own = self._order.index(call), self._calls[call]
            while any(self._is_ahead(one, own) for one in self._order[:at]):
                self._news.wait(_LOOK)
                current.get().check()
            late = [
                other
                for one in self._order[at + 1 :]
                if one not in self._expected and (other := self._calls.get(one))
            ]
            if own.effect in ASKED and any(o.started and _in_order(own, o) for o in late):
                raise Conflict(
                    "A later call of the same message has already run, so this one was not run.",
                    hint="Look at the result of that call, then call again if it is still needed.",
                )
            for one in self._order[:at] if start else ():
                other = self._calls.get(one)
                if other and other.pause and _in_order(own, other):
                    return other.pause, other.task == own.task
            own.started = start
        return None

    def _is_ahead(self, one: str, own: _Call) -> bool:
        if one in self._expected:
            return time.monotonic() < self._until
        other = self._calls.get(one)
        return other is not None and other.running and _in_order(own, other)


@dataclass(frozen=True)
class CallTurn:
    """That of one call, for the operations inside it."""

    message: MessageCalls
    call: str
    hold: Callable[[Pause, bool], Pause]

    def wait(self) -> None:
        """Before anything is looked at, or asked."""
        self.message.await_turn(self.call, start=False)

    def check(self) -> None:
        """Before it is carried out: leave the call where an earlier one has paused."""
        if paused := self.message.await_turn(self.call, start=True):
            raise HostError(self.hold(*paused))


_MAX_MESSAGES = 1000
_known = OrderedDict[object, MessageCalls]()
_finding = threading.Lock()


def calls_of(
    message: object, order: Collection[str] = (), expected: Collection[str] = ()
) -> MessageCalls:
    """The calls of the message of that name, `MessageCalls(order, expected)` at first."""
    with _finding:
        found = _known.setdefault(message, MessageCalls(order, expected))
        _known.move_to_end(message)
        if len(_known) > _MAX_MESSAGES:
            _known.popitem(last=False)
        return found


def _in_order(one: _Call, other: _Call) -> bool:
    return one.effect.changes_files or other.effect.changes_files
