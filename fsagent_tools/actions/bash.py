"""Shell commands, confined by the kernel and ended with all their processes."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator

from fsagent_tools.call import current
from fsagent_tools.errors import TimedOut
from fsagent_tools.names import display
from fsagent_tools.policy import Confinement
from fsagent_tools.replies import Completed
from fsagent_tools.shell.jobs import Job
from fsagent_tools.shell.launch import level
from fsagent_tools.shell.profile import Profile
from fsagent_tools.shell.runner import MAX_OUTPUT, run, signal_name
from fsagent_tools.shell.shell import Shell, ShellRequest, begun, confinement, continued
from fsagent_tools.text import some
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.workspace.services import lacks_machine

ALL_OF_IT = "all that it changed"  # begins why a whole command is not covered by undo
TIMEOUT, LONGEST = 120, 3600  # seconds
_RESTARTED = "echo The shell begins anew."
_NAMED = 5  # files that are told of
VIRTUAL = "In commands / is the machine's: name files from the working directory, as in src/a.py."


def _runnable(command: str) -> str:
    if not command.strip():
        raise ValueError("the command is empty; say what to run")
    return _plain(command)


def _variables(env: dict[str, str]) -> dict[str, str]:
    for name, value in env.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise ValueError(f"{name[:40]!r} is not a variable name")
        _plain(value)
    return env


def _plain(value: str) -> str:
    if "\0" in value:
        raise ValueError("a NUL character cannot be passed to a program; write it as \\\\0")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("a lone surrogate is not a character") from None
    return value


class BashParams(Params):
    command: Annotated[str, AfterValidator(_runnable)] = Field(
        description="Shell command; runs in bash without input."
    )
    timeout: int = Field(
        TIMEOUT,
        ge=1,
        le=LONGEST,
        description=f"Seconds until the command is stopped (default {TIMEOUT}).",
    )
    working_dir: str = Field(".", description="Directory to run in (default: workspace root).")
    background: bool = Field(False, description="Start it as a job and return.")
    session: str = Field(
        "",
        pattern=r"^[A-Za-z0-9_.-]{0,40}$",
        description="Name of a session: directory, variables and activated environments last.",
    )
    restart: bool = Field(False, description="Begin the session anew.")
    max_output: int = Field(
        MAX_OUTPUT, ge=1, le=10_000_000, description="Bytes of output kept: beginning and end."
    )
    network: bool | None = Field(None, description="False closes the network for this command.")
    env: Annotated[dict[str, str], AfterValidator(_variables)] = Field(
        default_factory=dict, description="Further environment variables."
    )
    sandbox: Confinement | None = Field(None, description="A tighter sandbox for this command.")

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """A new session may begin without a command."""
        return {"command": _RESTARTED, **values} if values.get("restart") else values


@dataclass(frozen=True)
class Ran(Completed):
    """`exit_code` is None while a job runs. `sandbox` is the level that was in force."""

    job: str | None = None
    running: bool = False

    @classmethod
    def of(cls, done: Completed, job: str | None = None, *, running: bool = False) -> "Ran":
        return cls(**vars(done), job=job, running=running)

    def render(self) -> str:
        # That undo cannot help is said first, or nobody reads on so far.
        first = [f"[not covered by undo: {one}]" for one in self.lost if one.startswith(ALL_OF_IT)]
        parts = [*first, self.output.rstrip("\n"), *self._notes()]
        return "\n".join(part for part in parts if part)

    def _notes(self) -> list[str]:
        notes = []
        if self.truncated:
            rest = f"all of it is in {self.whole}" if self.whole else "use grep, head or tail"
            notes.append(f"[output shortened: {rest}]")
        lists = {
            "stopped with the command, as they ran in the background": self.stopped,
            "moved away, as other programs would run it": self.moved,
            "put back, as other programs would run it": self.put_back,
            "changed while the job ran, by it or somebody else, and left": self.changed,
        }
        for what, names in lists.items():
            notes += [f"[{what}: {', '.join(map(display, names))}]"] if names else []
        if self.kept:
            notes.append(
                f"[what was there is in {self.kept}; use `git -c KEY=VALUE` for one command, "
                "or ask the user (protected=())]"
            )
        if self.lost and not self.lost[0].startswith(ALL_OF_IT):
            lost = some([*map(display, self.lost)], _NAMED)
            notes.append(f"[not covered by undo: {lost}]")
        if self.survivors:
            notes.append(f"[could not be killed: {', '.join(self.survivors)}]")
        notes += [f"[{sentence}]" for sentence in self.refused]
        if self.running:
            notes.append(f"[running as job {self.job}]")
        elif self.exit_code or not self.output:
            signal = signal_name(self.exit_code)
            notes.append(f"[exit code {self.exit_code}{f': {signal}' if signal else ''}]")
        return notes


def _limits(workspace: Workspace) -> str:
    policy = workspace.policy
    limits = policy.process.described(confinement(policy), level(Profile(())))
    return " ".join(filter(None, (VIRTUAL if workspace.files.virtual else "", limits)))


def lacks_shell(workspace: Workspace) -> str:
    """Why no command can run here, "" if one can."""
    policy, services = workspace.policy, workspace.services
    process, is_tight = policy.process, confinement(policy) == "read-only"
    needs = process.require_sandbox or process.readable is not None or process.hosts
    lacking = lacks_machine(services)
    return lacking or (services.shell.lacks if is_tight or needs or policy.denied_paths else "")


@action(effect=Effect.EXECUTE, remark=_limits, lacks=lacks_shell)
def bash(workspace: Workspace, params: BashParams) -> Ran:
    """Run a shell command and return its output and exit code.

    Every call is a fresh shell. Processes left in the background are ended with the command.
    """
    with workspace.local_files.directory(params.working_dir) as directory:
        services = workspace.services
        shell = services.shell
        script = _script(params, shell)
        asked = ShellRequest(
            script,
            directory.place.absolute,
            params.network,
            params.env,
            params.sandbox,
            params.max_output,
            background=params.background,
            live=bool(current.get().emit),
        )
        command = shell.prepare(asked)
        named = shell.unpassed(command)
        if params.background:
            if command.watch:  # what changes while a job runs may be somebody else's doing
                watch = partial(services.history.commands.before, job=True)
                command = replace(command, watch=watch)
            return of_job(services.jobs.start(command))
        ran = Ran.of(run(command, params.timeout))
        ran = replace(ran, refused=(*ran.refused, *named)) if named else ran
    if ran.timed_out:
        so_far = "Output so far:" if ran.output else "It printed nothing."
        stopped = f"The command was stopped after {params.timeout} s (timeout)."
        raise TimedOut(
            f"{stopped} {so_far}\n{ran.render()}\n",
            hint="Raise `timeout`, or run a smaller step. Or use `background`.",
            details=vars(ran),
        )
    return ran


def of_job(job: Job) -> Ran:
    """What it wrote since it was last asked."""
    running = job.running  # asked first: what ends in between is told by the next read
    return Ran.of(job.read(), job.name, running=running)


def _script(params: BashParams, shell: Shell) -> str:
    startup = shell.policy.process.startup
    if not params.session:
        return begun(params.command, startup)
    file, stay = f"{shell.temp_dir}/session-{params.session}.sh", "working_dir" in params.given
    forgotten = f"rm -f {shlex.quote(file)}; " if params.restart else ""
    return forgotten + continued(params.command, file, startup, params.env, stay=stay)
