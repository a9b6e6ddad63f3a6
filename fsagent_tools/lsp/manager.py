"""The running language servers of a workspace: started when asked, kept warm, ended when idle."""

import os
import re
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock
from typing import TypeVar

from fsagent_tools.errors import (
    Cancelled,
    LanguageServerFailed,
    NoLanguageServer,
    TimedOut,
    ToolError,
)
from fsagent_tools.lsp.confinement import Confinement, Sandbox
from fsagent_tools.lsp.connection import ResponseError
from fsagent_tools.lsp.disk import DiskWatch
from fsagent_tools.lsp.language_server import LanguageServer, Outdated
from fsagent_tools.lsp.positions import Positions
from fsagent_tools.lsp.servers import (
    Language,
    LanguageSettings,
    ServerSpec,
    configured,
    language_id,
    language_of,
    runnable,
    server_groups,
)
from fsagent_tools.problems import Problem, by_importance
from fsagent_tools.process.programs import ALL_PROGRAMS
from fsagent_tools.runtime.forked import owned
from fsagent_tools.runtime.shadows import Thread

_T = TypeVar("_T")
LINT_TIMEOUT = 0.4  # seconds that a write waits for servers
IDLE = 600.0  # seconds without a question after which a server is ended
MAX_RUNNING = 16  # servers; then the one used longest ago is ended
MAX_STARTS = 3  # of a server that dies of one question
_BACKGROUND = 30.0  # seconds that servers may take for a write that does not wait for them


@dataclass(frozen=True)
class Answer:
    """What one server said of a text; reason: why that is not all, "" if the server is done."""

    server: str
    problems: Sequence[Problem] = ()
    reason: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """What all servers for a file said of a text; the problems of all, errors first."""

    answers: tuple[Answer, ...] = ()
    problems: list[Problem] = field(default_factory=list)

    @property
    def answered(self) -> list[str]:
        """The servers that checked all of it."""
        return [each.server for each in self.answers if not each.reason]

    @property
    def missing(self) -> list[Answer]:
        return [each for each in self.answers if each.reason]


@dataclass
class _Slot:
    """The place of one server: whoever starts or ends it holds the lock."""

    lock: Lock = field(default_factory=Lock)
    server: LanguageServer | None = None
    watch: DiskWatch | None = None
    used: float = 0.0
    heard: int = -1  # how much it had said when it last let a deadline pass


@dataclass(frozen=True)
class _Question:
    file: Path
    text: str
    deadline: float
    language: Language
    folder: Path


def any_installed(settings: LanguageSettings) -> bool:
    """Whether there is a server for any language; the machine is asked once in a process."""
    groups = (group for each in configured(settings).values() for group in each.servers)
    return any(_is_installed(spec.name, spec.command) for group in groups for spec in group)


@cache
def _is_installed(name: str, command: tuple[str, ...]) -> bool:
    return runnable(ServerSpec(name, command), ALL_PROGRAMS) is not None


