"""Where in a text something stands, counted from 1 in lines and characters."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

from fsagent_tools.problems import Problem
from fsagent_tools.process.programs import ALL_PROGRAMS, Programs

LATE = "it takes longer than a write waits: run a checker on the file"


class Undecided(Exception):
    """The validator could not decide: too deep, too slow, or a part of it is not installed."""


class Foreign(Undecided):
    """The text is of another language than its name says, and what checks that one is wrong."""


class Steps:
    """How often a parser may go on: a budget that is the same on any machine."""

    def __init__(self, most: int) -> None:
        self.left = most

    @property
    def over(self) -> bool:
        return self.left <= 0


@dataclass(frozen=True)
class Source:
    """A text to check under the name of its file, until a monotonic time or as many steps. python:
    finds the version of the project's Python, empty when it is not known. programs: that may be
    run. typescript: finds the library of TypeScript, empty when there is none.
    """

    name: str
    text: str
    until: float
    python: Callable[[], str] = str
    programs: Programs = ALL_PROGRAMS
    typescript: Callable[[], str] = str
    steps: Steps | None = None

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    def go_on(self) -> None:
        """Raises `Undecided` when the time is up."""
        if self.late():
            raise Undecided(LATE)

    def late(self) -> bool:
        if self.steps:
            self.steps.left -= 1
            return self.steps.over
        return time.monotonic() > self.until


def place(text: str, offset: int) -> tuple[int, int]:
    """Line and column of `text[offset]`; a line ends as `text.newline_of` says."""
    newline = "\r" if "\n" not in text and "\r" in text else "\n"
    return text.count(newline, 0, offset) + 1, offset - text.rfind(newline, 0, offset)


def found(text: str, span: tuple[int, int], message: str, source: str) -> Problem:
    """A syntax error at the characters `span`."""
    line, column = place(text, span[0])
    end = place(text, max(span))
    return Problem(line, column, "error", message, source, "syntax", end)
