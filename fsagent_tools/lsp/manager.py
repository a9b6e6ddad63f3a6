"""The running language servers of a workspace: started when asked, kept warm, ended when idle."""

import os
import re
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import Any, TypeVar

from fsagent_tools.errors import (
    Cancelled,
    InvalidArguments,
    InvalidChange,
    LanguageServerFailed,
    NoLanguageServer,
    NoMatch,
    TimedOut,
    ToolError,
)
from fsagent_tools.lsp.client import LanguageServer, Outdated, ResponseError
from fsagent_tools.lsp.positions import Positions
from fsagent_tools.lsp.process import ServerConfinement, ServerProcess
from fsagent_tools.lsp.servers import (
    LANGUAGES,
    Language,
    LanguageSettings,
    ServerSpec,
    language_id,
    languages_of,
    runnable,
    with_packages,
)
from fsagent_tools.problems import Problem, by_importance
from fsagent_tools.runtime import owned
from fsagent_tools.runtime.shadows import Thread
from fsagent_tools.shell.environment import PrivateDirectory, in_background

_T = TypeVar("_T")
LINT_TIMEOUT = 0.4  # seconds that a write waits for servers
IDLE = 600.0  # seconds without a question after which a server is ended
MAX_RUNNING = 16  # servers; then the one used longest ago is ended
MAX_STARTS = 3  # of a server that dies of one question
MAX_LISTED = 100_000  # entries of directories in which changes are noticed
_BACKGROUND = 30.0  # seconds that servers may take for a write that does not wait for them
_SKIPPED = frozenset(("node_modules", "__pycache__", "site-packages", "target"))
_CREATED, _CHANGED, _DELETED = 1, 2, 3  # as the protocol counts changes


@dataclass(frozen=True)
class Question:
    """A text that servers, startable as they are, are asked about until a monotonic time."""

    file: Path
    text: str
    language: Language
    language_id: str
    folder: Path  # the root of its project
    deadline: float
    specs: tuple[ServerSpec, ...]  # at least one
    absent: (
        ServerSpec | None
    )  # the first of the language, if neither it nor an alternative is there


@dataclass(frozen=True)
class Diagnosis:
    """What all servers for a file said of a text: the problems, errors first, the servers that
    checked all of it, and why each of the others did not.
    """

    problems: list[Problem]
    answered: list[str]
    missing: dict[str, str]


