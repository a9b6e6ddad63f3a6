"""The running language servers of a workspace: started when needed, shared, stopped when idle."""

import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from threading import Event, Lock
from typing import TypeVar

from fsagent_tools.errors import (
    Cancelled,
    LanguageServerFailed,
    NoLanguageServer,
    ToolError,
)
from fsagent_tools.lsp.asked import Asked, late, not_started
from fsagent_tools.lsp.changes import Outdated
from fsagent_tools.lsp.checked import Checked, Told, merge, weighed
from fsagent_tools.lsp.child import Child
from fsagent_tools.lsp.choice import Plan, choose
from fsagent_tools.lsp.client import Refused
from fsagent_tools.lsp.confined import launch
from fsagent_tools.lsp.documents import Finding
from fsagent_tools.lsp.languages import (
    LanguageSettings,
    languages,
    nothing_to_check,
    protocol_id,
)
from fsagent_tools.lsp.server import Server
from fsagent_tools.lsp.settings import folders_above
from fsagent_tools.lsp.slots import Own, Slot, end_all, reap, stop, watch_over
from fsagent_tools.lsp.symbols import Symbols, Texts, Unable, asked_about
from fsagent_tools.lsp.watch import Watch
from fsagent_tools.policy import Policy
from fsagent_tools.policy.programs import Programs
from fsagent_tools.runtime.forked import owned
from fsagent_tools.runtime.shadows import Thread
from fsagent_tools.shell.closed import ClosedPaths

_T = TypeVar("_T")
IDLE = 600.0  # seconds without a question after which a server is stopped
MOST_DEATHS = 2  # of a server that one question survives
MOST_RUNNING = 16  # servers; then the one used longest ago is stopped


