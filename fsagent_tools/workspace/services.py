"""What a session starts when it is first asked for: jobs, pages, language servers, checks."""

import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType, ref

from fsagent_tools.errors import Denied, NoLanguageServer, NotConfigured
from fsagent_tools.files.base import Place
from fsagent_tools.results import Findings
from fsagent_tools.runtime import owned, shadows
from fsagent_tools.session.review import Lint
from fsagent_tools.workspace import lazy

if TYPE_CHECKING:
    from fsagent_tools.files.base import Recorder
    from fsagent_tools.history.history import History
    from fsagent_tools.lint import ServerAnswer, ServerCheck
    from fsagent_tools.lsp.manager import ServerManager
    from fsagent_tools.lsp.servers import LanguageSettings
    from fsagent_tools.policy import Policy
    from fsagent_tools.policy.programs import Programs
    from fsagent_tools.shell.closed import ClosedPaths
    from fsagent_tools.shell.jobs import Jobs
    from fsagent_tools.shell.shell import Shell
    from fsagent_tools.web.search import SearchSettings


# Workspaces of this process that hold something open while nobody calls: five descriptors each, of
# which the history has three.
_MAX_OPEN = 12
_used: dict[int, ReferenceType[Any]] = {}  # in the order of their last use
_warned = list[str]()  # of what `_warn_host` tells
_MAX_PAGES = 4
_MAX_FILES, _MAX_BYTES = 200, 1 << 20  # whose first text is kept, and of one of them


class Originals(dict[str, bytes]):
    """The texts of files before this session's first change, by absolute path; b"" for new files.

    At most 200 of at most 1 MB each: of others nothing tells what is new.
    """

    def keep(self, path: str, before: bytes | None) -> None:
        """Before a change; only the first one of a file counts."""
        if path not in self and len(before or b"") <= _MAX_BYTES:
            self[path] = before or b""
            if len(self) > _MAX_FILES:
                self.pop(next(iter(self)), None)


class _Once(cached_property[Any]):
    """The same for all threads that ask; since Python 3.12 `cached_property` makes one for each.

    The last of them would stay, and the end of another one would end what it had begun.
    """

    def __get__(self, services: Any, owner: type | None = None) -> Any:
        if services is None:
            return self
        with services.making:
            made = vars(services)
            if self.attrname not in made:
                made[self.attrname] = self.func(services)
            return made[self.attrname]


if TYPE_CHECKING:
    once = cached_property
else:
    once = _Once


