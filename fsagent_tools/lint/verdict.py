"""What a write made wrong in a file, who looked, and whether it may be written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

from fsagent_tools.encoding import decode
from fsagent_tools.errors import LintRejected, ToolError
from fsagent_tools.lint.checks import has_parser, syntax_problems
from fsagent_tools.lint.source import DOUBT, NotChecked
from fsagent_tools.problems import Problem, by_importance, count, introduced

LintMode = Literal["report", "off", "reject"]
_MAX_SHOWN = 3  # problems in the line for the model
_NO_SYNTAX = frozenset(("", ".txt", ".md", ".rst", ".csv", ".tsv", ".log", ".svg"))


@dataclass(frozen=True)
class ServerAnswer:
    """The problems that language servers found in a text, who answered, and why others did not."""

    problems: Sequence[Problem] = ()
    answered: tuple[str, ...] = ()
    missing: str = ""


ServerCheck = Callable[[str], ServerAnswer]


@dataclass(frozen=True)
class Report:
    """What a write made wrong, errors first; scope: who looked; note: why nobody did."""

    problems: list[Problem] = field(default_factory=list)
    scope: str = ""
    note: str = ""

    def line(self) -> str:
        """One line for the model, "" for a file that has no syntax."""
        if self.note:
            return f"lint: not checked: {self.note}"
        told = summary(self.problems) if self.problems else "no new problems"
        return f"lint: {told} ({self.scope})" if self.scope else ""

    def to_list(self) -> list[dict[str, Any]]:
        """JSON-able, for the result field `lint`."""
        return [problem.to_dict() for problem in self.problems]


def summary(problems: Sequence[Problem]) -> str:
    """Counts, then the first few problems."""
    more = f"; and {len(problems) - _MAX_SHOWN} more" * (len(problems) > _MAX_SHOWN)
    return f"{count(problems)}: {'; '.join(map(str, problems[:_MAX_SHOWN]))}{more}"


def review(
    mode: LintMode, name: str, before: bytes | None, after: bytes, ask: ServerCheck | None = None
) -> Report:
    """What a write of `after` over `before`, None for a new file, makes wrong in the file `name`.

    `ask` tells what language servers say of a text, where there are any. Raises `LintRejected` if
    `mode` is "reject" and `after` has a new syntax error that is not doubtful.
    """
    try:
        new, old = decode(after, name).utf8.decode(), decode(before or b"", name).utf8.decode()
    except ToolError:
        return Report()
    problems, note = list[Problem](), ""
    try:
        problems = syntax_problems(name, new)
        if problems and before is not None:
            problems = introduced(syntax_problems(name, old), problems, old, new)
    except NotChecked as reason:
        note = str(reason)
    errors = by_importance(each for each in problems if each.severity == "error")
    if mode == "reject" and errors:
        raise LintRejected(
            f"{name} would have a syntax error: {summary(errors)}.",
            hint="Nothing was written. Correct the text and write again.",
            details={"lint": [problem.to_dict() for problem in errors]},
        )
    answer = ask(new) if ask else ServerAnswer()
    if ask and answer.problems and answer.answered and before is not None:
        earlier = ask(old)
        fresh = introduced(earlier.problems, answer.problems, old, new)
        answer = ServerAnswer(fresh, earlier.answered, earlier.missing)
    if answer.answered:  # a server knows the language better than a grammar
        lines = {problem.line for problem in problems}
        others = [p for p in answer.problems if p.line not in lines or p.code != "syntax"]
        problems = [p for p in problems if DOUBT not in p.message] + others
    elif note:
        if not has_parser(name) and PurePosixPath(name).suffix.lower() in _NO_SYNTAX:
            return Report()
        return Report(note="; ".join(filter(None, (note, answer.missing))))
    looked = ", ".join((*(() if note else ("syntax",)), *answer.answered))
    only = " only" * (not answer.answered or bool(answer.missing))
    return Report(
        by_importance(problems), looked + only + f": {answer.missing}" * bool(answer.missing)
    )