class ServerManager:
    """One for each workspace. Constructing it does no IO; every process that it starts ends with
    `close`, with the manager or with the interpreter.

    Args:
        root: The workspace's real directory.
        settings: See `servers.configured`.
        confinement: What the servers may do.
        idle: Seconds without a question after which a server is ended.
    """

    def __init__(
        self,
        root: Path,
        settings: LanguageSettings,
        confinement: Confinement,
        idle: float = IDLE,
    ) -> None:
        self.root, self.languages, self.idle = root, configured(settings), idle
        self._confinement = confinement
        self._slots, self._sandboxes = dict[object, _Slot](), list[Sandbox]()
        self._lock, self._closed, self._reaping = Lock(), Event(), False
        self._busy = set[Path]()  # files that servers are asked about in the background
        self.close: Callable[[], object] = weakref.finalize(
            self, _end_all, self._slots, self._closed, self._sandboxes
        )
        owned(self)

    def disown(self) -> None:
        """The servers stay with the process that was forked."""
        self._slots.clear()
        self._sandboxes.clear()

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
        question = self._question(file, text, timeout)
        groups = server_groups(question.language, only)
        specs = [self._installed(group) for group in groups]
        if not any(specs):
            raise _not_installed(question.language, groups)
        asked = [spec for spec in specs if spec]
        with ThreadPoolExecutor(len(asked)) as threads:
            tasks = [
                threads.submit(copy_context().run, self._answer, spec, question) for spec in asked
            ]
            answers = [task.result() for task in tasks]
        if specs[0] is None:  # those of the other groups check less
            first = groups[0][0]
            answers.insert(0, Answer(first.name, (), f"is not installed ({first.install})"))
        return Diagnosis(tuple(answers), by_importance(_once(answers)))

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

        with self._lock:
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

    def ask(
        self, file: Path, text: str, timeout: float, ask: Callable[[LanguageServer, str, float], _T]
    ) -> _T:
        """What `ask` makes of the first installed server for `file`, of the language ID and the
        deadline, asked again if a file changed meanwhile. Raises as both do.
        """
        question = self._question(file, text, timeout)
        groups = server_groups(question.language, None)
        spec = next(filter(None, map(self._installed, groups)), None)
        if spec is None:
            raise _not_installed(question.language, groups)
        name = language_id(file, question.language, text)

        def once(server: LanguageServer) -> _T:
            return ask(server, name, question.deadline)

        return self._with_server(spec, question, once, until_stable=True)

    def servers_for(self, file: Path, text: str) -> list[str]:
        """The names of the installed servers for `file`."""
        try:
            groups = language_of(file, self.languages, text).servers
        except NoLanguageServer:
            return []
        return [spec.name for spec in map(self._installed, groups) if spec]

    def _question(self, file: Path, text: str, timeout: float) -> _Question:
        language = language_of(file, self.languages, text)
        folder = project_of(file, self.root, language)
        plain = text.removeprefix("\ufeff")  # which some servers count as a column
        return _Question(file, plain, time.monotonic() + timeout, language, folder)

    def _installed(self, group: Sequence[ServerSpec]) -> ServerSpec | None:
        found = (runnable(spec, self._confinement.programs) for spec in group)
        return next(filter(None, found), None)

    def _answer(self, spec: ServerSpec, question: _Question) -> Answer:
        if spec.helper and not self._confinement.programs.find(spec.helper):
            return Answer(spec.name, (), f"{spec.helper} is not installed")
        name = language_id(question.file, question.language, question.text)

        def ask(server: LanguageServer) -> Answer:
            items = server.diagnose(question.file, name, question.text, question.deadline)
            return self._weighed(server, question, items)

        try:
            return self._with_server(spec, question, ask)
        except Cancelled:
            raise
        except ToolError as error:
            return Answer(spec.name, (), str(error))

    def _weighed(self, server: LanguageServer, question: _Question, items: list) -> Answer:
        spec, places = server.spec, Positions(question.text)
        problems, reason = list[Problem](), server.status.trouble
        for item in items:
            problem = places.problem(item, spec.name, self.root)
            words = f"{problem.severity} {problem.code}: {problem.message}"
            if found := spec.strange and re.search(spec.strange, words):
                reason = reason or found[1]
            elif not (spec.fine and re.search(spec.fine, words)):
                problems.append(problem)
        return Answer(spec.name, problems, reason.replace(f"{server.root}/", ""))

    def _with_server(
        self,
        spec: ServerSpec,
        question: _Question,
        ask: Callable[[LanguageServer], _T],
        *,
        until_stable: bool = False,
    ) -> _T:
        """What `ask` makes of the server: of its successor where it has died since the last
        question, its settings changed, or its next word may be about another text.

        until_stable: asked again as long as files change meanwhile.
        """
        key = question.folder, spec.command
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            slot.used = time.monotonic()
        for start in range(1, MAX_STARTS + 1):
            server, is_new = self._running(slot, spec, question)
            try:
                with server.turn(question.deadline):
                    if slot.watch and slot.watch.settings_changed():
                        raise Outdated
                    watched = [str(question.file)]
                    changes = slot.watch.changes() if slot.watch else {}
                    while True:
                        server.changed_on_disk(changes, watched)
                        answer = ask(server)
                        changes = slot.watch.changes() if slot.watch and until_stable else {}
                        if not changes:
                            break
                slot.heard = -1
                return answer
            except Outdated:
                _end(slot, server)
            except TimedOut:
                if slot.heard == server.heard:  # it has said nothing since the last time
                    _end(slot, server)
                slot.heard = server.heard
                raise
            except LanguageServerFailed:
                _end(slot, server)
                if is_new or start == MAX_STARTS:
                    raise
            except ResponseError as error:
                raise LanguageServerFailed(f"{spec.name} refused: {error}.") from None
        raise LanguageServerFailed(f"{spec.name} had to be started again and again.")

    def _running(
        self, slot: _Slot, spec: ServerSpec, question: _Question
    ) -> tuple[LanguageServer, bool]:
        """The server of `slot`, and whether this call started it."""
        timeout = max(question.deadline - time.monotonic(), 0)
        late = f"{spec.name} did not start in time; it was stopped."
        if not slot.lock.acquire(timeout=timeout):
            raise TimedOut(late, hint="Try again. Or raise `timeout`.")
        try:
            if slot.server is not None:
                return slot.server, False
            self._make_room()
            server = slot.server = self._started(slot, spec, question)
            try:
                server.start(question.deadline)
            except BaseException as error:
                slot.server = None
                server.close()
                if isinstance(error, TimedOut):
                    raise TimedOut(late, hint="Try again. Or raise `timeout`.") from None
                if isinstance(error, LanguageServerFailed):  # a program in name only, perhaps
                    hint = f"{error.hint} To install it: {spec.install}.".lstrip()
                    raise LanguageServerFailed(error.message, hint=hint) from None
                raise
            return server, True
        finally:
            slot.lock.release()

    def _started(self, slot: _Slot, spec: ServerSpec, question: _Question) -> LanguageServer:
        with self._lock:
            if self._closed.is_set():
                raise LanguageServerFailed("The workspace is closed.")
            if not self._sandboxes:
                self._sandboxes.append(self._confinement.open())
                arguments = self._slots, self._closed, self.idle
                Thread(target=_reap, args=arguments, name="lsp-idle", daemon=True).start()
            (sandbox,) = self._sandboxes
        language, folder = question.language, question.folder
        suffixes = [*language.suffixes] if spec.across else []
        if suffixes or language.settings:
            slot.watch = DiskWatch(folder, self.root, suffixes, language.settings)
        environment = _environment(folder, self.root) if language.name == "python" else ""
        process = sandbox.start(spec.name, spec.command, folder, environment)
        return LanguageServer(spec, process, folder)

    def _make_room(self) -> None:
        running = sorted(filter(lambda s: s.server, [*self._slots.values()]), key=lambda s: s.used)
        for slot in running[: max(len(running) - MAX_RUNNING + 1, 0)]:
            _end(slot, slot.server)


