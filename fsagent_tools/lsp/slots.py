"""The place of one server, and how it ends: unasked, silent, or with the pool."""

import time
from dataclasses import dataclass, field
from threading import Event, Lock

from fsagent_tools.lsp.documents import Finding
from fsagent_tools.lsp.server import Server
from fsagent_tools.shell.environment import PrivateDirectory

_GRACE = 0.3  # seconds a server gets to leave by itself


@dataclass
class Slot:
    """The place of one server: whoever starts, restarts or stops it holds the lock. `pinged` is how
    much it had said when it first left a question unanswered.
    """

    lock: Lock = field(default_factory=Lock)
    server: Server | None = None
    used: float = 0.0
    pinged: int | None = None


class Own:
    """Where the servers of one pool write."""

    def __init__(self) -> None:
        self.place = PrivateDirectory("fsagent-servers-")


def watch_over(slot: Slot, server: Server, answer: Finding | None) -> None:
    """Stop a server that leaves questions unanswered and has not said a word in between, though
    it was pinged: one that is only busy, or has no news, is left alone.
    """
    if answer is not None and not answer.old:
        slot.pinged = None
    elif slot.pinged == server.client.heard:
        stop(slot, server, 0)
    else:
        slot.pinged = server.client.heard
        server.client.ping()


def stop(slot: Slot, server: Server, grace: float) -> None:
    if slot.server is server:
        slot.server = None
    server.client.stop(grace)


def reap(slots: dict[object, Slot], closed: Event, idle: float) -> None:
    while not closed.wait(min(idle / 2, 30)):
        for slot in list(slots.values()):
            if not slot.lock.acquire(blocking=False):
                continue
            try:
                if (server := slot.server) and time.monotonic() - slot.used >= idle:
                    server.client.ask_to_leave()
                    stop(slot, server, _GRACE)
            finally:
                slot.lock.release()


def end_all(slots: dict[object, Slot], closed: Event, own: list[Own]) -> None:
    closed.set()
    running = [(slot, slot.server) for slot in list(slots.values()) if slot.server]
    until = time.monotonic() + _GRACE
    for _, server in running:
        server.client.ask_to_leave()
    for slot, server in running:
        stop(slot, server, max(until - time.monotonic(), 0))
    for each in own:
        each.place.close()
