"""Where in a text something stands, counted from 1 in lines and characters."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from fsagent_tools.policy.programs import ALL_PROGRAMS, Programs
from fsagent_tools.problems import Problem

LINT_SECONDS = 0.8  # that checks take at most, so that a write waits less than 1 s
ServerCheck = Callable[[str], list[Problem] | None]  # text -> problems, None: no answer
LATE = "it takes longer than a write waits: run a checker on the file"


class Undecided(Exception):
    """The validator could not decide: too deep, too slow, or a part of it is not installed."""


class Steps:
    """How often a parser may go on: a budget that is the same on any machine."""

    def __init__(self, most: int) -> None:
        self.left = most

    @property
    def over(self) -> bool:
        return self.left <= 0


def due(began: float | None = None) -> float:
    """When a check that begins then, now by default, has to be over, by the monotonic clock."""
    return (time.monotonic() if began is None else began) + LINT_SECONDS


@dataclass(frozen=True)
class Means:
    """What a check may use beyond the text: a language server, asked first; the programs that may
    be run; and the time until when, or as many steps instead.
    """

    ask: ServerCheck | None = None
    programs: Programs = ALL_PROGRAMS
    until: float = field(default_factory=due)
    steps: Steps | None = None


@dataclass(frozen=True)
class Source:
    """A text to check under the name of its file."""

    name: str
    text: str
    means: Means = field(default_factory=Means)

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    def go_on(self) -> None:
        """Raises `Undecided` when the time is up."""
        if self.late():
            raise Undecided(LATE)

    def late(self) -> bool:
        if steps := self.means.steps:
            steps.left -= 1
            return steps.over
        return time.monotonic() > self.means.until


def place(text: str, offset: int) -> tuple[int, int]:
    """Line and column of `text[offset]`; a line ends as `text.newline_of` says."""
    newline = "\r" if "\n" not in text and "\r" in text else "\n"
    return text.count(newline, 0, offset) + 1, offset - text.rfind(newline, 0, offset)


def found(text: str, span: tuple[int, int], message: str, source: str) -> Problem:
    """A syntax error at the characters `span`."""
    line, column = place(text, span[0])
    end = place(text, max(span))
    return Problem(line, column, "error", message, source, "syntax", end)