def project_of(file: Path, root: Path, language: Language) -> Path:
    """The nearest directory above `file` that holds a marker, or the outermost one of several
    projects that are one; but never above `root`.
    """
    above = [folder for folder in file.parents if folder.is_relative_to(root)]
    for folder in reversed(above):
        if any(word in _head(folder / name) for name, word in language.workspaces):
            return folder
    marked = (f for f in above if any((f / marker).exists() for marker in language.markers))
    return next(marked, root if above else file.parent)


def _head(path: Path) -> str:
    try:
        if path.is_file():
            with path.open("rb") as stream:
                return stream.read(1 << 16).decode("utf-8", errors="replace")
    except OSError:
        pass
    return ""


def _environment(folder: Path, root: Path) -> str:
    """The virtual environment of a Python project, else that of the host, else ""."""
    for place in (folder, root):
        for name in (".venv", "venv"):
            if (place / name / "pyvenv.cfg").is_file():
                return str(place / name)
    return os.environ.get("VIRTUAL_ENV", "")


def _not_installed(language: Language, groups: Sequence[Sequence[ServerSpec]]) -> NoLanguageServer:
    if not groups:
        return NoLanguageServer(f"The `servers` setting turns {language.name} off.")
    ways = [f"{Path(spec.command[0]).name} ({spec.install})" for spec in groups[0]]
    hint = f"Install {' or '.join(ways)}."
    return NoLanguageServer(f"No language server for {language.name} is installed.", hint=hint)


def _once(answers: Sequence[Answer]) -> list[Problem]:
    """An error that two servers place at the same characters is one: the first has the word."""
    found: list[Problem] = []
    for answer in answers:
        known = {(p.severity, p.line, p.column, p.end) for p in found if p.severity == "error"}
        new = (p for p in answer.problems if (p.severity, p.line, p.column, p.end) not in known)
        found += new
    return found


def _end(slot: _Slot, server: LanguageServer | None) -> None:
    if server and slot.server is server:
        slot.server = None
    if server:
        server.close()


def _reap(slots: Mapping[object, _Slot], closed: Event, idle: float) -> None:
    while not closed.wait(min(idle / 2, 30)):
        for slot in [*slots.values()]:
            if time.monotonic() - slot.used >= idle:
                _end(slot, slot.server)


def _end_all(slots: dict[object, _Slot], closed: Event, sandboxes: list[Sandbox]) -> None:
    closed.set()
    for slot in [*slots.values()]:
        _end(slot, slot.server)
    for sandbox in sandboxes:
        sandbox.close()
