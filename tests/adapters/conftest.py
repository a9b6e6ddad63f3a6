"""A toolset whose tools run long enough to stream from and to cancel, and a cluster."""

import threading
import time
from dataclasses import dataclass

import pytest

from fsagent_tools import Effect, Toolset
from fsagent_tools.call import current
from fsagent_tools.toolkit.action import action
from fsagent_tools.toolkit.params import Field, Params
from fsagent_tools.types import Entry


class CountParams(Params):
    to: int = Field(description="Last number.")


@dataclass(frozen=True)
class Counted:
    reached: int

    def render(self) -> str:
        return f"counted to {self.reached}"


@pytest.fixture
def counting():
    """A toolset of one tool that counts aloud, and events: it has begun, it has stopped."""
    begun, stopped = threading.Event(), threading.Event()

    @action(effect=Effect.EXECUTE)
    def count(workspace, p: CountParams) -> Counted:
        """Count aloud from 1, a number every 10 ms."""
        call = current.get()
        try:
            for number in range(1, p.to + 1):
                call.check()
                if call.emit:
                    call.emit(f"{number} ")
                begun.set()
                time.sleep(0.01)
        finally:
            stopped.set()
        return Counted(p.to)

    return Toolset("counting", (Entry(count),)), begun, stopped


@pytest.fixture(scope="session")
def nodes():
    """The IDs of the nodes of a Ray cluster."""
    pytest.importorskip("ray", reason="needs ray")
    from tests.cluster import connected

    with connected(3) as ids:
        yield ids
