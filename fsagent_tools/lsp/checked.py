"""What servers said of one file: what counts of it, and put together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from fsagent_tools.errors import ToolError
from fsagent_tools.lsp.asked import Asked
from fsagent_tools.lsp.choice import Plan
from fsagent_tools.lsp.documents import Finding, first_line
from fsagent_tools.lsp.environment import Environment
from fsagent_tools.lsp.excluded import excluded
from fsagent_tools.lsp.positions import Positions
from fsagent_tools.lsp.server import Server
from fsagent_tools.lsp.spec import Spec
from fsagent_tools.problems import Problem, by_importance

TextErrors = tuple[str, list[Problem]]  # a text and the errors in it
# Whether its problems are all that there are. Else it told those of the syntax at most
# ("unchecked", and "unfit" where no other checker could tell more), nothing in time ("silent"),
# those from before the last change ("old") or so far ("unfinished"); or it broke ("failed").
_State = Literal["checked", "unchecked", "unfit", "silent", "old", "unfinished", "failed"]


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
    """What servers, and commands in their place, told of one file; the problems of all, errors
    first.

    environment: that of Python they checked against, None when it is not known; `wanted` if one was
    looked for. relayed: one has only what a program told that it ran.
    """

    told: tuple[Told, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    environment: Environment | None = None
    wanted: bool = False
    relayed: bool = False

    def those(self, *states: _State) -> list[str]:
        return [each.server for each in self.told if each.state in states]

    @property
    def unchecked(self) -> list[str]:
        """Those that told of the syntax at most."""
        return self.those("unchecked", "unfit")

    @property
    def left(self) -> list[str]:
        """What the others do not check or know."""
        others = (each for each in self.told if each.state not in ("unchecked", "unfit"))
        return [f"{each.server} {left}" for each in others for left in each.left]

    def errors(self, text: str) -> TextErrors | None:
        """The text that was checked and the errors in it, None where these may not be all."""
        if not self.told or len(self.those("checked")) < len(self.told):
            return None
        return text, [problem for problem in self.problems if problem.severity == "error"]


def weighed(plan: Plan, server: Server, asked: Asked, answer: Finding | None, root: Path) -> Told:
    """What counts of an answer, by the signs of the server and what the project's settings say."""
    spec = plan.spec
    if answer is None:
        return Told(spec.name, (), "unfit" if plan.unfit else "silent", plan.unchecked)
    places, folder = Positions(answer.text, server.encoding), asked.file.parent
    found = [places.problem(item, spec.name, root) for item in answer.items]
    said = {each: f"{each.severity} {each.code}: {each.message}" for each in found}
    strange = {each: spec.sign("stranger", said[each]) for each in found}
    missed = {each: _unread(spec, said[each], folder) for each in found}
    fine = {each for each in found if spec.sign("fine", said[each])}
    problems = [p for p in found if not (strange[p] or missed[p] or p in fine)]
    why = plan.unchecked or first_line(next(filter(None, strange.values()), answer.trouble))
    if plan.left and (causes := [p for p in problems if spec.sign("blind", said[p])]):
        why = f"{spec.sign('blind', said[causes[0]])}; it {plan.left[0]}"
        problems = causes
    chosen = "" if why or problems else _left_out(spec, asked, root)
    read = (f"does not read {name}" for name in dict.fromkeys(missed.values()) if name)
    left = (*plan.left, *server.left, *filter(None, (answer.left,)), *read)
    return Told(spec.name, problems, _state(plan, answer, why, chosen), why or chosen, left)


def _left_out(spec: Spec, asked: Asked, root: Path) -> str:
    """By what the project chose that the file is not checked, which any other checker goes by."""
    mute = spec.sign("mute", asked.text)
    return excluded(spec.name, asked.file, root) or (mute and f"the file says {mute}")


def _unread(spec: Spec, said: str, folder: Path) -> str:
    """The name of a file that is there, but that the server cannot read; one that is no path from
    `folder` may be anywhere.
    """
    name = "" if "plugins" in spec.options else spec.sign("unread", said)
    return name if not name.startswith(".") or (folder / name).exists() else ""


def _state(plan: Plan, answer: Finding, why: str, chosen: str) -> _State:
    if plan.unfit:
        return "unfit"
    if answer.old or answer.unfinished:
        return "old" if answer.old else "unfinished"
    return "unchecked" if why else "unfit" if chosen else "checked"


def merge(plans: Sequence[Plan], answers: Sequence[Told | ToolError]) -> Checked:
    """What the servers of `plans` told. Raises the first error if there is nothing else."""
    errors = [answer for answer in answers if isinstance(answer, ToolError)]
    if len(errors) == len(answers):
        raise errors[0]
    told = tuple(
        Told(plan.spec.name, (), "failed", str(answer)) if isinstance(answer, ToolError) else answer
        for plan, answer in zip(plans, answers, strict=True)
    )
    return Checked(
        told,
        by_importance(_once(each.problems for each in told)),
        next((plan.environment for plan in plans if plan.environment), None),
        any(plan.wants_environment for plan in plans),
        any(plan.spec.helper for plan in plans),
    )


def _once(answers: Iterable[Sequence[Problem]]) -> list[Problem]:
    """An error that two servers place at the same characters is one: the first has the word."""
    told: list[Problem] = []
    for answer in answers:
        known = {(p.severity, p.line, p.column, p.end) for p in told if p.severity == "error"}
        told += [p for p in answer if (p.severity, p.line, p.column, p.end) not in known]
    return told
