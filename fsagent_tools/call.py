"""What one running tool call shares with its caller: a cancel flag and a live-output sink."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from fsagent_tools.errors import Cancelled


@dataclass(frozen=True)
class Call:
    """The call in progress in this context; ports poll it, nobody passes it along."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    emit: Callable[[str], None] | None = None

    def check(self) -> None:
        """Raise `Cancelled` once the caller has given up. Cheap enough for any loop."""
        if self.cancelled.is_set():
            raise Cancelled("The call was cancelled before it changed anything.")


current: ContextVar[Call] = ContextVar("fsagent_call", default=Call())  # noqa: B039


@contextmanager
def emitting(sink: Callable[[str], None] | None) -> Iterator[None]:
    """Inside the block, live output of calls goes to `sink`, from whatever thread they run in."""
    token = current.set(replace(current.get(), emit=sink))
    try:
        yield
    finally:
        current.reset(token)
