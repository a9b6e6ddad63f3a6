"""A channel to the actor of one workspace."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from fsagent_tools import Effect
from fsagent_tools.remote import Described, Question, RemoteReply, Sending, lost, unreachable
from fsagent_tools_ray.actor import Settings
from fsagent_tools_ray.link import CONTROL, LOOK, Link, check

ATTEMPTS = 3  # of a call that changes nothing


class RayChannel:
    """For `get_tools` and `remote_toolset`; made by `RayWorkspaces.at`."""

    def __init__(self, path: str, node: str | None, settings: Settings) -> None:
        self._made = path, node, settings
        self._link = Link(path, node, settings)
        self._room = threading.BoundedSemaphore(settings.calls)

    def __reduce__(self) -> tuple[Any, ...]:
        return RayChannel, self._made

    def __str__(self) -> str:
        return f"{self._made[0]} on Ray"

    def tools(self) -> Sequence[Described]:
        """Raises `NetworkError`, `ConfigInvalid`."""
        self._link.actor(threading.Event())
        return self._link.tools

    def call(self, sending: Sending) -> RemoteReply | Question:
        """Waits while too many others do. Raises `NetworkError`, `OutcomeUnknown`, `Cancelled`."""
        with self._a_place(sending.cancelled):
            for _ in range(ATTEMPTS):
                actor, sent = self._link.actor(sending.cancelled), time.monotonic()
                try:
                    reply = _carried(*actor, sending)
                except RayTaskError:
                    raise
                except RayError as error:
                    self._link.heard(None)
                    told = type(error).__name__
                    if not (sending.ask or self._only_reads(sending.name)):
                        raise lost(self._link.where, told) from error
                else:
                    self._link.heard(sent)
                    return reply
        raise unreachable(self._link.where, told)

    @contextmanager
    def _a_place(self, cancelled: threading.Event) -> Iterator[None]:
        """Callers wait here, in their own process, and not in the actor's queue."""
        while not self._room.acquire(timeout=LOOK):
            check(cancelled)
        try:
            yield
        finally:
            self._room.release()

    def _only_reads(self, tool: str) -> bool:
        return any(one.name == tool and one.effect is Effect.READ for one in self._link.tools)


def _carried(actor: Any, number: int, sending: Sending) -> RemoteReply | Question:
    key = uuid4().hex
    arguments = dict(sending.arguments)
    asked = sending.ask, sending.answer, sending.session, sending.call
    sent = key, number, (sending.name, arguments, *asked)
    if sending.emit:
        return _streamed(actor, sent, sending)
    reply = actor.call.remote(*sent)
    while True:
        try:
            found: RemoteReply | Question = ray.get(reply, timeout=LOOK)
            return found
        except GetTimeoutError:
            if sending.cancelled.is_set():
                actor.cancel.options(**CONTROL).remote(key)  # the reply says what became of it


def _streamed(actor: Any, sent: tuple[str, int, Any], sending: Sending) -> RemoteReply | Question:
    emit: Any = sending.emit
    parts = actor.stream.options(num_returns="streaming").remote(*sent)
    try:
        while True:
            ready, _ = ray.wait([parts], timeout=LOOK)
            if sending.cancelled.is_set():
                actor.cancel.options(**CONTROL).remote(sent[0])
            if ready:
                part: str | RemoteReply | Question = ray.get(next(parts))
                if not isinstance(part, str):
                    return part
                emit(part)
    except BaseException:
        actor.cancel.options(**CONTROL).remote(sent[0])
        raise
