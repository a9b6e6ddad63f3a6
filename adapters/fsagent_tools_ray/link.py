"""The way to the actor of one workspace: found, or started where its files are."""

import math
import threading
import time
from collections.abc import Sequence
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

from fsagent_tools.errors import Cancelled, ToolError
from fsagent_tools.remote import Described, unreachable
from fsagent_tools_ray.actor import Settings, WorkspaceActor
from fsagent_tools_ray.nodes import node_of

NAMESPACE = "fsagent-tools"  # of the actors' names, whatever that of the job is
LOOK = 0.05  # seconds between two looks whether the caller gave up
CONTROL = {"concurrency_group": "control"}  # for methods that no call keeps waiting
START = 120.0  # seconds for an actor to start


class Link:
    """Thread-safe."""

    def __init__(self, path: str, node: str | None, settings: Settings) -> None:
        self.where = f"The workspace {path} on Ray"
        self.tools: Sequence[Described] = ()
        self._path, self._node, self._settings = path, node, settings
        self._actor: tuple[Any, int] = None, 0
        self._heard = -math.inf
        self._lock = threading.Lock()

    def actor(self, cancelled: threading.Event) -> tuple[Any, int]:
        """One that will not end for want of calls before this one arrives, and our number there.

        It was heard of in half of the time after which it may end. Raises `NetworkError`,
        `ConfigInvalid`, `Cancelled`.
        """
        if self._fresh(time.monotonic()):
            return self._actor
        while not self._lock.acquire(timeout=LOOK):
            check(cancelled)
        try:
            asked = time.monotonic()
            if not self._fresh(asked):
                self._actor = self._greeted(cancelled)
                self._heard = asked
            return self._actor
        finally:
            self._lock.release()

    def _fresh(self, now: float) -> bool:
        return now - self._heard <= self._settings.idle / 2

    def heard(self, since: float | None = None) -> None:
        """since: when the actor was sent what it has answered; None: it may be gone."""
        self._heard = -math.inf if since is None else max(self._heard, since)

    def _greeted(self, cancelled: threading.Event) -> tuple[Any, int]:
        end = time.monotonic() + START
        told: object = "it does not start"
        path = self._path
        while time.monotonic() < end:
            check(cancelled)
            try:
                actor = self._found(path)
                greeting = actor.greet.options(**CONTROL).remote(self._settings)
                greeted = _got(greeting, end, cancelled)
                if isinstance(greeted, str):
                    path = greeted
                    ray.kill(actor)
                    continue
                if greeted:
                    number, self.tools = greeted
                    return actor, number
            except RayTaskError as error:
                raise (error.cause if isinstance(error.cause, ToolError) else error) from None
            except RayError as error:  # it has just ended
                told = error
            cancelled.wait(LOOK)
        raise unreachable(self.where, told)

    def _found(self, path: str) -> Any:
        node = node_of(self._path, self._node)
        made = ray.remote(concurrency_groups={"control": 2})(WorkspaceActor).options(
            name=f"{node} {path}",
            namespace=NAMESPACE,
            get_if_exists=True,
            lifetime="detached",  # other jobs use it, too
            num_cpus=0,
            max_concurrency=self._settings.calls,
            scheduling_strategy=On(node, soft=False),
        )
        return made.remote(path)


def check(cancelled: threading.Event) -> None:
    if cancelled.is_set():
        raise Cancelled("The call was cancelled before it was sent.")


def _got(reference: Any, end: float, cancelled: threading.Event) -> Any:
    while True:
        try:
            return ray.get(reference, timeout=LOOK)
        except GetTimeoutError:
            check(cancelled)
            if time.monotonic() > end:
                raise