class _Watch:
    """Notices changes of files with one of `suffixes` beneath `root`, and of settings at their
    paths, which a server reads once, when it starts. Sizes and times tell.
    """

    def __init__(self, root: Path, suffixes: Sequence[str], settings: frozenset[str]) -> None:
        self._root, self._suffixes, self._settings = str(root), tuple(suffixes), settings
        self._seen = dict(self._look())

    def changes(self) -> dict[str, int]:
        """Path -> kind of change since the last time. Raises `Outdated` for settings."""
        before, now = self._seen, dict(self._look())
        self._seen = now
        changed = {
            path: _DELETED if path not in now else _CHANGED if path in before else _CREATED
            for path in {**before, **now}
            if before.get(path) != now.get(path)
        }
        if not self._settings.isdisjoint(changed):
            raise Outdated
        return changed

    def _look(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        for path in self._settings:
            with suppress(OSError):
                yield path, _state(Path(path).stat())
        ahead, listed = [self._root] if self._suffixes else [], 0
        while ahead and listed < MAX_LISTED:
            with suppress(OSError), os.scandir(ahead.pop()) as entries:
                for entry in entries:
                    listed += 1
                    if entry.is_dir(follow_symlinks=False):
                        if not (entry.name.startswith(".") or entry.name in _SKIPPED):
                            yield entry.path, ()  # ty finds no module in one that is not told of
                            ahead.append(entry.path)
                    elif entry.name.endswith(self._suffixes):
                        with suppress(OSError):
                            yield entry.path, _state(entry.stat())


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size


@dataclass
class _Slot:
    """The place of one server: whoever asks it holds the lock."""

    lock: Lock = field(default_factory=Lock)
    server: LanguageServer | None = None
    watch: _Watch | None = None
    used: float = 0.0
    heard: int = -1  # how much it had said when it last let a deadline pass

    def end(self) -> None:
        if server := self.server:
            self.server = None
            server.close()


class ServerManager:
    """One for each workspace. Constructing it does no IO; every process that it starts ends with
    `close`, with the manager or with the interpreter.

    Args:
        root: The workspace's real directory.
        settings: See `servers.languages_of`.
        confinement: What the servers may do.
        idle: Seconds without a question after which a server is ended.
        max_running: Servers at once.
    """

    def __init__(
        self,
        root: Path,
        settings: LanguageSettings,
        confinement: ServerConfinement,
        idle: float = IDLE,
        max_running: int = MAX_RUNNING,
    ) -> None:
        self.root, self._languages, self._idle = root, languages_of(settings), idle
        self._confinement, self._max_running = confinement, max_running
        self._slots, self._directories = dict[object, _Slot](), list[PrivateDirectory]()
        self._found = dict[str, ServerSpec]()  # those with their programs, until one is started
        self._lock, self._closed, self._busy = Lock(), Event(), set[Path]()
        ends = self._slots, self._closed, self._directories
        self._finalizer = weakref.finalize(self, in_background, _end_all, *ends)
        owned(self)

    def close(self) -> None:
        """End the servers, and wait for them."""
        self._finalizer.detach()
        _end_all(self._slots, self._closed, self._directories)

    def disown(self) -> None:
        """The servers stay with the process that was forked."""
        self._slots.clear()
        self._directories.clear()

    @property
    def directory(self) -> str:
        """What the servers may write, "" before the first one is started."""
        return self._directories[0].path if self._directories else ""

    def question(self, file: Path, text: str, timeout: float, only: str | None = None) -> Question:
        """The installed servers for a file. Raises as `diagnose`."""
        named = ((each, language_id(file, each, text)) for each in self._languages.values())
        language, identifier = next((found for found in named if found[1]), (None, ""))
        if language is None:
            raise NoLanguageServer(
                f"No language server is known for {file.suffix or 'files without a suffix'}.",
                hint=f"Languages: {', '.join(self._languages)}.",
            )
        groups = [*language.servers]
        if only is not None:
            usual = LANGUAGES.get(language.name, language)
            known = {spec.name: spec for group in (*usual.servers, *groups) for spec in group}
            if only not in known:
                message = f"server: {only[:40]!r} does not check {language.name}."
                raise InvalidArguments(message, hint=f"Allowed: {', '.join(known)}.")
            groups = [(known[only],)]
        if not groups:
            raise NoLanguageServer(f"The `servers` setting turns {language.name} off.")
        found = [next(filter(None, map(self._runnable, group)), None) for group in groups]
        if not any(found):
            ways = [f"{Path(spec.command[0]).name} ({spec.install})" for spec in groups[0]]
            message = f"No language server for {language.name} is installed."
            raise NoLanguageServer(message, hint=f"Install {' or '.join(ways)}.")
        above = [folder for folder in file.parents if folder.is_relative_to(self.root)]
        marked = (f for f in above if any((f / marker).exists() for marker in language.markers))
        return Question(
            file,
            text.removeprefix("\ufeff"),  # which some servers count as a column
            language,
            identifier,
            next(marked, self.root if above else file.parent),
            time.monotonic() + timeout,
            tuple(filter(None, found)),
            None if found[0] else groups[0][0],
        )

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
        question = self.question(file, text, timeout, only)
        first, *others = question.specs
        waiting = [_in_thread(self._report, spec, question) for spec in others]
        reports = [self._report(first, question), *(each.result() for each in waiting)]
        reasons = {s.name: why for s, (_, why) in zip(question.specs, reports, strict=True)}
        if absent := question.absent:  # the others check less
            reasons = {absent.name: f"is not installed ({absent.install})", **reasons}
        found: list[Problem] = []
        for problems, _ in reports:  # an error that two servers place at the same characters is one
            errors = {(p.line, p.column, p.end) for p in found if p.severity == "error"}
            twice = [p for p in problems if (p.line, p.column, p.end) in errors]
            found += [p for p in problems if p.severity != "error" or p not in twice]
        answered = [server for server, why in reasons.items() if not why]
        missing = {server: why for server, why in reasons.items() if why}
        return Diagnosis(by_importance(found), answered, missing)

    def diagnose_soon(self, file: Path, text: str, timeout: float) -> Diagnosis | None:
        """As `diagnose`, None for what does not come within `timeout` seconds: the servers go on in
        the background, so that they are warm for the next time. Never raises.
        """
        if file in self._busy:
            return None
        self._busy.add(file)

        def work() -> Diagnosis:
            try:
                return self.diagnose(file, text, _BACKGROUND)
            finally:
                self._busy.discard(file)

        with suppress(ToolError, TimeoutError):
            try:
                return _in_thread(work).result(timeout)
            except RuntimeError:  # the system gives no further thread
                self._busy.discard(file)
        return None

    def of_one_language(self, file: Path, others: Sequence[Path]) -> list[Path]:
        """Those of `others` in the language of `file`, whatever their suffixes."""
        languages = [each for each in self._languages.values() if language_id(file, each)]
        return [path for path in others if any(language_id(path, each) for each in languages)]

    def ask(
        self, file: Path, text: str, timeout: float, ask: Callable[[LanguageServer, str, float], _T]
    ) -> _T:
        """What `ask` makes of the first installed server for `file`, of the language ID and the
        deadline, asked again if a file changed meanwhile. Raises as `diagnose`, and as `ask`.
        """
        question = self.question(file, text, timeout)

        def once(server: LanguageServer) -> _T | ToolError:
            try:
                return ask(server, question.language_id, question.deadline)
            except (InvalidArguments, InvalidChange, NoMatch) as error:
                return error  # perhaps because of a file that changed meanwhile

        answer = self._ask(question.specs[0], question, once, is_stable=True)
        if isinstance(answer, ToolError):
            raise answer
        return answer

    def _runnable(self, spec: ServerSpec) -> ServerSpec | None:
        found = self._found.get(spec.name) or runnable(spec, self._confinement.programs)
        return found and self._found.setdefault(spec.name, found)

    def _report(self, spec: ServerSpec, question: Question) -> tuple[list[Problem], str]:
        """What one server said, and why that is not all, "" if it is."""
        if spec.helper and not self._confinement.programs.find(spec.helper):
            return [], f"{spec.helper} is not installed"

        def ask(server: LanguageServer) -> tuple[list[Any], str]:
            file, language, text = question.file, question.language_id, question.text
            return server.diagnose(file, language, text, question.deadline), server.trouble

        try:
            items, reason = self._ask(spec, question, ask)
        except Cancelled:
            raise
        except ToolError as error:
            return [], str(error)
        positions, problems = Positions(question.text), list[Problem]()
        for item in items:
            problem = positions.problem(item, spec.name, self.root)
            words = f"{problem.severity} {problem.code}: {problem.message}"
            if found := spec.strange and re.search(spec.strange, words):
                reason = reason or found[1]
            elif not (spec.fine and re.search(spec.fine, words)):
                problems.append(problem)
        return problems, reason.replace(f"{question.folder}/", "")

    def _ask(
        self,
        spec: ServerSpec,
        question: Question,
        ask: Callable[[LanguageServer], _T],
        *,
        is_stable: bool = False,
    ) -> _T:
        """What `ask` makes of a server that knows of all changes: of its successor where it has
        died since the last question, or is outdated.

        is_stable: asked again as long as files change meanwhile.
        """
        slot = self._slots.setdefault((question.folder, spec.command), _Slot())
        slot.used = max(slot.used, question.deadline)  # till the answer, nobody ends it as idle
        if not slot.lock.acquire(timeout=max(question.deadline - time.monotonic(), 0)):
            raise TimedOut(f"{spec.name} was still busy with another question.")
        try:
            for _ in range(MAX_STARTS):
                is_new = slot.server is None
                try:
                    server = slot.server or self._start(slot, spec, question)
                    changes = slot.watch.changes() if slot.watch else {}
                    while True:
                        server.files_changed(changes, str(question.file))
                        answer = ask(server)
                        changes = slot.watch.changes() if slot.watch and is_stable else {}
                        if not changes:
                            slot.heard, slot.used = -1, time.monotonic()
                            return answer
                except Outdated:
                    slot.end()
                except TimedOut:
                    heard = slot.server.heard if slot.server else -1
                    if slot.heard == heard:  # it has said nothing since the last time
                        slot.end()
                    slot.heard = heard
                    raise
                except LanguageServerFailed:
                    slot.end()
                    if is_new:
                        raise
            raise LanguageServerFailed(f"{spec.name} had to be started again and again.")
        except ResponseError as error:
            raise LanguageServerFailed(f"{spec.name} refused to check: {error}.") from None
        finally:
            slot.lock.release()

    def _start(self, slot: _Slot, spec: ServerSpec, question: Question) -> LanguageServer:
        with self._lock:
            running = sorted((s for s in self._slots.values() if s.server), key=lambda s: s.used)
            for oldest in running[: max(len(running) - self._max_running + 1, 0)]:
                oldest.end()
            if self._closed.is_set():
                raise LanguageServerFailed("The workspace is closed.")
            if not self._directories:
                self._directories.append(PrivateDirectory("fsagent-servers-"))
                arguments = self._slots, self._closed, self._idle
                Thread(target=_reap, args=arguments, name="lsp-idle", daemon=True).start()
        self._found.clear()
        language, folder, python = question.language, question.folder, ""
        places = [f for f in (folder, *folder.parents) if f.is_relative_to(self.root)] or [folder]
        settings = frozenset(str(place / name) for place in places for name in language.settings)
        slot.watch = _Watch(self.root, [*language.suffixes] if spec.across else [], settings)
        if language.name == "python":
            own = (place / name for place in (folder, self.root) for name in (".venv", "venv"))
            found = (str(each) for each in own if (each / "pyvenv.cfg").is_file())
            python = next(found, os.environ.get("VIRTUAL_ENV", ""))
            spec = with_packages(spec, python)
        launch = self._confinement.launch(spec.command, folder, self.directory, python)
        slot.server = server = LanguageServer(spec, ServerProcess(launch), folder)
        try:
            server.start(question.deadline)
        except BaseException as error:
            slot.end()
            if isinstance(error, TimedOut):
                message = f"{spec.name} did not start in time; it was stopped."
                raise TimedOut(message, hint="Try again. Or raise `timeout`.") from None
            if isinstance(error, LanguageServerFailed):  # a program in name only, perhaps
                error.hint = f"{error.hint} To install it: {spec.install}.".lstrip()
            raise
        return server


def _in_thread(work: Callable[..., _T], *arguments: object) -> "Future[_T]":
    """What `work` returns or raises in a thread that nobody waits for at the end."""
    future = Future[_T]()

    def run() -> None:
        try:
            future.set_result(work(*arguments))
        except BaseException as error:  # noqa: BLE001  whoever asks gets it
            future.set_exception(error)

    Thread(target=copy_context().run, args=(run,), name="lsp-ask", daemon=True).start()
    return future


def _reap(slots: Mapping[object, _Slot], closed: Event, idle: float) -> None:
    while not closed.wait(min(idle / 2, 30)):
        for slot in [*slots.values()]:
            if time.monotonic() - slot.used >= idle:
                slot.end()


def _end_all(
    slots: Mapping[object, _Slot], closed: Event, directories: Sequence[PrivateDirectory]
) -> None:
    closed.set()
    for slot in [*slots.values()]:
        slot.end()
    for directory in directories:
        directory.close()
