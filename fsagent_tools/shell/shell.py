"""A shell command as the policy lets it run: where, with which environment, in which sandbox."""

import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from fsagent_tools.errors import Denied
from fsagent_tools.policy import Confinement, Policy
from fsagent_tools.policy.programs import Programs
from fsagent_tools.policy.protected import RUN_BY_OTHERS
from fsagent_tools.runtime.state import state_folder
from fsagent_tools.shell import bubblewrap
from fsagent_tools.shell.closed import ClosedPaths
from fsagent_tools.shell.environment import (
    CACHES,
    DOWNLOADS,
    LIVE,
    OFFLINE,
    environment,
    needing_temporary,
    unpassed,
)
from fsagent_tools.shell.launch import Process, lack, level
from fsagent_tools.shell.profile import UNCONFINED, Hosts, Launch, Profile
from fsagent_tools.shell.protected import Protected, look
from fsagent_tools.shell.reader import libraries
from fsagent_tools.shell.runner import MAX_OUTPUT, ChangeWatch, Command

SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr", "/etc", "/opt", "/nix/store", "/sys")
LONGEST_ARGUMENT = 100_000  # bytes; Linux ends one argument at 131,072 (MAX_ARG_STRLEN)
_DEEPER_STACK = "ulimit -Ss 65536 2>/dev/null; "  # bash recurses once per command in a long list
_SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh")
_KEPT_SECONDS = 30 * 86_400  # that what was moved away is kept
# What cannot be set is passed over when the file is read; a command's own EXIT trap keeps nothing.
_KEEP = (
    "{ set +x; } 2>/dev/null; unset _begun; "
    "{ builtin declare -p; builtin declare -f; builtin alias -p; }"
)


@dataclass(frozen=True)
class ShellRequest:
    """What a caller wants.

    Attributes:
        command: The script.
        directory: Absolute, checked.
        network: False closes it.
        env: Further variables.
        sandbox: It can only be tighter than the policy's.
        max_output: Bytes that are kept.
        background: It runs as a job.
        live: Its output is followed while it runs.
    """

    command: str
    directory: str
    network: bool | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    sandbox: Confinement | None = None
    max_output: int = MAX_OUTPUT
    background: bool = False
    live: bool = False


def confinement(policy: Policy, asked: Confinement | None = None) -> Confinement:
    """What binds a command that asks for `asked`."""
    return "read-only" if policy.readonly else policy.process.tightest(asked)