class Services:
    """The services of one session; nothing runs before it is asked for, nothing after `close`.

    root: the workspace on this machine, None if it is elsewhere. past: further arguments of its
    `History`, None where there is none. state: the directory of `Workspace(state=...)`, "" for the
    user's. The others: see `Workspace`.
    """

    def __init__(  # noqa: PLR0913
        self,
        root: Path | None,
        policy: "Policy",
        *,
        lint: Lint = "off",
        search: "SearchSettings | None" = None,
        servers: "LanguageSettings | None" = None,
        past: Mapping[str, Any] | None = None,
        state: str = "",
    ) -> None:
        self.root, self.lint, self.search = root, lint, search
        self._policy, self._past, self.state = policy, past, state
        if servers:
            lazy.servers.languages_of(servers)
        self.server_settings = dict(servers or {})
        self.pages = dict[Any, Any]()  # fetched last: a long one is read on from the same text
        self._named = set[str]()  # variables that a command was told of
        self.originals = Originals()
        self.callers, self.using, self.making = 0, Lock(), RLock()  # callers: calls under way
        owned(self)

    @once
    def changeable(self) -> Sequence[str]:
        """Absolute paths of what tools and commands may change; calls import nothing from there."""
        if self.root is None or self._policy.readonly:  # nothing is written there
            return ()
        places = shadows.close(self._policy.changeable(self.root))
        _warn_host()
        return places

    @once
    def history(self) -> "History":
        """What became of the files. Raises `NotConfigured` where it is off, `Denied`."""
        if self.root is None:
            raise not_local("The history needs")
        if self._past is None:
            raise NotConfigured(
                "This workspace keeps no history.",
                hint="Make it without history=False and readonly.",
            )
        return lazy.history.History(self.root, self._policy, **self._past, home=self.state)

    @property
    def keeps_history(self) -> bool:
        return self.root is not None and self._past is not None and self.history.kept

    def diffs_of_call(self, call: str) -> Iterator[tuple[str, str]]:
        """Paths and diffs of what a call changed just now, as far as the history knows."""
        return self.history.of_call(call) if self.keeps_history else iter(())

    def lost_by_call(self) -> tuple[str, ...]:
        """The paths that the call in progress changed and no undo restores."""
        return self.history.lost() if self.keeps_history else ()

    def recorder(self) -> "Recorder | None":
        """What the door to files tells its changes to; None where nothing can be kept."""
        return self.history.recorder if self.history.kept else None

    @once
    def jobs(self) -> "Jobs":
        """Background commands; they end with the session, however that ends."""
        return lazy.jobs.Jobs()

    def keep_page(self, key: object, page: object) -> None:
        with self.using:
            self.pages.pop(key, None)
            self.pages[key] = page
            if len(self.pages) > _MAX_PAGES:
                del self.pages[next(iter(self.pages))]

    def private_directory(self, path: str) -> str:
        """The directory of this session's commands, if `path` is beneath it, else ""."""
        return self.jobs.holds(path) if "jobs" in vars(self) else ""

    @once
    def programs(self) -> "Programs":
        """The programs that may be started: nothing that the model could have written."""
        return lazy.programs.Programs.of(self.root, self._policy)

    @once
    def caches(self) -> str:
        """Where commands keep caches, in their temporary directory where home is closed to us; ""
        where they may write none.
        """
        process = self._policy.process
        writes = process.sandbox == "workspace-write" and not self._policy.readonly
        if not (process.caches or writes):
            return ""
        place = process.caches_of(os.path.realpath(self.root or "/"))
        try:
            Path(place).mkdir(parents=True, exist_ok=True)
        except OSError:
            return f"{self.jobs.temp_dir}/caches"
        return os.path.realpath(place)

    @property
    def shell(self) -> "Shell":
        """Prepares commands. Raises `Denied`."""
        if self.root is None:
            raise not_local("Commands need")
        return lazy.shell.Shell(
            os.path.realpath(self.root),
            self._policy,
            self.jobs.temp_dir,
            self.closed,
            self.programs,
            self.history.commands.before if self.keeps_history else None,
            self.caches,
            self.state,
            self._named,
            self.jobs.neighbour,
        )

    @once
    def closed(self) -> "ClosedPaths":
        """Finds what of the root programs may not read or change."""
        root = os.path.realpath(self.root or "/")
        return lazy.closed.ClosedPaths(root, self._policy, state=self.state)

    @once
    def servers(self) -> "ServerManager":
        """The language servers; none is started before it is asked. Raises `Denied`."""
        if self.root is None:
            raise not_local("Language servers need")
        allowed = self._policy.allowed_actions
        shut = self._policy.readonly or (allowed is not None and "bash" not in allowed)
        confinement = lazy.process.ServerConfinement(self.programs, self.closed, required=shut)
        return lazy.manager.ServerManager(
            Path(self.root).resolve(), self.server_settings, confinement
        )

    def review(
        self, mode: Lint, place: Place, before: bytes | None, after: bytes
    ) -> Findings | None:
        """What the check before a write finds, None where there is none. It may refuse the text."""
        self.originals.keep(place.absolute, before)
        if mode == "off":
            return None
        ask = None if self.root is None else self._server_check(Path(place.absolute))
        return lazy.lint.review(mode, place.told, before, after, ask)

    def _server_check(self, file: Path) -> "ServerCheck":
        """Asks the servers for `file`, in all for as long as a write waits for them; what was asked
        before `close` starts none after it.
        """
        servers = self.servers
        deadline = time.monotonic() + lazy.manager.LINT_TIMEOUT

        def check(text: str) -> "ServerAnswer":
            try:
                names = [spec.name for spec in servers.question(file, text, 0).specs]
            except NoLanguageServer:
                return lazy.lint.ServerAnswer()
            left = max(deadline - time.monotonic(), 0)
            diagnosis = servers.diagnose_soon(file, text, left)
            if diagnosis is None:
                return lazy.lint.ServerAnswer(missing=f"no answer from {', '.join(names)} yet")
            missing = "; ".join(f"{server}: {why}" for server, why in diagnosis.missing.items())
            return lazy.lint.ServerAnswer(diagnosis.problems, tuple(diagnosis.answered), missing)

        return check

    def written(self, place: Place, before: bytes, after: bytes) -> str:
        """What to tell at once of a change: that a text does not parse any more."""
        return lazy.lint.broken(place.told, before, after)

    @property
    def running(self) -> list[str]:
        """The background commands that run."""
        return [j.script for j in self.jobs.all() if j.running] if "jobs" in vars(self) else []

    @contextmanager
    def in_use(self, workspace: Any) -> Iterator[None]:
        """Count the callers of its workspace; of very many, those used longest ago rest."""
        _ = self.changeable  # closed to imports, once
        with self.using:
            self.callers += 1
        try:
            yield
        finally:
            with self.using:
                self.callers -= 1
            _used.pop(id(workspace), None)
            _used[id(workspace)] = ref(workspace)
            while len(_used) > _MAX_OPEN:
                with suppress(StopIteration, RuntimeError):  # other threads do the same
                    found = _used.pop(next(iter(_used)), None)
                    if other := found and found():
                        other.rest()

    def rest(self) -> None:
        """End what would only wait for the next operation, unless there is one."""
        with self.using:
            if not self.callers:
                self._end_what_waits()

    def _end_what_waits(self) -> None:
        if "history" in vars(self):
            self.history.close()
        if servers := vars(self).pop("servers", None):
            servers.close()

    def disown(self) -> None:
        """What runs stays with the process that was forked; here it may be asked for anew."""
        self.callers, self.using, self.making = 0, Lock(), RLock()
        for name in ("jobs", "servers"):
            vars(self).pop(name, None)

    def close(self) -> None:
        """End commands and language servers; all may be asked for again."""
        if "jobs" in vars(self):
            self.jobs.close()
        self._end_what_waits()


def _warn_host() -> None:
    """Tell a host, once, that its own code imports from where tools write; blocks are guarded."""
    place = next(filter(shadows.is_written, sys.path), None)
    if place is not None and not _warned and shadows.calling.get() is None:
        _warned.append(place)
        logging.getLogger("fsagent_tools").warning(
            "sys.path has %s, which tools may write to: what this program imports later may be a "
            "module that a model wrote. Import it at the start, or start the program elsewhere.",
            os.path.realpath(place),
        )


def lacks_machine(services: Services) -> str:
    """Why nothing can be started for these files, "" if it can."""
    if not sys.platform.startswith("linux"):
        return "commands run on Linux only"
    return "" if services.root else "its files are not in a directory of this machine"


def not_local(who: str) -> Denied:
    return Denied(
        f"{who} a workspace in a directory of this machine; the files of this one are elsewhere.",
        hint="Use the file tools.",
    )
