"""What several servers said about one file, put together."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fsagent_tools.errors import ToolError
from fsagent_tools.lsp.choice import Plan
from fsagent_tools.lsp.environment import Environment
from fsagent_tools.lsp.spec import Spec
from fsagent_tools.problems import Problem, by_importance

_MOST_KNOWN = 64  # files
TextErrors = tuple[str, list[Problem]]  # a text and the errors in it


@dataclass(frozen=True)
class Told:
    """The problems one server told, None for silence; old ones are from before a change, unfinished
    ones may not be all. unchecked: why they are of the syntax at most; empty when they are of
    everything. left: what it does not know besides.
    """

    problems: list[Problem] | None = None
    old: bool = False
    unfinished: bool = False
    unchecked: str = ""
    left: tuple[str, ...] = ()


@dataclass(frozen=True)
class Checked:
    """What the servers said about one file, errors first.

    `silent` names the servers that said nothing in time, `old` those whose problems are from before
    the last change, `unfinished` those that were still at work, `failed` says what went wrong with
    one while another answered, `left` what a server does not check or know, `unchecked` why a
    server did not check this file, at most its syntax; unfit: no other checker can, either.
    environment: that of Python they checked against, None when it is not known; `wanted` if one was
    looked for. relayed: one has only what a program told that it ran.
    """

    problems: list[Problem]
    servers: tuple[str, ...]
    silent: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    unchecked: Mapping[str, str] = field(default_factory=dict)
    unfit: bool = False
    environment: Environment | None = None
    wanted: bool = False
    relayed: bool = False

    def state(self, text: str) -> TextErrors | None:
        """The text that was checked and the errors in it, None where these may not be all."""
        if not self.servers or self.lacking or self.old or self.failed:
            return None
        return text, [problem for problem in self.problems if problem.severity == "error"]

    @property
    def lacking(self) -> frozenset[str]:
        """The servers that said nothing of all that there is in the file as it is."""
        return frozenset((*self.unchecked, *self.silent, *self.unfinished))


def merge(plans: Sequence[Plan], answers: Sequence[Told | ToolError]) -> Checked:
    """What the servers of `plans` told. Raises the first error if there is nothing else."""
    told = {plan.spec.name: answer for plan, answer in zip(plans, answers, strict=True)}
    failed = {name: answer for name, answer in told.items() if isinstance(answer, ToolError)}
    if len(failed) == len(told):
        raise next(iter(failed.values()))
    spoken = {name: answer for name, answer in told.items() if isinstance(answer, Told)}
    apart = {name: answer.unchecked for name, answer in spoken.items() if answer.unchecked}
    return Checked(
        by_importance(_once(list(answer.problems or ()) for answer in spoken.values())),
        tuple(told),
        tuple(name for name, answer in spoken.items() if answer.problems is None),
        tuple(name for name, answer in spoken.items() if answer.old),
        tuple(name for name, answer in spoken.items() if answer.unfinished and not answer.old),
        tuple(f"{name}: {error}" for name, error in failed.items()),
        tuple(
            f"{p.spec.name} {left}"
            for p in plans
            if p.spec.name not in apart
            for left in (*p.left, *spoken.get(p.spec.name, Told()).left)
        ),
        apart,
        any(plan.unfit for plan in plans),
        next((plan.environment for plan in plans if plan.environment), None),
        any(plan.wants_environment for plan in plans),
        any(plan.spec.helper for plan in plans),
    )


def remember(known: dict[Path, TextErrors], file: Path, state: TextErrors | None) -> None:
    """As the newest of a bounded number; nothing, if there is none."""
    if state:
        known.pop(file, None)
        known[file] = state
    for oldest in [*known][:-_MOST_KNOWN]:
        known.pop(oldest, None)


def unasked(server: str, why: str) -> Checked:
    """What is known where only `server` could be asked, and was not."""
    return Checked([], (server,), unchecked={server: first_line(why)})


def strange(problem: Problem, pattern: str) -> str:
    """What `pattern`, `Spec.stranger`, finds in it; "" for nothing."""
    found = pattern and re.search(pattern, f"{problem.code}: {problem.message}")
    return found[1] if found else ""


def fine(problem: Problem, spec: Spec) -> bool:
    """Whether it is one in the eyes of the server alone."""
    told = f"{problem.severity} {problem.code}: {problem.message}"
    return bool(spec.fine and re.search(spec.fine, told))


def muted(spec: Spec, text: str) -> str:
    """What in the text has the server tell no problem of it, "" for nothing."""
    found = spec.mutes and re.search(spec.mutes, text)
    return f"the file says {found[1]}" if found else ""


def unread(problems: Iterable[Problem], spec: Spec, folder: Path) -> dict[Problem, str]:
    """Which of them only say that the server cannot read a file that is there, and what its name
    is; a name that is no path from `folder` may be anywhere.
    """
    if "plugins" in spec.options:  # with which it can
        return {}
    named = {problem: strange(problem, spec.unread) for problem in problems}
    there = {p: name for p, name in named.items() if name}
    return {p: n for p, n in there.items() if not n.startswith(".") or (folder / n).exists()}


def first_line(said: str) -> str:
    return said.strip().partition("\n")[0].strip().removesuffix(".")


def short_cause(said: str) -> str:
    """The first and the last of what the first line says one for the other (`a: b: error: c`)."""
    head, _, reasons = first_line(said).partition(": ")
    last = reasons.rpartition("error: ")[2]
    return f"{head}: {last}" if last else head


def _once(answers: Iterable[list[Problem]]) -> list[Problem]:
    """An error that two servers place at the same characters is one: the first has the word."""
    told: list[Problem] = []
    for answer in answers:
        known = {(p.severity, p.line, p.column, p.end) for p in told if p.severity == "error"}
        told += [p for p in answer if (p.severity, p.line, p.column, p.end) not in known]
    return told
