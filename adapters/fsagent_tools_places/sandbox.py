"""The far end in any sandbox that carries out commands."""

import base64
import hashlib
import json
import logging
import os
import pickle
import re
import shlex
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from posixpath import join, normpath
from typing import Any, Protocol, TypedDict, Unpack
from uuid import uuid4
from weakref import WeakSet

from fsagent_tools import Policy, Toolset
from fsagent_tools.errors import ConfigInvalid, ToolError
from fsagent_tools.remote import CancelFlag
from fsagent_tools_places import settle
from fsagent_tools_places.channel import Dropped, PlaceChannel, awaited, begun
from fsagent_tools_places.wheels import package as packed
from fsagent_tools_places.wire import IDLE, MOST, Asked, Settings, Told, as_json, read_as

PART = 96_000  # characters of a command's argument; Linux takes 128 kB
ONCE = 48_000  # characters of an answer; some sandboxes cut at 100 kB
WAIT = 20.0  # seconds of a command; some sandboxes end those that take 30
GATHER = 1.0
LONGEST = 3900.0  # seconds; no tool takes more than an hour
SILENCE = 30.0  # seconds beyond those that an answer may take
SETTLING = 600.0  # seconds to install
FULL = "It takes no file beside the far end. Free space, or: " + settle.ELSEWHERE
SETTLE = Path(settle.__file__).read_text()
_ANSWER = re.compile(r"^fsagent(\{.*)", re.MULTILINE)
_LOG = logging.getLogger("fsagent_tools")
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


# A forked child has no thread that would make what its parent was about to, or give a lock back.
_commands = WeakSet["Commands"]()
os.register_at_fork(after_in_child=lambda: [*map(Commands.renew, _commands)])


