"""The place of one server, how it ends (unasked, silent, or with the pool), and why none starts."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock

from fsagent_tools.errors import LanguageServerFailed, TimedOut
from fsagent_tools.lsp.choice import Plan
from fsagent_tools.lsp.client import Refused
from fsagent_tools.lsp.documents import Finding
from fsagent_tools.lsp.server import Server
from fsagent_tools.process.launcher import Launcher
from fsagent_tools.process.temporary import PrivateDirectory

_GRACE = 0.3  # seconds a server gets to leave by itself


@dataclass
class Slot:
    """The place of one server: whoever starts, restarts or stops it holds the lock. It was started
    at the monotonic time `began`, with `settings` of the plan. `pinged` is how much it had said
    when it first left a question unanswered.
    """

    lock: Lock = field(default_factory=Lock)
    server: Server | None = None
    settings: object = None
    began: float = 0.0
    used: float = 0.0
    pinged: int | None = None


class Own:
    """Where the servers of one pool write, and what starts them."""

    def __init__(self) -> None:
        self.place = PrivateDirectory("fsagent-servers-")
        self.launcher = Launcher((self.place.path,))


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
        each.launcher.close()
        each.place.close()


@dataclass(frozen=True)
class Asked:
    """One question; `until` is monotonic time, `timeout` the seconds it stands for."""

    file: Path
    text: str
    timeout: float
    until: float


def not_started(error: BaseException, plan: Plan, asked: Asked) -> BaseException:
    name, install = plan.spec.name, plan.spec.install
    match error:
        case TimedOut():
            return late(plan, asked)
        case Refused():
            return LanguageServerFailed(f"{name} refused to start: {error}.")
        case LanguageServerFailed():  # often a program that is there in name only
            hint = f"{error.hint} To install it: {install}.".lstrip()
            return LanguageServerFailed(error.message, hint=hint)
    return error


def late(plan: Plan, asked: Asked) -> TimedOut:
    return TimedOut(
        f"{plan.spec.name} did not start within {asked.timeout:g} s; it was stopped.",
        hint="Try again. Or raise `timeout`.",
    )
