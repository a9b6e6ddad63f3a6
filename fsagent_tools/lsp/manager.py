"""The running language servers of a workspace: started when asked, kept warm, ended when idle."""

import os
import re
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock
from typing import Any, TypeVar

from fsagent_tools.errors import (
    Cancelled,
    InvalidArguments,
    InvalidChange,
    LanguageServerFailed,
    NoMatch,
    TimedOut,
    ToolError,
)
from fsagent_tools.lsp.confinement import Sandbox, ServerConfinement
from fsagent_tools.lsp.connection import ResponseError
from fsagent_tools.lsp.disk import DiskWatch
from fsagent_tools.lsp.language_server import LanguageServer, Outdated
from fsagent_tools.lsp.positions import Positions
from fsagent_tools.lsp.selection import Selection, language_id, select
from fsagent_tools.lsp.servers import LanguageSettings, ServerSpec, languages_of, with_packages
from fsagent_tools.problems import Problem, by_importance
from fsagent_tools.runtime import owned
from fsagent_tools.runtime.shadows import Thread

_T = TypeVar("_T")
LINT_TIMEOUT = 0.4  # seconds that a write waits for servers
IDLE = 600.0  # seconds without a question after which a server is ended
MAX_RUNNING = 16  # servers; then the one used longest ago is ended
MAX_STARTS = 3  # of a server that dies of one question
_BACKGROUND = 30.0  # seconds that servers may take for a write that does not wait for them


@dataclass(frozen=True)
class ServerReport:
    """What one server said of a text; reason: why that is not all, "" if the server is done."""

    server: str
    problems: Sequence[Problem] = ()
    reason: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """What all servers for a file said of a text; the problems of all, errors first."""

    answers: Sequence[ServerReport] = ()
    problems: list[Problem] = field(default_factory=list)

    @property
    def answered(self) -> list[str]:
        """The servers that checked all of it."""
        return [each.server for each in self.answers if not each.reason]

    @property
    def missing(self) -> list[ServerReport]:
        return [each for each in self.answers if each.reason]


@dataclass
class _Slot:
    """The place of one server: whoever starts it holds the lock."""

    lock: Lock = field(default_factory=Lock)
    server: LanguageServer | None = None
    watch: DiskWatch | None = None
    used: float = 0.0
    heard: int = -1  # how much it had said when it last let a deadline pass

    def end(self, server: LanguageServer | None) -> None:
        if server:
            self.server = None if self.server is server else self.server
            server.close()


