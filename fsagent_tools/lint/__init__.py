"""Syntax checks around a write: what is wrong with a text, and what a change made wrong."""

from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Literal

from fsagent_tools.errors import Cancelled, LintRejected, ToolError
from fsagent_tools.lint.introduced import introduced
from fsagent_tools.lint.judging import broken, judge
from fsagent_tools.lint.places import Means, ServerCheck, Source, Undecided, due
from fsagent_tools.lint.validators import (
    MAX_LINTED_BYTES,
    decoded,
    problems_of,
    validator_of,
)
from fsagent_tools.problems import Problem, by_importance, count

__all__ = [
    "Means",
    "Report",
    "ServerCheck",
    "broken",
    "due",
    "judge",
    "report",
    "review",
]
_SHOWN = 3  # problems in the line of text
_UNCHECKED = frozenset(("", ".txt", ".md", ".rst", ".csv", ".tsv", ".log", ".svg"))
LintMode = Literal["report", "off", "reject"]


@dataclass(frozen=True)
class Report:
    """What a write made wrong, errors first. `note` says why there was no check."""

    problems: list[Problem] = field(default_factory=list)
    note: str = ""

    def line(self) -> str:
        """One line for the model, empty when there is nothing to say."""
        if self.note:
            return f"lint: not checked, {self.note}"
        return summary(self.problems)

    def to_list(self) -> list[dict[str, Any]]:
        """JSON-able, for the result field `lint`."""
        return [problem.to_dict() for problem in self.problems]


def summary(problems: list[Problem]) -> str:
    """One line: counts, then the first few problems. Empty when there are none."""
    if not problems:
        return ""
    shown = "; ".join(str(problem) for problem in problems[:_SHOWN])
    more = len(problems) - _SHOWN
    return f"lint: {count(problems)}: {shown}" + f"; and {more} more" * (more > 0)


def report(name: str, before: bytes | None, after: bytes, means: Means | None = None) -> Report:
    """What is wrong in `after` that was not in `before` (None: there was no file).

    A language server is asked first; without an answer the built-in validator is. Takes at most
    `LINT_SECONDS`. Never fails because of what the text holds; only `Cancelled` passes through.
    """
    means = means or Means()
    try:
        return Report(by_importance(_new_problems(name, before, after, means)))
    except Undecided as error:
        return Report(note=str(error))
    except Cancelled:
        raise
    except ToolError:
        return Report()
    except Exception as error:  # noqa: BLE001  # a validator's bug must not cost the write
        return Report(note=f"the validator failed ({type(error).__name__})")


def review(
    mode: LintMode, name: str, before: bytes | None, after: bytes, means: Means | None = None
) -> Report:
    """What a write has to do before it commits `after` to the file `name`.

    `off`: nothing. `report`: `report`. `reject`: that too, but first raises `LintRejected` when
    `after` has a syntax error that `before` had not.
    """
    if mode == "off":
        return Report()
    means = means or Means()
    if mode == "reject":
        syntax = report(name, before, after, replace(means, ask=None))
        errors = [problem for problem in syntax.problems if problem.severity == "error"]
        if errors:
            raise LintRejected(
                f"{name} would have a syntax error: {summary(errors).removeprefix('lint: ')}.",
                hint="Nothing was written. Correct the text and write again.",
                details={"lint": [problem.to_dict() for problem in errors]},
            )
        if means.ask is None:
            return syntax
    return report(name, before, after, means)


def _new_problems(name: str, before: bytes | None, after: bytes, means: Means) -> list[Problem]:
    new = decoded(name, after)
    old = "" if before is None else decoded(name, before)

    def validate(text: str) -> list[Problem]:
        return problems_of(Source(name, text, means))

    finder: ServerCheck = validate
    problems = None
    if means.ask and len(after) <= MAX_LINTED_BYTES:
        finder = means.ask
        problems = finder(new)
    if problems is None:
        suffix = PurePosixPath(name).suffix.lower()
        if validator_of(name) is None and suffix not in _UNCHECKED:
            raise Undecided(f"there is no validator for {suffix} files")
        finder = validate
        problems = finder(new)
    if not problems or before is None:
        return problems or []
    return introduced(finder(old) or [], problems, old, new)
