"""The actor: the tools of one workspace, in a process on the node that has its files."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import ray

from fsagent_tools import Policy, Toolset, Workspace, Workspaces, select_tools
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.remote import Described, LocalChannel, Sending
from fsagent_tools_ray.packed import packed_reply, unpacked_call


@dataclass(frozen=True)
class Settings:
    """What `RayWorkspaces` is made with."""

    toolset: Toolset | str
    policy: Policy | None
    idle: float
    calls: int


class WorkspaceActor:
    """What is here alone may be lost: the next actor of the workspace goes on from the disk."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._hosts: list[tuple[Settings, LocalChannel, Workspaces]] = []
        self._running: dict[str, Sending] = {}
        self._idle, self._heard = 0.0, time.monotonic()
        self._ending = False
        self._lock = threading.Lock()

    def greet(self, settings: Settings) -> tuple[int, Sequence[Described]] | str | None:
        """The number and the tools of what serves these settings; None if it is about to end.

        Where the workspace's actor is that of another spelling of the path, that one. Raises
        `ConfigInvalid`.
        """
        real = os.path.realpath(self._path)
        if not Path(real).is_dir():
            raise ConfigInvalid(f"There is no directory {self._path} on its node.")
        if real != self._path and not self._hosts:
            return real
        with self._lock:
            if self._ending:
                return None
            if not self._hosts:
                myself = ray.get_runtime_context().current_actor
                threading.Thread(target=self._end_when_idle, args=(myself,), daemon=True).start()
            if settings not in (one for one, *_ in self._hosts):
                self._hosts.append((settings, *_opened(self._path, settings)))
            self._idle, self._heard = max(self._idle, settings.idle), time.monotonic()
            number = [one for one, *_ in self._hosts].index(settings)
            return number, self._hosts[number][1].tools()

    def call(self, packed: bytes) -> bytes:
        return self._carry_out(*unpacked_call(packed))

    def stream(self, packed: bytes) -> Iterator[str | bytes]:
        """Live output, then what `call` gives."""
        parts: SimpleQueue[str | bytes | BaseException] = SimpleQueue()
        key, number, sending = unpacked_call(packed)

        def work() -> None:
            try:
                parts.put(self._carry_out(key, number, replace(sending, emit=parts.put)))
            except BaseException as error:  # noqa: BLE001 - raised by the other thread
                parts.put(error)

        threading.Thread(target=work, daemon=True).start()
        while isinstance(part := parts.get(), str):
            yield part
        if isinstance(part, BaseException):
            raise part
        yield part

    def cancel(self, key: str) -> None:
        if sending := self._running.get(key):
            sending.cancelled.set()

    def _carry_out(self, key: str, number: int, sending: Sending) -> bytes:
        with self._lock:
            self._running[key] = sending
        try:
            return packed_reply(self._hosts[number][1].call(sending))
        finally:
            with self._lock:
                del self._running[key]
                self._heard = time.monotonic()

    def _end_when_idle(self, myself: Any) -> None:
        while (left := self._left()) > 0:
            time.sleep(left)
        for *_, workspaces in self._hosts:
            workspaces.close()
        ray.kill(myself)

    def _left(self) -> float:
        """Seconds of idleness that are left; with none it takes no more calls."""
        with self._lock:
            if self._running:
                return self._idle
            left = self._heard + self._idle - time.monotonic()
            self._ending = left <= 0
            return left


def _opened(path: str, settings: Settings) -> tuple[LocalChannel, Workspaces]:
    given = {"policy": settings.policy} if settings.policy else {}
    pool = Workspaces(
        lambda session: (path, session), lambda _: Workspace.from_config(path, **given)
    )
    return LocalChannel(select_tools(pool, settings.toolset)), pool
