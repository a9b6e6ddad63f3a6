"""Shell commands, confined by the kernel and ended with all their processes."""

import re
from dataclasses import dataclass

from pydantic import Field, field_validator

from fsagent_tools.action import Params, action
from fsagent_tools.effects import Effect
from fsagent_tools.errors import InvalidArguments, TimedOut
from fsagent_tools.policy import Confinement
from fsagent_tools.process import MAX_OUTPUT, run, signal_name
from fsagent_tools.process.jobs import Job
from fsagent_tools.process.launcher import NONE
from fsagent_tools.shell import ShellRequest, prepare
from fsagent_tools.workspace import Workspace

TIMEOUT, LONGEST = 120, 3600  # seconds
JOB_VERBS = ("read", "wait", "kill")
_REFUSED = re.compile(
    "permission denied|operation not permitted|read-only file system"
    "|could not resolve|name resolution|network is unreachable",
    re.IGNORECASE,
)
OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\n\r])")  # what a progress bar painted over


class BashParams(Params):
    command: str = Field(description="Shell command; runs in bash without input.")
    timeout: int = Field(
        TIMEOUT,
        ge=1,
        le=LONGEST,
        description=f"Seconds until the command is stopped (default {TIMEOUT}).",
    )
    working_dir: str = Field(".", description="Directory to run in (default: workspace root).")
    background: bool = Field(False, description="Return a job id at once instead of waiting.")
    job: str | None = Field(
        None,
        description="Id of a background job; `command` is then read (new output), wait "
        "(until it ends or `timeout`) or kill.",
    )
    max_output: int = Field(
        MAX_OUTPUT, ge=1, le=10_000_000, description="Bytes of output kept: beginning and end."
    )
    network: bool | None = Field(None, description="False closes the network for this command.")
    env: dict[str, str] = Field(default_factory=dict, description="Further environment variables.")
    sandbox: Confinement | None = Field(None, description="A tighter sandbox for this command.")

    @field_validator("command")
    @classmethod
    def _runnable(cls, command: str) -> str:
        if not command.strip():
            raise ValueError("the command is empty; say what to run")
        return _plain(command)

    @field_validator("env")
    @classmethod
    def _variables(cls, env: dict[str, str]) -> dict[str, str]:
        for name, value in env.items():
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                raise ValueError(f"{name[:40]!r} is not a variable name")
            _plain(value)
        return env


@dataclass(frozen=True)
class Ran:
    """`exit_code` is None while a job runs. `sandbox` is the level that was in force."""

    output: str
    stderr: str
    exit_code: int | None
    truncated: bool
    timed_out: bool
    duration: float
    sandbox: str
    stopped: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()
    job: str | None = None
    running: bool = False

    def render(self) -> str:
        stdout, stderr = (OVERWRITTEN.sub("", s).rstrip("\n") for s in (self.output, self.stderr))
        parts = [stdout, f"[stderr]\n{stderr}" if stderr else "", *self._notes()]
        return "\n".join(part for part in parts if part)

    def _notes(self) -> list[str]:
        notes = []
        if self.truncated:
            notes.append("[output shortened: filter with grep, head or tail, or write to a file]")
        if self.stopped:
            notes.append(f"[left in the background and ended: {', '.join(self.stopped)}]")
        if self.survivors:
            notes.append(f"[could not be killed: {', '.join(self.survivors)}]")
        if self.sandbox != NONE and self.exit_code and _REFUSED.search(self.output + self.stderr):
            notes.append(f"[{self.sandbox}: the sandbox may have refused this]")
        if self.running:
            notes.append(f"[job {self.job} is running]")
        elif self.exit_code or not (self.output or self.stderr):
            signal = signal_name(self.exit_code)
            notes.append(f"[exit code {self.exit_code}{f': {signal}' if signal else ''}]")
        return notes


@action(effect=Effect.EXECUTE)
def bash(workspace: Workspace, params: BashParams) -> Ran:
    """Run a shell command and return its output and exit code.

    Every call is a fresh shell. Processes left in the background are ended with the command.
    """
    if params.job is not None:
        return _job(workspace.services.jobs.get(params.job), params)
    with workspace.local_files.directory(params.working_dir) as directory:
        asked = ShellRequest(
            params.command, params.network, params.env, params.sandbox, params.max_output
        )
        services = workspace.services
        launcher = services.launcher
        temp_dir = services.jobs.temp_dir
        command = prepare(asked, directory, launcher, workspace.policy, temp_dir)
        if params.background:
            return _of_job(workspace.services.jobs.start(command, launcher))
        ran = Ran(**vars(run(command, params.timeout, launcher)))
    if ran.timed_out:
        raise TimedOut(
            f"The command was stopped after {params.timeout} s (timeout). Output so far:\n"
            f"{ran.render()}\n",
            hint="Raise `timeout`, or run a smaller step.",
            details=vars(ran),
        )
    return ran


def _job(job: Job, params: BashParams) -> Ran:
    if params.command not in JOB_VERBS:
        raise InvalidArguments(
            f"`command`: with `job`, it is one of {', '.join(JOB_VERBS)}.",
            hint="Leave `job` out to run a new command.",
        )
    if params.command == "wait":
        job.wait(params.timeout)
    elif params.command == "kill":
        job.kill()
    return _of_job(job)


def _of_job(job: Job) -> Ran:
    running = job.running  # asked first: what ends in between is told by the next read
    return Ran(**vars(job.read()), job=job.name, running=running)


def _plain(value: str) -> str:
    if "\0" in value:
        raise ValueError("a NUL character cannot be passed to a program; write it as \\\\0")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("a lone surrogate is not a character") from None
    return value
