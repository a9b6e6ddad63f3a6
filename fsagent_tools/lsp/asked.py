"""One question to the servers, and why none of them starts for it."""

from dataclasses import dataclass
from pathlib import Path

from fsagent_tools.errors import LanguageServerFailed, TimedOut
from fsagent_tools.lsp.choice import Plan
from fsagent_tools.lsp.client import Refused


@dataclass(frozen=True)
class Asked:
    """One question; `until` is monotonic time, `timeout` the seconds it stands for."""

    file: Path
    text: str
    timeout: float
    until: float


def not_started(error: BaseException, plan: Plan, asked: Asked) -> BaseException:
    name, install = plan.spec.name, plan.spec.install
    match error:
        case TimedOut():
            return late(plan, asked)
        case Refused():
            return LanguageServerFailed(f"{name} refused to start: {error}.")
        case LanguageServerFailed():  # often a program that is there in name only
            hint = f"{error.hint} To install it: {install}.".lstrip()
            return LanguageServerFailed(error.message, hint=hint)
    return error


def late(plan: Plan, asked: Asked) -> TimedOut:
    return TimedOut(
        f"{plan.spec.name} did not start within {asked.timeout:g} s; it was stopped.",
        hint="Try again. Or raise `timeout`.",
    )
