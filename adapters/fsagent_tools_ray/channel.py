"""A channel to the actor of one workspace."""

import threading
import time
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from fsagent_tools.remote import Described, Sending, lost, repeatable, unreachable
from fsagent_tools_ray.actor import Settings
from fsagent_tools_ray.link import CONTROL, LOOK, Link, check
from fsagent_tools_ray.packed import Reply, packed_call, unpacked_reply

ATTEMPTS = 3  # of a call that may be carried out twice


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

    def call(self, sending: Sending) -> Reply:
        """Waits while too many others do. Raises `NetworkError`, `OutcomeUnknown`, `Cancelled`."""
        while not self._room.acquire(timeout=LOOK):  # here, and not in the actor's queue
            check(sending.cancelled)
        try:
            return self._answered(sending)
        finally:
            self._room.release()

    def _answered(self, sending: Sending) -> Reply:
        for _ in range(ATTEMPTS):
            actor, sent = self._link.actor(sending.cancelled), time.monotonic()
            try:
                reply = _carried(*actor, sending)
            except RayTaskError:
                raise
            except RayError as error:
                self._link.heard(None)
                told = type(error).__name__
                if not repeatable(sending, {one.name: one.effect for one in self._link.tools}):
                    raise lost(self._link.where, told) from error
            else:
                self._link.heard(sent)
                return reply
        raise unreachable(self._link.where, told)


def _carried(actor: Any, number: int, sending: Sending) -> Reply:
    key = uuid4().hex
    packed = packed_call(key, number, sending)
    if sending.emit:
        return _streamed(actor, key, packed, sending)
    reply = actor.call.remote(packed)
    while True:
        try:
            return unpacked_reply(ray.get(reply, timeout=LOOK))
        except GetTimeoutError:
            if sending.cancelled.is_set():
                actor.cancel.options(**CONTROL).remote(key)  # the reply says what became of it


def _streamed(actor: Any, key: str, packed: bytes, sending: Sending) -> Reply:
    emit: Any = sending.emit
    parts = actor.stream.options(num_returns="streaming").remote(packed)
    try:
        while True:
            ready, _ = ray.wait([parts], timeout=LOOK)
            if sending.cancelled.is_set():
                actor.cancel.options(**CONTROL).remote(key)
            if ready:
                part: str | bytes = ray.get(next(parts))
                if not isinstance(part, str):
                    return unpacked_reply(part)
                emit(part)
    except BaseException:
        actor.cancel.options(**CONTROL).remote(key)
        raise
