"""A problem in a file, whoever found it: a language server or a built-in validator."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

SEVERITIES = ("error", "warning", "information", "hint")
Parsing = bool | Literal["beyond"] | None  # does a text parse? None: nobody can tell


@dataclass(frozen=True)
class Problem:
    """One finding. `line` and `column` count from 1, `column` in characters (code points).

    `end` is (line, column) of the first character after the range, None when it is not known.
    `severity` is one of `SEVERITIES`; `source` and `code` are empty when there are none.
    """

    line: int
    column: int
    severity: str
    message: str
    source: str = ""
    code: str = ""
    end: tuple[int, int] | None = None

    def __str__(self) -> str:
        """`line:column: severity: message [source code]`, on one line."""
        label = " ".join(filter(None, (self.source, self.code)))
        said = " ".join(self.message.split())
        return f"{self.line}:{self.column}: {self.severity}: {said}" + f" [{label}]" * bool(label)

    def to_dict(self) -> dict[str, Any]:
        end = self.end and {"line": self.end[0], "column": self.end[1]}
        return {**vars(self), "end": end}


def by_importance(problems: Iterable[Problem]) -> list[Problem]:
    """Errors first, then in the order of the file; exact duplicates once."""
    return sorted(
        dict.fromkeys(problems), key=lambda p: (SEVERITIES.index(p.severity), p.line, p.column)
    )


def count(problems: Iterable[Problem]) -> str:
    """`2 errors, 1 warning`; empty when there is none."""
    found = [problem.severity for problem in problems]
    parts = []
    for severity in SEVERITIES:
        if number := found.count(severity):
            noun = "information message" if severity == "information" else severity
            parts.append(f"{number} {noun}{'s' * (number != 1)}")
    return ", ".join(parts)


def introduced(
    before: Sequence[Problem], after: Sequence[Problem], old: str, new: str
) -> list[Problem]:
    """The problems in `after` (of the text `new`) that `before` (of `old`) did not have.

    Compared by what is said about which line, wherever the line moved to. A parser stops at its
    first error, so where `old` did not parse, a syntax error outside the lines that changed was
    hidden by it, not made.
    """
    olds, news = old.split("\n"), new.split("\n")
    known = Counter(_identity(problem, olds) for problem in before)
    fresh = []
    for problem in after:
        identity = _identity(problem, news)
        if known[identity]:
            known[identity] -= 1
        else:
            fresh.append(problem)
    if not any(problem.code == "syntax" for problem in before):
        return fresh
    same = min(len(olds), len(news))
    head = next((n for n in range(same) if olds[n] != news[n]), same)
    tail = next((n for n in range(same - head) if olds[-1 - n] != news[-1 - n]), same - head)
    return [p for p in fresh if p.code != "syntax" or head <= p.line <= len(news) - tail + 1]


def _identity(problem: Problem, lines: Sequence[str]) -> tuple[str, ...]:
    line = lines[problem.line - 1].strip() if problem.line <= len(lines) else ""
    return problem.source, problem.code, problem.message, line