class Servers:
    """One pool per workspace. `settings`: see `languages`.

    `root` is the workspace's real directory, `idle` in seconds, `programs` those that may be used,
    default what is outside `root`; what `closed` finds hidden they cannot read. confined: none runs
    where the kernel cannot hold it to its `Profile`. Constructing one does no IO; every process it
    starts ends with `close`, with the pool or with the interpreter.
    """

    def __init__(  # noqa: PLR0913
        self,
        root: Path,
        settings: LanguageSettings | None = None,
        idle: float = IDLE,
        programs: Programs | None = None,
        closed: ClosedPaths | None = None,
        *,
        confined: bool = False,
    ) -> None:
        self.root = root
        self._confined = confined
        self._survey = closed or ClosedPaths(str(root), Policy())
        self._programs = programs or Programs((str(root),))
        self.languages = languages(settings or {})
        self.idle = idle
        self._slots: dict[object, Slot] = {}
        self._lock = Lock()
        self._closed = Event()
        self._reaping = False
        self._own: list[Own] = []  # one, once a server was started
        self.close: Callable[[], object] = weakref.finalize(
            self, end_all, self._slots, self._closed, self._own
        )
        owned(self)

    def disown(self) -> None:
        """The servers stay with the process that was forked, and so does this pool."""
        self._slots.clear()
        self._own.clear()

    def check(self, file: Path, text: str, timeout: float, only: str | None = None) -> Checked:
        """Ask every server for `file` about `text` as its content, at most `timeout` seconds.

        `file` is the real absolute path; the content need not be on disk. Raises
        `NoLanguageServer`, `InvalidArguments`, `Cancelled`, and when no server answered at all
        because of an error, that error: `LanguageServerFailed` or `TimedOut`.
        """
        if nothing_to_check(file, self.languages):
            return Checked()
        among, programs = self.languages, self._programs
        plans = choose(file, text, self.root.resolve(), among, programs, only=only)
        text = text.removeprefix("\ufeff")  # which some servers count as a column, others do not
        asked = Asked(file, text, timeout, time.monotonic() + timeout)
        if len(plans) == 1:
            return merge(plans, [self._tried(plans[0], asked)])
        with ThreadPoolExecutor(len(plans) - 1) as threads:
            tasks = [
                threads.submit(copy_context().run, self._tried, plan, asked) for plan in plans[1:]
            ]
            here = self._tried(plans[0], asked)
            return merge(plans, [here, *(task.result() for task in tasks)])

    def _tried(self, plan: Plan, asked: Asked) -> "Told | ToolError":
        try:
            return self._ask(plan, asked)
        except Cancelled:
            raise
        except ToolError as error:
            return error

    def ask(
        self, texts: Texts, timeout: float, question: Callable[[Symbols], _T]
    ) -> tuple[_T, str, tuple[str, ...]]:
        """What `question` makes of the first server for a file that takes it; its name, and what it
        does not know. Raises as `check` does, `NoLanguageServer` if none takes it, and what
        `question` raises.
        """
        file, text, until = texts.file, texts.text, time.monotonic() + timeout
        plans = choose(file, text, self.root.resolve(), self.languages, self._programs)
        for plan in (plan for plan in plans if not plan.absent):
            asked = Asked(file, text, timeout, until)
            put = partial(asked_about, plan, texts, until, question)
            with suppress(Unable):
                (answer, left), server = self._answered(self._slot(plan, asked), plan, asked, put)
                return answer, plan.spec.name, (*left, *plan.left, *server.left)
        said = f"{', '.join(plan.spec.name for plan in plans)} cannot be asked that."
        raise NoLanguageServer(said, hint="Use `grep` and edit.")

    def _slot(self, plan: Plan, asked: Asked) -> Slot:
        with self._lock:
            slot = self._slots.setdefault(plan.key, Slot())
        slot.used = max(slot.used, asked.until)
        return slot

    def _ask(self, plan: Plan, asked: Asked) -> "Told":
        if plan.absent:
            return Told(plan.spec.name, (), "unchecked", plan.unchecked)
        slot = self._slot(plan, asked)
        language = protocol_id(asked.file, plan.language, asked.text)

        def check(server: Server) -> Finding | None:
            return server.diagnose(asked.file, language, asked.text, asked.until)

        answer, server = self._answered(slot, plan, asked, check)
        watch_over(slot, server, answer)
        return weighed(plan, server, asked, answer, self.root.resolve())

    def _answered(
        self, slot: Slot, plan: Plan, asked: Asked, put: Callable[[Server], _T]
    ) -> tuple[_T, Server]:
        """What the server of `slot` says, and which one that was: one that had died since it was
        last asked, or that others stop meanwhile, has a successor.
        """
        died = 0
        while True:
            server, fresh = self._running(slot, plan, asked)
            try:
                return put(server), server
            except Outdated:
                stop(slot, server, 0)
            except LanguageServerFailed:
                died += 1
                replaced = slot.server is not server
                stop(slot, server, 0)
                if (fresh and not replaced) or died > MOST_DEATHS:
                    raise
            except Refused as refusal:
                said = f"{plan.spec.name} refused to check: {refusal}."
                raise LanguageServerFailed(said) from None

    def _running(self, slot: Slot, plan: Plan, asked: Asked) -> tuple[Server, bool]:
        """The server of `slot`, and whether this call started it."""
        if not slot.lock.acquire(timeout=max(asked.until - time.monotonic(), 0)):
            raise late(plan, asked)
        try:
            if slot.server is not None:
                return slot.server, False
            self._make_room()
            self._reap_from_now_on()
            server = self._spawned(plan)
            slot.server, slot.pinged = server, None
            try:
                if self._closed.is_set():
                    raise LanguageServerFailed("The workspace is closed.")
                server.start(asked.until)
            except BaseException as error:  # noqa: BLE001  # it is raised on
                stop(slot, server, 0)
                raise not_started(error, plan, asked) from None
            return server, True
        finally:
            slot.lock.release()

    def _spawned(self, plan: Plan) -> Server:
        spec, language = plan.spec, plan.language
        suffixes = (*language.suffixes, *language.reads) if spec.across else ()
        watched = suffixes or language.watched
        hidden = self._survey.look().hidden
        root = self.root.resolve()
        folders = (plan.root, *folders_above(plan.root, root))
        watch = Watch(folders, suffixes, language.watched, hidden) if watched else None
        with self._lock:
            if self._closed.is_set():
                raise LanguageServerFailed("The workspace is closed.")
            if not self._own:
                self._own.append(Own())
        (own,) = self._own
        started = launch(plan, self._programs, own.place.path, hidden, confined=self._confined)
        child = Child(started)
        return Server(child, plan.root, spec, watch)

    def _make_room(self) -> None:
        running = sorted(filter(lambda s: s.server, [*self._slots.values()]), key=lambda s: s.used)
        for slot in running[: max(len(running) - MOST_RUNNING + 1, 0)]:
            if slot.lock.acquire(blocking=False):
                if slot.server:
                    stop(slot, slot.server, 0)
                slot.lock.release()

    def _reap_from_now_on(self) -> None:
        with self._lock:
            if self._reaping:
                return
            self._reaping = True
        arguments = (self._slots, self._closed, self.idle)
        Thread(target=reap, args=arguments, name="lsp-idle", daemon=True).start()
