"""Where in a text something stands, counted from 1 in lines and characters."""

from fsagent_tools.problems import Problem


class Undecided(Exception):
    """The validator could not decide: too deep, too slow, or a part of it is not installed."""


def place(text: str, offset: int) -> tuple[int, int]:
    """Line and column of `text[offset]`; a line ends as `text.newline_of` says."""
    newline = "\r" if "\n" not in text and "\r" in text else "\n"
    return text.count(newline, 0, offset) + 1, offset - text.rfind(newline, 0, offset)


def found(text: str, span: tuple[int, int], message: str, source: str) -> Problem:
    """A syntax error at the characters `span`."""
    line, column = place(text, span[0])
    end = place(text, max(span))
    return Problem(line, column, "error", message, source, "syntax", end)
