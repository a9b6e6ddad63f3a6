"""A shell command as the policy lets it run: where, with which environment, in which sandbox."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from fsagent_tools.errors import Denied
from fsagent_tools.files.guarded_file import Directory
from fsagent_tools.policy import Confinement, Policy
from fsagent_tools.process.closed import Closed, Survey
from fsagent_tools.process.environment import (
    CACHES,
    DOWNLOADS,
    LIVE,
    OFFLINE,
    environment,
    unpassed,
)
from fsagent_tools.process.judge import Judge
from fsagent_tools.process.launcher import Launcher
from fsagent_tools.process.programs import Programs
from fsagent_tools.process.reader import libraries
from fsagent_tools.process.script import MAX_OUTPUT, ChangeWatch, Command
from fsagent_tools.sandbox.profile import UNCONFINED, Profile

SYSTEM = (
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr", "/etc", "/opt", "/nix/store"),
    *("/proc", "/sys", "/dev"),
)


@dataclass(frozen=True)
class ShellRequest:
    """What a caller wants; `network` False closes it, `sandbox` can only be tighter.

    separate: a pipe for each stream. live: its output is followed while it runs.
    """

    command: str
    network: bool | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    sandbox: Confinement | None = None
    max_output: int = MAX_OUTPUT
    separate: bool = False
    live: bool = False


def confinement(policy: Policy, asked: Confinement | None = None) -> Confinement:
    """What binds a command that asks for `asked`."""
    return "read-only" if policy.readonly else policy.process.tightest(asked)


def requires_sandbox(policy: Policy, mode: Confinement) -> bool:
    """Whether a command of that mode must not run where the system cannot enforce all of it."""
    process = policy.process
    return process.require_sandbox or mode == "read-only" or process.readable is not None


@dataclass(frozen=True)
class Shell:
    """The commands of one workspace: what starts them, what binds them, where they may write.

    temp_dir: a real path. programs: those of the workspace. caches: where tools that build and
    install keep theirs, "" for where they like. named: host variables that a command was told of.
    """

    launcher: Launcher
    policy: Policy
    temp_dir: str
    survey: Survey
    programs: Programs
    judge: Judge
    watch: ChangeWatch | None = None
    caches: str = ""
    named: set[str] = field(default_factory=set)

    def prepare(self, asked: ShellRequest, directory: Directory) -> Command:
        """Raises `Denied` for what the policy closes.

        `directory` is the checked working directory; the path of the same name may change.
        """
        absolute, status = directory.place.absolute, os.fstat(directory.fd)
        process, temp_dir = self.policy.process, self.temp_dir
        if asked.network and not process.network:
            raise Denied(
                "`network`: the policy closes the network.",
                hint="Leave it out, or ask the operator.",
            )
        mode = confinement(self.policy, asked.sandbox)
        network = mode == "off" or (process.network and asked.network is not False)
        survey = None if mode == "off" else self.survey
        closed = survey.look() if survey else Closed()
        return Command(
            asked.command,
            cwd=absolute,
            env=environment(
                process.env_allow,
                temp_dir,
                {**self._circumstances(network, asked.live), "PWD": absolute, **asked.env},
            ),
            profile=self._profile(network, mode, closed, temp_dir),
            limits=process.limits,
            max_output=asked.max_output,
            place=(status.st_dev, status.st_ino),
            keep_in=temp_dir,
            judge=partial(self.judge.before, closed) if mode == "workspace-write" else None,
            watch=None if mode == "read-only" else self.watch,
            separate=asked.separate,
            redact=tuple(process.redact),
        )

    @property
    def lacks(self) -> str:
        """Why no command can run as the policy demands, "" if one can."""
        mode, network = confinement(self.policy), self.policy.process.network
        return self.launcher.lacking(self._profile(network, mode, Closed(), self.temp_dir))

    def _circumstances(self, network: bool, live: bool) -> dict[str, str]:
        """Variables that tell programs how they run."""
        variables = {**({} if network else OFFLINE), **(LIVE if live else {})}
        if self.caches:
            places = {**CACHES, **(DOWNLOADS if network else {})}
            for name, inner in places.items():
                variables[name] = f"{self.caches}/{inner}".rstrip("/")
        return variables

    def unpassed(self, command: Command) -> tuple[str, ...]:
        """What to say, once for each, of variables of the host that `command` reads in vain."""
        names = [name for name in unpassed(command.script, command.env) if name not in self.named]
        self.named.update(names)
        given = f"{', '.join(names)}: set outside, not passed to commands; ask the user (env_allow)"
        return (given,) if names else ()

    def _readable(self) -> tuple[str, ...] | None:
        if (given := self.policy.process.readable) is None:
            return None
        own = (*libraries(), self.survey.root, os.path.realpath("/etc/resolv.conf"))
        return (*map(os.path.expanduser, given), *SYSTEM, *own)

    def _profile(self, network: bool, mode: Confinement, closed: Closed, temp_dir: str) -> Profile:
        """The policy's profile, tightened by the call; a read-only one must be in force to run."""
        if mode == "off":
            return UNCONFINED
        process, writable = self.policy.process, self.launcher.writable
        writes = mode == "workspace-write"
        own = self.programs.own if self.policy.write_denied else ()
        bwrap = process.engine == "bwrap"
        return Profile(
            writable=writable if writes else (temp_dir,),
            readable=self._readable(),
            network=network,
            namespaces=process.namespaces,
            required=requires_sandbox(self.policy, mode),
            bubblewrap=(self.programs.find("bwrap") or "bwrap") if bwrap else "",
            read_only=(*closed.read_only, *own) if writes else (),
            hidden=closed.hidden,
            must_hide=closed.denied,
            pinned=closed.pinned if writes else (),
        )