@dataclass(frozen=True)
class Shell:
    """The commands of one workspace.

    Attributes:
        root: With links resolved.
        policy: That of the workspace.
        temp_dir: The private temporary directory, a real path.
        closed: What the policy closes.
        programs: Those of the workspace.
        watch: See `Command`.
        caches: Where tools that build and install keep theirs, "" for where they like.
        state: The directory of `Workspace(state=...)`.
        named: Variables of the host that a command was told of.
        neighbour: The process of a job that runs, None without one.
    """

    root: str
    policy: Policy
    temp_dir: str
    closed: ClosedPaths
    programs: Programs
    watch: ChangeWatch | None = None
    caches: str = ""
    state: str = ""
    named: set[str] = field(default_factory=set)
    neighbour: Callable[[], Process | None] = lambda: None

    def prepare(self, asked: ShellRequest) -> Command:
        """Raises `Denied` for what the policy closes."""
        process = self.policy.process
        if asked.network and not process.network:
            raise Denied(
                "`network`: the policy closes the network.",
                hint="Leave it out, or ask the operator.",
            )
        mode = confinement(self.policy, asked.sandbox)
        closes = mode != "off" and asked.network is False
        network = True if mode == "off" else False if closes else self._network
        protected, is_whole = (
            None,
            level(Profile(()), self.programs.is_outside).startswith(bubblewrap.LEVEL),
        )
        if mode == "workspace-write" and self._protects:
            names, git = process.protected, self.programs.find("git")
            protected = look(self.root, names, git, mounted=is_whole, job=asked.background)
        profile = self._profile(mode, network, protected)
        extra = {**self._circumstances(bool(network), asked), "PWD": asked.directory, **asked.env}
        env = environment(process.env_allow, self.temp_dir, extra)
        argv = [_bash(), "-c", self._argument(asked.command)]
        return Command(
            asked.command,
            Launch(argv, env, asked.directory, profile, process.limits, self.neighbour()),
            self.programs.is_outside,
            asked.max_output,
            self.temp_dir,
            None if mode == "read-only" else self.watch,
            protected,
            self._kept() if protected else Path(),
            tuple(process.redact),
        )

    @property
    def lacks(self) -> str:
        """Why no command can run as the policy demands, "" if one can."""
        mode = confinement(self.policy)
        profile = self._profile(mode, self._network, None)
        lacking = lack(profile, self.programs.is_outside)
        return lacking and f"the policy requires a sandbox, and this system lacks {lacking}"

    def unpassed(self, command: Command) -> tuple[str, ...]:
        """What to say, once for each, of variables of the host that `command` reads in vain."""
        names = unpassed(command.script, command.launch.env)
        names = tuple(name for name in names if name not in self.named)
        self.named.update(names)
        given = f"{', '.join(names)}: set outside, not passed to commands; ask the user (env_allow)"
        return (given,) if names else ()

    @property
    def _network(self) -> bool | Hosts:
        policy = self.policy
        if isinstance(policy.process.network, bool):
            return policy.process.network
        return Hosts(policy.process.hosts, policy.opened_hosts, policy.closed_hosts)

    @property
    def _protects(self) -> bool:
        rules = {*self.policy.write_denied} & {*RUN_BY_OTHERS}
        return bool(rules and self.policy.process.protected)

    def _circumstances(self, network: bool, asked: ShellRequest) -> dict[str, str]:
        """Variables that tell programs how they run."""
        variables = {**({} if network else OFFLINE)}
        variables |= LIVE if asked.live or asked.background else {}
        if self.caches:
            places = {**CACHES, **(DOWNLOADS if network else {})}
            for name, inner in places.items():
                variables[name] = f"{self.caches}/{inner}".rstrip("/")
        return variables

    def _profile(
        self, mode: Confinement, network: bool | Hosts, protected: Protected | None
    ) -> Profile:
        """The policy's, tightened by the call; a read-only one must be in force to run."""
        if mode == "off":
            return UNCONFINED
        process, writes, closed = self.policy.process, mode == "workspace-write", self.closed.look()
        opened = (*process.opened, *filter(None, [self.caches])) if writes else ()
        outside = protected.writable if protected else ()
        writable = (*((self.root,) if writes else ()), self.temp_dir, *opened, *outside)
        keeps_own = bool(self.policy.write_denied) and not process.installs
        own = self.programs.own if keeps_own else ()
        guarded = (*(protected.read_only if protected else ()), *closed.read_only, *own)
        above = self._above(*closed.hidden, *closed.read_only, *own)
        strict = process.require_sandbox
        readable = None
        if process.readable is not None:
            given = tuple(map(os.path.expanduser, process.readable))
            readable = (*given, *SYSTEM, *libraries(), self.root, "/etc/resolv.conf")
        return Profile(
            tuple(dict.fromkeys(map(os.path.realpath, writable))),
            readable=readable,
            network=network,
            temporary=self.temp_dir,
            shown=self._shown,
            read_only=guarded if writes else (),
            hidden=closed.hidden,
            # A mount of its own would open a directory of a root that is read-only.
            pinned=(*(protected.pinned if protected else ()), *above) if writes else (),
            required=bool(strict) or mode == "read-only" or process.readable is not None,
            must_hide=bool(self.policy.denied_paths) and strict != "landlock",
        )

    @property
    def _shown(self) -> tuple[str, ...]:
        """The root, and what programs are found in, an environment of Python as a whole."""
        places = [self.root, *os.environ.get("PATH", "").split(os.pathsep), *self.policy.opened]
        places += [sys.prefix, sys.base_prefix, os.path.expanduser("~")]
        above = [os.path.dirname(path) for path in places if os.path.basename(path) == "bin"]
        places += [path for path in above if os.path.exists(f"{path}/pyvenv.cfg")]
        return tuple(dict.fromkeys(map(os.path.realpath, filter(os.path.isabs, places))))

    def _above(self, *closed: str) -> set[str]:
        """Directories in the root above what is closed: none is renamed away."""
        above = (parent for path in closed for parent in Path(path).parents)
        return {str(p) for p in above if p.is_relative_to(self.root) and str(p) != self.root}

    def _kept(self) -> Path:
        """The directory for what is moved away by the next command."""
        folder = Path(state_folder(self.root, "kept", self.state) or f"{self.temp_dir}/kept")
        if folder.is_dir():
            for old in folder.iterdir():
                if old.stat().st_mtime < time.time() - _KEPT_SECONDS:
                    shutil.rmtree(old, ignore_errors=True)
        return folder / f"{time.time_ns()}"

    def _argument(self, script: str) -> str:
        """The script, or what runs it from a file that removes itself."""
        if len(script.encode()) <= LONGEST_ARGUMENT:
            return script
        with (
            needing_temporary(),
            tempfile.NamedTemporaryFile(
                "w", dir=self.temp_dir, prefix="script-", delete=False
            ) as file,
        ):
            file.write(f'command rm -f -- "{file.name}"\n{script}')
        return f"{_DEEPER_STACK}. '{file.name}'"


def begun(script: str, startup: str) -> str:
    """The script in a shell that begins with `startup`."""
    return f"{startup}\n{script}" if startup else script


def continued(
    script: str, file: str, startup: str, env: Mapping[str, str], *, stay: bool = False
) -> str:
    """The script where the last one that named `file` left off: directory, variables, functions.

    A session is a file of a shell's state and no process: a command that hangs or is killed takes
    none with it, and each is confined for itself.

    Args:
        script: What runs.
        file: The state, made when the script ends.
        startup: What a fresh session begins with.
        env: Wins over what was kept.
        stay: It runs in the directory in which it is started.
    """
    place = shlex.quote(file)
    given = "".join(f"export {name}={shlex.quote(value)}; " for name, value in env.items())
    return (
        f"_begun=$PWD; shopt -s expand_aliases; "
        f"if [ -f {place} ]; then . {place} 2>/dev/null; else :\n{startup}\nfi; "
        f'builtin cd -- "${"_begun" if stay else "PWD"}" || builtin cd -- "$_begun"; {given}'
        f"trap '{_KEEP} >|{place}.$$ && command -p mv -f {place}.$$ {place}' EXIT; "
        f"eval {shlex.quote(script)}"
    )


@cache
def _bash() -> str:
    return next(shell for shell in _SHELLS if os.access(shell, os.X_OK))
