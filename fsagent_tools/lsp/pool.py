"""The running language servers of a workspace: started when needed, shared, stopped when idle."""

import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread

from fsagent_tools.errors import Cancelled, LanguageServerFailed, TimedOut, ToolError
from fsagent_tools.lsp.child import Child
from fsagent_tools.lsp.choice import Plan, Settings, choose
from fsagent_tools.lsp.client import Refused
from fsagent_tools.lsp.documents import Finding
from fsagent_tools.lsp.environment import Environment
from fsagent_tools.lsp.positions import Positions
from fsagent_tools.lsp.programs import search_path
from fsagent_tools.lsp.server import Server
from fsagent_tools.lsp.standin import PYTHON
from fsagent_tools.lsp.table import BY_SUFFIX
from fsagent_tools.lsp.watch import Watch
from fsagent_tools.problems import Problem, by_importance

IDLE = 600.0  # seconds without a question after which a server is stopped
_GRACE = 0.3  # seconds a server gets to leave by itself
LINT_TIMEOUT = 3.0  # seconds a write waits for a server


@dataclass(frozen=True)
class Checked:
    """What the servers said about one file, errors first.

    `silent` names the servers that said nothing in time, `old` those whose problems are from before
    the last change, `failed` says what went wrong with one while another answered. environment:
    that of Python they checked against, None when it is not known; `wanted` if one was looked for.
    """

    problems: list[Problem]
    servers: tuple[str, ...]
    silent: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    environment: Environment | None = None
    wanted: bool = False


@dataclass
class Slot:
    """The place of one server: whoever starts, restarts or stops it holds the lock. `pinged` is
    how much it had said when it first left a question unanswered.
    """

    lock: Lock = field(default_factory=Lock)
    server: Server | None = None
    used: float = 0.0
    pinged: int | None = None


class Servers:
    """One pool per workspace. `settings` maps a language to a server's name or command.

    `root` is the workspace's real directory, `idle` in seconds. Constructing one does no IO;
    every process it starts ends with `close`, with the pool or with the interpreter.
    """

    def __init__(self, root: Path, settings: Settings | None = None, idle: float = IDLE) -> None:
        self.root = root
        self.settings = dict(settings or {})
        self.idle = idle
        self._slots: dict[object, Slot] = {}
        self._lock = Lock()
        self._closed = Event()
        self._reaping = False
        self.close: Callable[[], object] = weakref.finalize(self, _close, self._slots, self._closed)

    def check(self, file: Path, text: str, timeout: float, only: str | None = None) -> Checked:
        """Ask every server for `file` about `text` as its content, at most `timeout` seconds.

        `file` is the real absolute path; the content need not be on disk. Raises
        `NoLanguageServer`, `InvalidArguments`, `Cancelled`, and when no server answered at all
        because of an error, that error: `LanguageServerFailed` or `TimedOut`.
        """
        root = self.root.resolve()
        plans = choose(file, root, self.settings, search_path(root), only)
        asked = Asked(file, text, timeout, time.monotonic() + timeout)
        if len(plans) == 1:
            return _merged(plans, [self._tried(plans[0], asked)])
        with ThreadPoolExecutor(len(plans) - 1) as threads:
            tasks = [
                threads.submit(copy_context().run, self._tried, plan, asked) for plan in plans[1:]
            ]
            here = self._tried(plans[0], asked)
            return _merged(plans, [here, *(task.result() for task in tasks)])

    def checker(self, file: Path) -> Callable[[str], list[Problem] | None] | None:
        """For lint after a write: a function from text to problems, None where the host has set
        no server for the language of `file`. It returns None when the server did not answer.
        """
        language = BY_SUFFIX.get(file.suffix.lower())
        if language is None or not self.settings.get(language.name):
            return None

        def problems(text: str) -> list[Problem] | None:
            try:
                checked = self.check(file, text, LINT_TIMEOUT)
            except Cancelled:
                raise
            except ToolError:
                return None
            undecided = checked.silent or checked.old or checked.failed
            return None if undecided else checked.problems

        return problems

    def _tried(self, plan: Plan, asked: "Asked") -> "Told | ToolError":
        try:
            return self._ask(plan, asked)
        except Cancelled:
            raise
        except ToolError as error:
            return error

    def _ask(self, plan: Plan, asked: "Asked") -> "Told":
        with self._lock:
            slot = self._slots.setdefault(plan.key, Slot())
        slot.used = max(slot.used, asked.until)
        server, fresh = self._running(slot, plan, asked)
        language = plan.language.suffixes[asked.file.suffix.lower()]
        try:
            answer = server.diagnose(asked.file, language, asked.text, asked.until)
        except LanguageServerFailed:
            _stop(slot, server, 0)
            if fresh:
                raise
            return self._ask(plan, asked)  # it had died since it was last asked
        except Refused as refusal:
            raise LanguageServerFailed(f"{plan.spec.name} refused to check: {refusal}.") from None
        _watch_over(slot, server, answer)
        if answer is None:
            return Told()
        places = Positions(answer.text, server.encoding)
        return Told(
            [places.problem(item, plan.spec.name, self.root.resolve()) for item in answer.items],
            answer.old,
        )

    def _running(self, slot: Slot, plan: Plan, asked: "Asked") -> tuple[Server, bool]:
        """The server of `slot`, and whether this call started it."""
        if not slot.lock.acquire(timeout=max(asked.until - time.monotonic(), 0)):
            raise _late(plan, asked)
        try:
            if slot.server is not None:
                return slot.server, False
            self._reap_from_now_on()
            server = _spawned(plan)
            slot.server, slot.pinged = server, None
            try:
                if self._closed.is_set():
                    raise LanguageServerFailed("The workspace is closed.")
                server.start(asked.until)
            except BaseException as error:
                _stop(slot, server, 0)
                if isinstance(error, TimedOut):
                    raise _late(plan, asked) from None
                if isinstance(error, Refused):
                    raise LanguageServerFailed(
                        f"{plan.spec.name} refused to start: {error}."
                    ) from None
                raise
            return server, True
        finally:
            slot.lock.release()

    def _reap_from_now_on(self) -> None:
        with self._lock:
            if self._reaping:
                return
            self._reaping = True
        arguments = (self._slots, self._closed, self.idle)
        Thread(target=_reap, args=arguments, name="lsp-idle", daemon=True).start()


