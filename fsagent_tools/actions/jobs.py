"""Background commands: what they said, what they are told, when they end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fsagent_tools.actions.bash import LONGEST, Ran, of_job
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.text import shorten
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.params import number_as_text
from fsagent_tools.workspace.services import lacks_machine

_TIMEOUT = 30  # seconds
_TELLING = ("list", "read", "wait")
_SHOWN = 100  # characters of a command in the list


class JobsParams(Params):
    action: Literal["list", "read", "write", "wait", "stop"] = Field(
        "list", description="read: its new output."
    )
    job: str = Field("", description="Id.")
    input: str = Field("", description="Text for `write`.")
    timeout: int = Field(_TIMEOUT, ge=1, le=LONGEST, description=f"Seconds (default {_TIMEOUT}).")
    last: bool = Field(False, description="After `write`, input ends.")

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        return number_as_text(values, "job")


@dataclass(frozen=True)
class JobList:
    """`jobs`, in the order of their start.

    Each is {job: its id, command, state: "running", "exited" or "stopped" (by `stop`), running,
    exit_code: None while it runs, started: seconds since 1970, duration: seconds, written: bytes of
    output so far, told: how many of these were read}. note: what had to end meanwhile.
    """

    jobs: list[dict[str, Any]]
    note: str = ""

    def render(self) -> str:
        return "\n".join(map(_line, self.jobs)) or "No command is running in the background."


@action(
    effect=Effect.EXECUTE,
    only_tells=lambda asked: asked.action in _TELLING,
    lacks=lambda workspace: lacks_machine(workspace.services),
    beside="bash",
)
def jobs(workspace: Workspace, params: JobsParams) -> Ran | JobList:
    """Jobs that `bash` started: list, or read, write to, wait for or stop one."""
    known = workspace.services.jobs
    if params.input and params.action != "write":
        raise InvalidArguments('`input` is for `action` "write"; nothing was written.')
    if params.action == "list":
        ended = "; ".join(shorten(script, _SHOWN) for script in known.ended)
        note = ended and f"Ended, as others needed the place (start again what you need): {ended}"
        return JobList([job.facts() for job in known.all()], note)
    if not params.job:
        there = ", ".join(job.name for job in known.all()) or "none"
        raise InvalidArguments(f"`job`: which one? There are: {there}.")
    job = known.get(params.job)
    if params.action == "write":
        job.write(params.input, params.timeout, last=params.last)
    elif params.action == "wait":
        job.wait(params.timeout)
    elif params.action == "stop":
        job.kill()
    return of_job(job)


def _line(row: dict[str, Any]) -> str:
    state = "running" if row["running"] else f"exit code {row['exit_code']}"
    return f"{row['job']}: {state}, {row['duration']:.0f} s: {shorten(row['command'], _SHOWN)}"
