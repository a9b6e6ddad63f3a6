"""The far end in any sandbox that carries out commands."""

import base64
import json
import pickle
import re
import shlex
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from pathlib import Path
from typing import Any, Protocol, TypedDict, Unpack

from fsagent_tools import Policy, Toolset
from fsagent_tools.errors import ConfigInvalid, ToolError
from fsagent_tools_places import settle
from fsagent_tools_places.channel import Dropped, PlaceChannel
from fsagent_tools_places.wheels import package as packed
from fsagent_tools_places.wire import IDLE, MOST, Asked, Settings, Told, as_json, read_as

PART = 96_000  # characters of a command's argument; Linux takes 128 kB
ONCE = 48_000  # characters of an answer; some sandboxes cut at 100 kB
WAIT = 20.0  # seconds of a command; some sandboxes end those that take 30
GATHER = 1.0
LONGEST = 3900.0  # seconds; no tool takes more than an hour
SILENCE = 30.0  # seconds beyond those that an answer may take
SETTLING = 600.0  # seconds to install
SETTLE = Path(settle.__file__).read_text()
_ANSWER = re.compile(r"^fsagent(\{.*)", re.MULTILINE)
Run = Callable[[str], tuple[str, int | None]]


class Sandbox(Protocol):
    """Such as the backends of deepagents: the output, and the exit code."""

    def execute(self, command: str, /) -> Any: ...


class FarOptions(TypedDict, total=False):
    """What runs at a place.

    Attributes:
        toolset: A toolset or its name; by default "lines".
        policy: As of `Workspace`; by default what is configured there.
        idle: Seconds without a call after which the far end goes, and background commands with it;
            by default 3600.
        python: The interpreter there, 3.11 or later; by default "python3".
        package: A wheel of this package here, or a requirement that pip finds there, such as
            "fsagent-tools[web]"; by default the version that runs here.
    """

    toolset: Toolset | str | None
    policy: Policy | None
    idle: float
    python: str
    package: Path | str | None


class Commands:
    """A link that runs a command for each request."""

    def __init__(
        self, run: Run, where: str, root: str, *, keep: bool = True, **options: Unpack[FarOptions]
    ) -> None:
        self.where, self.keep = where, keep
        self.wait, self.gather, self.most = WAIT, GATHER, ONCE
        if not keep:
            self.wait, self.gather, self.most = LONGEST, 0.0, MOST
        self._root, self._run = root, run
        self._python = shlex.quote(options.get("python", "python3"))
        self._named = options.get("package")
        given = options.get("toolset"), options.get("policy")
        settings = Settings(*given, keep, options.get("idle", IDLE))
        try:
            self._settings = base64.b64encode(pickle.dumps(settings)).decode()
        except Exception as error:
            raise ConfigInvalid(f"Toolset and policy have to be sent: {error}.") from error
        self._knock, self._far = "", ""
        self._lock = threading.Lock()

    def ask(self, asked: Asked) -> Told:
        command = self.knock()
        request = base64.b64encode(as_json(asked).encode()).decode()
        if len(request) > PART:
            request = f"@{asked.key}.{self._put(asked.key, request)}"
        try:
            return self._told(self._answered(f"{command} {request}", asked.wait + SILENCE))
        except Dropped as error:
            if not error.cut:
                self._knock = ""  # the next attempt looks whether all is still there
            raise

    def _told(self, answer: str | bytes) -> Told:
        try:
            told: Told = read_as(Told, answer)
        except ValueError as error:
            raise Dropped(f"no proper answer: {error}", cut=len(answer)) from error
        return told

    def knock(self) -> str:
        """The command that reaches the far end, which has been installed by then."""
        with self._lock:
            if not self._knock:
                own = packed(self._named)
                found = self._look(own.id)
                if not found["there"]:
                    parts = self._put(own.id, base64.b64encode(own.wheel).decode())
                    self._settled("install", own.id, str(parts), own.requirements)
                    found = self._look(own.id)
                script = shlex.quote(f"{self._far}/{own.id}/fsagent_tools_places/knock.py")
                self._knock = f"{self._python} -I -S {script} {found['name']}"
            return self._knock

    def _look(self, package: str) -> dict[str, Any]:
        found = self._settled("look", package, self._root, self._settings)
        self._far = found["far"]
        return found

    def _settled(self, task: str, *given: str) -> dict[str, Any]:
        words = shlex.join([SETTLE, task, *given])
        try:
            answer = self._answered(f"{self._python} -I -c {words}", SETTLING)
            found: dict[str, Any] = json.loads(answer)
        except (Dropped, ValueError) as error:
            raise Dropped(error, sent=False) from error
        if "error" in found:
            raise ConfigInvalid(f"{self.where} cannot have the tools. {found['error']}")
        return found

    def _put(self, key: str, text: str) -> int:
        """How many files beside the far end have it now."""
        parts = [text[at : at + PART] for at in range(0, len(text), PART)]
        for number, part in enumerate(parts):
            file = shlex.quote(f"{self._far}/{key}.{number}")
            try:
                self._answered(f"printf %s {part} > {file} && echo 'fsagent{{}}'", SILENCE)
            except Dropped as error:
                raise Dropped(error, sent=False) from error
        return len(parts)

    def _answered(self, command: str, seconds: float) -> str:
        try:
            output, code = _within(seconds, self._run, command)
        except (ToolError, Dropped):
            raise
        except Exception as error:
            raise Dropped(f"{type(error).__name__}: {error}") from error
        if not (found := _ANSWER.search(output)):
            said = output.strip().rpartition("\n")[2]
            raise Dropped(f"exit code {code}: {said}")
        return found[1]


def _within(seconds: float, run: Run, command: str) -> tuple[str, int | None]:
    """Raises `TimeoutError`, and leaves alone what may never end."""
    answer, context = Future[tuple[str, int | None]](), copy_context()

    def work() -> None:
        try:
            answer.set_result(context.run(run, command))
        except BaseException as error:  # noqa: BLE001 - raised by the other thread
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return answer.result(seconds)


class SandboxChannel(PlaceChannel):
    """Our tools in a sandbox, through its `execute` alone.

    This package is sent there once, and gets what it needs there by pip. It stays running, so that
    a call is one command.

    Args:
        sandbox: Has `execute(command)` with `output` and `exit_code`, such as any backend of
            deepagents with a shell; or a function, command -> (output, exit code).
        root: The directory of the project, there.
        keep: False where no process outlives the command that started it.
        **options: Those of `FarOptions`.

    Raises:
        ConfigInvalid: When tools are made, for what the place lacks.
    """

    def __init__(
        self,
        sandbox: Sandbox | Run,
        root: str = ".",
        *,
        keep: bool = True,
        **options: Unpack[FarOptions],
    ) -> None:
        run: Any = _executing(sandbox) if hasattr(sandbox, "execute") else sandbox
        where = f"The sandbox {getattr(sandbox, 'id', None) or type(sandbox).__name__}"
        super().__init__(Commands(run, where, root, keep=keep, **options))


def _executing(sandbox: Any) -> Run:
    def run(command: str) -> tuple[str, int | None]:
        done = sandbox.execute(command)
        return done.output, done.exit_code

    return run