@dataclass(frozen=True)
class Asked:
    """One question; `until` is monotonic time, `timeout` the seconds it stands for."""

    file: Path
    text: str
    timeout: float
    until: float


@dataclass(frozen=True)
class Told:
    """The problems one server told, None for silence; old ones are from before a change."""

    problems: list[Problem] | None = None
    old: bool = False


def _watch_over(slot: Slot, server: Server, answer: Finding | None) -> None:
    """Stop a server that leaves questions unanswered and has not said a word in between, though
    it was pinged: one that is only busy, or has no news, is left alone.
    """
    if answer is not None and not answer.old:
        slot.pinged = None
    elif slot.pinged == server.client.heard:
        _stop(slot, server, 0)
    else:
        slot.pinged = server.client.heard
        server.client.ping()


def _spawned(plan: Plan) -> Server:
    spec, language = plan.spec, plan.language
    suffixes = tuple(language.suffixes) if spec.across else ()
    watch = Watch(plan.root, suffixes, language.watched) if suffixes or language.watched else None
    child = Child(spec.command, plan.root, plan.path)
    return Server(child, plan.root, spec, watch)


def _merged(plans: list[Plan], answers: "list[Told | ToolError]") -> Checked:
    told = {plan.spec.name: answer for plan, answer in zip(plans, answers, strict=True)}
    failed = {name: answer for name, answer in told.items() if isinstance(answer, ToolError)}
    if len(failed) == len(told):
        raise next(iter(failed.values()))
    spoken = {name: answer for name, answer in told.items() if isinstance(answer, Told)}
    return Checked(
        by_importance(p for answer in spoken.values() for p in answer.problems or ()),
        tuple(told),
        tuple(name for name, answer in spoken.items() if answer.problems is None),
        tuple(name for name, answer in spoken.items() if answer.old),
        tuple(f"{name}: {error}" for name, error in failed.items()),
        next((plan.environment for plan in plans if plan.environment), None),
        any(plan.spec.name in PYTHON for plan in plans),
    )


def _late(plan: Plan, asked: Asked) -> TimedOut:
    return TimedOut(
        f"{plan.spec.name} did not start within {asked.timeout:g} s; it was stopped.",
        hint="Try again. Or raise `timeout`.",
    )


def _stop(slot: Slot, server: Server, grace: float) -> None:
    if slot.server is server:
        slot.server = None
    server.client.stop(grace)


def _reap(slots: dict[object, Slot], closed: Event, idle: float) -> None:
    while not closed.wait(min(idle / 2, 30)):
        for slot in list(slots.values()):
            if time.monotonic() - slot.used < idle or not slot.lock.acquire(blocking=False):
                continue
            try:
                if server := slot.server:
                    server.client.ask_to_leave()
                    _stop(slot, server, _GRACE)
            finally:
                slot.lock.release()


def _close(slots: dict[object, Slot], closed: Event) -> None:
    closed.set()
    running = [(slot, slot.server) for slot in list(slots.values()) if slot.server]
    until = time.monotonic() + _GRACE
    for _, server in running:
        server.client.ask_to_leave()
    for slot, server in running:
        _stop(slot, server, max(until - time.monotonic(), 0))
