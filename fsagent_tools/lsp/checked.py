"""What servers said of one file: what counts of it, and put together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from fsagent_tools.errors import ToolError
from fsagent_tools.lsp.asked import Asked
from fsagent_tools.lsp.choice import Plan
from fsagent_tools.lsp.documents import Finding, first_line
from fsagent_tools.lsp.excluded import excluded
from fsagent_tools.lsp.positions import Positions
from fsagent_tools.lsp.server import Server
from fsagent_tools.lsp.spec import Spec
from fsagent_tools.problems import Problem, by_importance

# Whether its problems are all that there are. Else it told those of the syntax at most
# ("unchecked"), nothing in time ("silent"), those from before the last change ("old") or so far
# ("unfinished"); or it broke ("failed").
_State = Literal["checked", "unchecked", "silent", "old", "unfinished", "failed"]


@dataclass(frozen=True)
class Told:
    """What one server told; why it did not check, or failed; what it does not know besides."""

    server: str
    problems: Sequence[Problem] = ()
    state: _State = "checked"
    why: str = ""
    left: tuple[str, ...] = ()


@dataclass(frozen=True)
class Checked:
    """What servers told of one file; the problems of all, errors first."""

    told: tuple[Told, ...] = ()
    problems: list[Problem] = field(default_factory=list)

    def those(self, *states: _State) -> list[str]:
        return [each.server for each in self.told if each.state in states]

    @property
    def unchecked(self) -> list[str]:
        """Those that told of the syntax at most."""
        return self.those("unchecked")

    @property
    def left(self) -> list[str]:
        """What the others do not check or know."""
        others = (each for each in self.told if each.state != "unchecked")
        return [f"{each.server} {left}" for each in others for left in each.left]


def weighed(plan: Plan, server: Server, asked: Asked, answer: Finding | None, root: Path) -> Told:
    """What counts of an answer, by the signs of the server and what the project's settings say."""
    spec = plan.spec
    if answer is None:
        return Told(spec.name, (), "unchecked" if plan.unchecked else "silent", plan.unchecked)
    places = Positions(answer.text, server.encoding)
    found = [places.problem(item, spec.name, root) for item in answer.items]
    said = {each: f"{each.severity} {each.code}: {each.message}" for each in found}
    strange = {each: spec.sign("stranger", said[each]) for each in found}
    fine = {each for each in found if spec.sign("fine", said[each])}
    problems = [p for p in found if not (strange[p] or p in fine)]
    why = plan.unchecked or first_line(next(filter(None, strange.values()), answer.trouble))
    if plan.left and (causes := [p for p in problems if spec.sign("blind", said[p])]):
        why = f"{spec.sign('blind', said[causes[0]])}; it {plan.left[0]}"
        problems = causes
    if not why and not problems:
        why = _left_out(spec, asked, root)
    left = (*plan.left, *server.left)
    return Told(spec.name, problems, _state(plan, answer, why), why, left)


def _left_out(spec: Spec, asked: Asked, root: Path) -> str:
    """By what the project chose that the file is not checked."""
    mute = spec.sign("mute", asked.text)
    return excluded(spec.name, asked.file, root) or (mute and f"the file says {mute}")


def _state(plan: Plan, answer: Finding, why: str) -> _State:
    if plan.unchecked:
        return "unchecked"
    if answer.old or answer.unfinished:
        return "old" if answer.old else "unfinished"
    return "unchecked" if why else "checked"


def merge(plans: Sequence[Plan], answers: Sequence[Told | ToolError]) -> Checked:
    """What the servers of `plans` told. Raises the first error if there is nothing else."""
    errors = [answer for answer in answers if isinstance(answer, ToolError)]
    if len(errors) == len(answers):
        raise errors[0]
    told = tuple(
        Told(plan.spec.name, (), "failed", str(answer)) if isinstance(answer, ToolError) else answer
        for plan, answer in zip(plans, answers, strict=True)
    )
    return Checked(told, by_importance(_once(each.problems for each in told)))


def _once(answers: Iterable[Sequence[Problem]]) -> list[Problem]:
    """An error that two servers place at the same characters is one: the first has the word."""
    told: list[Problem] = []
    for answer in answers:
        known = {(p.severity, p.line, p.column, p.end) for p in told if p.severity == "error"}
        told += [p for p in answer if (p.severity, p.line, p.column, p.end) not in known]
    return told