class Commands:
    """A link that runs a command for each request."""

    def __init__(
        self, run: Run, where: str, *, keep: bool = True, **options: Unpack[FarOptions]
    ) -> None:
        self.where, self.keep, self.boot = where, keep, ""
        self.wait, self.gather, self.most = WAIT, GATHER, ONCE
        if not keep:
            self.wait, self.gather, self.most = LONGEST, 0.0, MOST
        self._run = run
        self._python = shlex.quote(options.get("python", "python3"))
        self._named = options.get("package")
        given = options.get("toolset") or "lines", options.get("policy")
        settings = Settings(*given, keep, options.get("idle", IDLE))
        try:
            pickled = pickle.dumps(settings)
        except Exception as error:
            raise ConfigInvalid(f"Toolset and policy have to be sent: {error}.") from error
        self._settings = base64.b64encode(pickled).decode()
        self._digest, self._far = hashlib.sha256(pickled).hexdigest(), ""
        self._here = self._home = ""  # the directories of commands, and of the user
        self._told_of = set[str]()  # roots that a warning was about
        self.renew()
        _commands.add(self)

    def renew(self) -> None:
        self._lock = threading.Lock()
        self._way: Future[Any] | None = None

    def ask(self, asked: Asked, cancelled: CancelFlag) -> Told:
        way = self._reached(cancelled)
        asked = replace(asked, root=self._absolute(asked.root))
        try:
            answer = self._brought(way, as_json(asked), asked.wait + SILENCE, cancelled)
            return self._told(answer)
        except Dropped as error:
            if not error.cut:
                self._way = None  # the next attempt looks whether all is still there
            raise

    def _brought(self, way: Any, asked: str, seconds: float, cancelled: CancelFlag) -> str | bytes:
        request = base64.b64encode(asked.encode()).decode()
        if len(request) > PART:
            request = f"@{self._put(request)}"
        return self._answered(f"{way} {request}", seconds, cancelled)

    def _told(self, answer: str | bytes) -> Told:
        try:
            told: Told = read_as(Told, answer)
        except ValueError as error:
            raise Dropped(f"no proper answer: {error}", cut=len(answer)) from error
        if told.state == "refused":
            raise ConfigInvalid(f"{self.where} says: {told.piece}")
        if told.state == "ending":
            raise Dropped("it is about to end", sent=False)
        return told

    def _reached(self, cancelled: CancelFlag) -> Any:
        """What requests go over. It is made once for all who wait for it."""
        with self._lock:
            way = self._way
            if way is None or (way.done() and not self._lasts(way)):
                way = self._way = begun(self._made)
        try:
            return awaited(way, 2 * SETTLING, cancelled, 0)
        except (Dropped, TimeoutError) as error:
            raise Dropped(str(error) or "no connection in time", sent=False) from error

    def _lasts(self, way: "Future[Any]") -> bool:
        return not way.exception()

    def _made(self) -> Any:
        """The command that reaches the far end, which has been installed by then."""
        own = packed(self._named)
        found = self._script(SILENCE, "look", own.id, self._digest)
        self._far, self._here, self._home = found["far"], found["here"], found["home"]
        if not found["there"]:
            sent = self._put(base64.b64encode(own.wheel).decode()) if own.wheel else ""
            self._script(SETTLING, "install", own.id, sent, own.requirements)
        if not found["given"]:
            self._script(SILENCE, "give", own.id, self._put(self._settings), found["name"])
        script = shlex.quote(f"{self._far}/{own.id}/fsagent_tools_places/knock.py")
        return f"{self._python} -I -S {script} {found['name']}"

    def _absolute(self, root: str) -> str:
        """Of a directory as the host names it; a home of another user is found there."""
        user, _, rest = root.partition("/")
        if user == "~":
            root = join(self._home, rest)
        elif not user.startswith("~"):
            root = join(self._here, root)
        above = f"{normpath(root).rstrip('/')}/"  # there, ".." goes by what a link leads to
        if f"{self._far}/".startswith(above) and root not in self._told_of:
            self._told_of.add(root)
            _LOG.warning("%s: a root with the state directory (%s) has no undo.", self.where, root)
        return root

    def _script(self, seconds: float, *words: str) -> dict[str, Any]:
        return self._settled(f"{self._python} -I -c {shlex.join([SETTLE, *words])}", seconds)

    def _settled(self, command: str, seconds: float, run: Run | None = None) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self._answered(command, seconds, run=run))
        except (Dropped, ValueError) as error:
            raise Dropped(error, sent=False) from error
        if "error" in found:
            raise ConfigInvalid(f"{self.where} cannot have the tools. {found['error']}")
        return found

    def _put(self, text: str) -> str:
        """Which files beside the far end have it now: NAME.NUMBER, so many."""
        key, parts = uuid4().hex, [text[at : at + PART] for at in range(0, len(text), PART)]
        for number, part in enumerate(parts):
            self._write(f"printf %s {part}", key, number)
        return f"{key}.{len(parts)}"

    def _write(self, source: str, key: str, number: int, run: Run | None = None) -> None:
        file = shlex.quote(f"{self._far}/{key}")
        refused = f"""{{ rm -f {file}.*; echo 'fsagent{{"error": "{FULL}"}}'; }}"""
        done = f"{source} > {file}.{number} && echo 'fsagent{{}}' || {refused}"
        self._settled(done, SETTLING if run else SILENCE, run)

    def _answered(
        self,
        command: str,
        seconds: float,
        cancelled: CancelFlag | None = None,
        run: Run | None = None,
    ) -> str:
        try:
            work = begun(run or self._run, command)
            output, code = awaited(work, seconds, cancelled or CancelFlag())
        except (ToolError, Dropped):
            raise
        except Exception as error:
            raise Dropped(f"{type(error).__name__}: {error}") from error
        if found := _ANSWER.search(output):
            return found[1]
        said = output.strip().rpartition("\n")[2]
        if code in (126, 127):  # of shells, for a program that cannot be started
            raise ConfigInvalid(
                f"{self.where} cannot have the tools: {said}.",
                hint='python="..." names an interpreter there, 3.11 or later.',
            )
        raise Dropped(f"exit code {code}: {said}")


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
        made = partial(type(self), sandbox, root, keep=keep, **options)
        super().__init__(Commands(run, where, keep=keep, **options), root, where, made)


def _executing(sandbox: Any) -> Run:
    def run(command: str) -> tuple[str, int | None]:
        done = sandbox.execute(command)
        return done.output, done.exit_code

    return run