class ServerManager:
    """One for each workspace. Constructing it does no IO; every process that it starts ends with
    `close`, with the manager or with the interpreter.

    Args:
        root: The workspace's real directory.
        settings: See `servers.languages_of`.
        confinement: What the servers may do.
        idle: Seconds without a question after which a server is ended.
    """

    def __init__(
        self,
        root: Path,
        settings: LanguageSettings,
        confinement: ServerConfinement,
        idle: float = IDLE,
    ) -> None:
        self.root, self.languages, self.idle = root, languages_of(settings), idle
        self._confinement = confinement
        self._slots, self._sandboxes = dict[object, _Slot](), list[Sandbox]()
        self._lock, self._closed, self._busy = Lock(), Event(), set[Path]()
        self.close: Callable[[], object] = weakref.finalize(
            self, _end_all, self._slots, self._closed, self._sandboxes
        )
        owned(self)

    def disown(self) -> None:
        """The servers stay with the process that was forked."""
        self._slots.clear()
        self._sandboxes.clear()

    def select(self, file: Path, text: str, only: str | None = None) -> Selection:
        """The servers for a file. Raises `NoLanguageServer`, `InvalidArguments`."""
        programs = self._confinement.programs
        return select(file, text, self.root, self.languages, programs, only=only)

    def diagnose(self, file: Path, text: str, timeout: float, only: str | None = None) -> Diagnosis:
        """What every server for `file` says about `text` as its content.

        Args:
            file: The real absolute path; the content need not be on disk.
            timeout: Seconds, a cold start included.
            only: One server by name.

        Raises:
            NoLanguageServer: None is known or installed; the hint says how to install one.
            InvalidArguments: `only` does not check such files.
            Cancelled: The caller gave up.
        """
        selection, deadline = self.select(file, text, only), time.monotonic() + timeout
        first, *others = selection.specs
        later = dict[str, ServerReport]()

        def work(spec: ServerSpec) -> None:
            with suppress(Cancelled):  # which the first one raises, too
                later[spec.name] = self._answer(spec, selection, deadline)

        threads = [
            Thread(target=copy_context().run, args=(work, spec), name="lsp-ask", daemon=True)
            for spec in others
        ]
        for thread in threads:
            thread.start()
        answers = [self._answer(first, selection, deadline)]
        for thread in threads:
            thread.join()
        answers += [later.get(s.name, ServerReport(s.name, (), "was cancelled")) for s in others]
        if absent := selection.absent:  # the others check less
            answers.insert(0, ServerReport(absent.name, (), f"is not installed ({absent.install})"))
        found: list[Problem] = []
        for answer in answers:  # an error that two servers place at the same characters is one
            errors = {(p.line, p.column, p.end) for p in found if p.severity == "error"}
            found += [
                p
                for p in answer.problems
                if p.severity != "error" or (p.line, p.column, p.end) not in errors
            ]
        return Diagnosis(answers, by_importance(found))

    def diagnose_soon(self, file: Path, text: str, timeout: float) -> Diagnosis | None:
        """As `diagnose`, None for what does not come within `timeout` seconds: the servers go on in
        the background, so that they are warm for the next time. Never raises.
        """
        answers = SimpleQueue[Diagnosis | None]()

        def work() -> None:
            answer = None
            try:
                with suppress(ToolError):
                    answer = self.diagnose(file, text, _BACKGROUND)
            finally:
                self._busy.discard(file)
                answers.put(answer)

        if file in self._busy:
            return None
        self._busy.add(file)
        try:
            Thread(target=work, name="lsp-lint", daemon=True).start()
            return answers.get(timeout=timeout)
        except Empty:
            return None
        except RuntimeError:  # the system gives no further thread
            self._busy.discard(file)
            return None

    def of_one_language(self, file: Path, others: Sequence[Path]) -> list[Path]:
        """Those of `others` in the language of `file`, whatever their suffixes."""
        languages = [each for each in self.languages.values() if language_id(file, each)]
        return [path for path in others if any(language_id(path, each) for each in languages)]

    def ask(
        self, file: Path, text: str, timeout: float, ask: Callable[[LanguageServer, str, float], _T]
    ) -> _T:
        """What `ask` makes of the first installed server for `file`, of the language ID and the
        deadline, asked again if a file changed meanwhile. Raises as `diagnose`, and as `ask`.
        """
        selection, deadline = self.select(file, text), time.monotonic() + timeout

        def once(server: LanguageServer) -> _T:
            return ask(server, selection.language_id, deadline)

        return self._with_server(selection.specs[0], selection, deadline, once, stable=True)

    def _answer(self, spec: ServerSpec, selection: Selection, deadline: float) -> ServerReport:
        if spec.helper and not self._confinement.programs.find(spec.helper):
            return ServerReport(spec.name, (), f"{spec.helper} is not installed")

        def ask(server: LanguageServer) -> tuple[list[Any], str]:
            file, language, text = selection.file, selection.language_id, selection.text
            return server.diagnose(file, language, text, deadline), server.status.trouble

        try:
            items, reason = self._with_server(spec, selection, deadline, ask)
        except Cancelled:
            raise
        except ToolError as error:
            return ServerReport(spec.name, (), str(error))
        places, problems = Positions(selection.text), list[Problem]()
        for item in items:
            problem = places.problem(item, spec.name, self.root)
            words = f"{problem.severity} {problem.code}: {problem.message}"
            if found := spec.strange and re.search(spec.strange, words):
                reason = reason or found[1]
            elif not (spec.fine and re.search(spec.fine, words)):
                problems.append(problem)
        return ServerReport(spec.name, problems, reason.replace(f"{selection.folder}/", ""))

    def _with_server(
        self,
        spec: ServerSpec,
        selection: Selection,
        deadline: float,
        ask: Callable[[LanguageServer], _T],
        *,
        stable: bool = False,
    ) -> _T:
        """What `ask` makes of the server: of its successor where it has died since the last
        question, its settings changed, or its next word may be about another text.

        stable: asked again as long as files change meanwhile.
        """
        slot = self._slots.setdefault((selection.folder, spec.command), _Slot())
        for start in range(1, MAX_STARTS + 1):
            slot.used = max(slot.used, deadline)  # till the answer, nobody ends it as idle
            server, is_new = self._running(slot, spec, selection, deadline)
            try:
                with server.turn(deadline):
                    answer = _asked(server, slot.watch, str(selection.file), ask, stable=stable)
                slot.heard, slot.used = -1, time.monotonic()
                return answer
            except Outdated:
                slot.end(server)
            except TimedOut:
                if slot.heard == server.heard:  # it has said nothing since the last time
                    slot.end(server)
                slot.heard = server.heard
                raise
            except LanguageServerFailed:
                slot.end(server)
                if is_new or start == MAX_STARTS:
                    raise
            except ResponseError as error:
                raise LanguageServerFailed(f"{spec.name} refused: {error}.") from None
        raise LanguageServerFailed(f"{spec.name} had to be started again and again.")

    def _running(
        self, slot: _Slot, spec: ServerSpec, selection: Selection, deadline: float
    ) -> tuple[LanguageServer, bool]:
        """The server of `slot`, and whether this call started it."""
        hint = "Try again. Or raise `timeout`."
        if not slot.lock.acquire(timeout=max(deadline - time.monotonic(), 0)):
            raise TimedOut(f"{spec.name} was still starting.", hint=hint)
        try:
            if slot.server is not None:
                return slot.server, False
            server = slot.server = self._started(slot, spec, selection)
            try:
                server.start(deadline)
            except BaseException as error:
                slot.end(server)
                if isinstance(error, TimedOut):
                    message = f"{spec.name} did not start in time; it was stopped."
                    raise TimedOut(message, hint=hint) from None
                if isinstance(error, LanguageServerFailed):  # a program in name only, perhaps
                    error.hint = f"{error.hint} To install it: {spec.install}.".lstrip()
                raise
            return server, True
        finally:
            slot.lock.release()

    def _started(self, slot: _Slot, spec: ServerSpec, selection: Selection) -> LanguageServer:
        running = sorted((s for s in [*self._slots.values()] if s.server), key=lambda s: s.used)
        for oldest in running[: max(len(running) - MAX_RUNNING + 1, 0)]:
            oldest.end(oldest.server)
        with self._lock:
            if self._closed.is_set():
                raise LanguageServerFailed("The workspace is closed.")
            if not self._sandboxes:
                self._sandboxes.append(Sandbox(self._confinement))
                arguments = self._slots, self._closed, self.idle
                Thread(target=_reap, args=arguments, name="lsp-idle", daemon=True).start()
            (sandbox,) = self._sandboxes
        language, folder, environment = selection.language, selection.folder, ""
        suffixes = [*language.suffixes] if spec.across else []
        slot.watch = DiskWatch(folder, self.root, suffixes, language.settings)
        if language.name == "python":
            own = (place / n for place in (folder, self.root) for n in (".venv", "venv"))
            found = (str(each) for each in own if (each / "pyvenv.cfg").is_file())
            environment = next(found, os.environ.get("VIRTUAL_ENV", ""))
            spec = with_packages(spec, environment)
        return LanguageServer(
            spec, sandbox.start(spec.name, spec.command, folder, environment), folder
        )


def _asked(
    server: LanguageServer,
    watch: DiskWatch | None,
    path: str,
    ask: Callable[[LanguageServer], _T],
    *,
    stable: bool,
) -> _T:
    """What `ask` makes of a server that knows of all changes. Raises `Outdated`, and as `ask`."""
    if watch and watch.settings_changed():
        raise Outdated
    changes = watch.changes() if watch else {}
    while True:
        server.changed_on_disk(changes, path)
        refusal: ToolError | None = None
        try:
            answer = ask(server)
        except (InvalidArguments, InvalidChange, NoMatch) as error:
            refusal = error
        changes = watch.changes() if watch and stable else {}
        if refusal and not changes:
            raise refusal
        if not changes:
            return answer


def _reap(slots: Mapping[object, _Slot], closed: Event, idle: float) -> None:
    while not closed.wait(min(idle / 2, 30)):
        for slot in [*slots.values()]:
            if time.monotonic() - slot.used >= idle:
                slot.end(slot.server)


def _end_all(slots: dict[object, _Slot], closed: Event, sandboxes: list[Sandbox]) -> None:
    closed.set()
    for slot in [*slots.values()]:
        slot.end(slot.server)
    for sandbox in sandboxes:
        sandbox.close()
