"""What a session starts when it is first asked for: jobs, pages, language servers, checks."""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from fsagent_tools.errors import Denied, NotConfigured
from fsagent_tools.files.port import Place
from fsagent_tools.results import Findings
from fsagent_tools.runtime import shadows
from fsagent_tools.runtime.forked import owned
from fsagent_tools.runtime.once import once
from fsagent_tools.runtime.recent import Recent
from fsagent_tools.services import lazy
from fsagent_tools.session.review import Lint

if TYPE_CHECKING:
    from fsagent_tools.files.keeping import Recorder
    from fsagent_tools.history.history import History
    from fsagent_tools.lint import ServerCheck
    from fsagent_tools.lsp.checked import Checked
    from fsagent_tools.lsp.languages import LanguageSettings
    from fsagent_tools.lsp.pool import Servers
    from fsagent_tools.policy import Policy
    from fsagent_tools.process.closed import Survey
    from fsagent_tools.process.jobs import Jobs
    from fsagent_tools.process.judge import Judge
    from fsagent_tools.process.launcher import Launcher
    from fsagent_tools.process.programs import Programs
    from fsagent_tools.process.shell import Shell
    from fsagent_tools.web.search import SearchSettings


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
            lazy.languages.languages(servers)
        self.server_settings = dict(servers or {})
        self.pages = Recent()  # fetched last: a long one is read on from the same text
        self._named = set[str]()  # variables that a command was told of
        self._turns = dict[Path, Lock]()  # held while servers are asked about a file beside a write
        self._closings = 0
        self.callers, self.using = 0, Lock()  # operations under way
        owned(self)

    @once
    def changeable(self) -> Sequence[str]:
        """Absolute paths of what tools and commands may change; calls import nothing from there."""
        if self.root is None or self._policy.readonly:  # nothing is written there
            return ()
        return shadows.close(self._policy.changeable(self.root))

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

    def recorder(self) -> "Recorder | None":
        """What the door to files tells its changes to; None where nothing can be kept."""
        return self.history.recorder if self.history.kept else None

    @once
    def jobs(self) -> "Jobs":
        """Background commands; they end with the session, however that ends."""
        return lazy.jobs.Jobs()

    def private_directory(self, path: str) -> str:
        """The directory of this session's commands, if `path` is beneath it, else ""."""
        return self.jobs.holds(path) if "jobs" in vars(self) else ""

    @once
    def programs(self) -> "Programs":
        """The programs that may be started: nothing that the model could have written."""
        return lazy.programs.Programs.of(self.root, self._policy)

    @once
    def launcher(self) -> "Launcher":
        """Starts every child process; all of them end with the session. Raises `Denied`."""
        if self.root is None:
            raise not_local("Commands need")
        process = self._policy.process
        temp_dir, most = self.jobs.temp_dir, process.limits.processes
        places = (*(process.readable or ()), "~", *self.programs.path.split(os.pathsep))
        shown = map(
            os.path.expanduser, (*self._policy.opened, *places, sys.prefix, sys.base_prefix)
        )
        view = lazy.launcher.View(
            (temp_dir, str(self.root), *process.opened, *filter(None, [self.caches])),
            tuple(path for path in shown if path.strip("/")),
            network=process.network,
            temporary=temp_dir,
            processes=most or lazy.launcher.View.processes,
            standing=self._judge.standing_file,
        )
        return lazy.launcher.Launcher(view)

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
        temp_dir = self.jobs.temp_dir
        watch = self.history.commands.before if self.keeps_history else None
        return lazy.shell.Shell(
            self.launcher,
            self._policy,
            temp_dir,
            self.closed,
            self.programs,
            self._judge,
            watch,
            self.caches,
            self._named,
        )

    @once
    def _judge(self) -> "Judge":
        """Says after a command what of its changes may stay."""
        return lazy.judge.judging(self.closed, self._policy, self.programs)

    @once
    def closed(self) -> "Survey":
        """Finds what of the root programs may not read or change."""
        root = os.path.realpath(self.root or "/")
        return lazy.closed.Survey(root, self._policy, state=self.state)

    @once
    def servers(self) -> "Servers":
        """The language servers; none is started before it is asked. Raises `Denied`."""
        if self.root is None:
            raise not_local("Language servers need")
        settings, allowed = self.server_settings, self._policy.allowed_actions
        shut = self._policy.readonly or (allowed is not None and "bash" not in allowed)
        servers = partial(lazy.pool.Servers, self.root, settings, programs=self.programs)
        return servers(closed=self.closed, confined=shut)

    def review(
        self, mode: Lint, place: Place, before: bytes | None, after: bytes
    ) -> Findings | None:
        """What the check before a write finds, None where there is none. It may refuse the text."""
        if mode == "off":
            return None
        began = time.monotonic()  # the first check of a process loads what it needs
        means = lazy.lint.Means(programs=self.programs, until=lazy.lint.due(began))
        if self.root is not None:
            means = replace(means, ask=self._asked(Path(place.absolute)))
        return lazy.lint.review(mode, place.told, before, after, means)

    def _asked(self, file: Path) -> "ServerCheck":
        """Asks the servers, which are loaded beside the write; what was asked before `close` starts
        none after it.
        """
        opening = self._closings

        def check(text: str, seconds: float) -> "Checked":
            _ = lazy.pool.Servers  # loaded before `servers` makes others wait
            servers = self.servers
            if opening != self._closings:
                raise Denied("The workspace was closed meanwhile.")
            return servers.check(file, text, seconds)

        return lazy.beside.asked_beside(check, self._turns.setdefault(file, Lock()))

    def written(self, place: Place, before: bytes, after: bytes) -> str:
        """What to tell at once of a change: that a text does not parse any more."""
        return lazy.lint.broken(place.told, before, after)

    @property
    def running(self) -> list[str]:
        """The background commands that run."""
        return [j.script for j in self.jobs.all() if j.running] if "jobs" in vars(self) else []

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
        if not self.running and (launcher := vars(self).pop("launcher", None)):
            launcher.close()

    def disown(self) -> None:
        """What runs stays with the process that was forked; here it may be asked for anew."""
        self.callers, self.using, self._turns = 0, Lock(), {}
        for name in ("jobs", "launcher", "servers"):
            vars(self).pop(name, None)

    def close(self) -> None:
        """End commands and language servers; all may be asked for again."""
        if "jobs" in vars(self):
            self.jobs.close()
        self._closings += 1
        self._end_what_waits()


def lacks_machine(services: Services) -> str:
    """Why nothing can be started for these files, "" if it can."""
    return "" if services.root else "its files are not in a directory of this machine"


def not_local(who: str) -> Denied:
    return Denied(
        f"{who} a workspace in a directory of this machine; the files of this one are elsewhere.",
        hint="Use the file tools.",
    )
