"""What the checks share: a place in a text, and why it was not checked."""

from fsagent_tools.problems import Problem

DOUBT = "syntax, by a grammar that may be older than the text"


class NotChecked(Exception):
    """No parser can say whether a text is right, for a reason; is it too large for it?"""

    def __init__(self, reason: str, *, too_large: bool = False) -> None:
        super().__init__(reason)
        self.too_large = too_large


def found(text: str, start: int, stop: int, message: str, source: str) -> Problem:
    """A syntax error at the characters `start` to `stop`."""
    newline = "\r" if "\n" not in text and "\r" in text else "\n"  # as `text.newline_of` has it
    (line, column), end = (
        (text.count(newline, 0, at) + 1, at - text.rfind(newline, 0, at)) for at in (start, stop)
    )
    return Problem(line, column, "error", message, source, "syntax", end)
