"""What every dialect does: arguments for a case, and the next call after a refusal."""

from typing import Any, NamedTuple, Protocol

from benchmark.case import Case
from benchmark.hunks import Hunk

Arguments = dict[str, Any]


class Row(NamedTuple):
    """A line as a tool shows it; mark: None where the line has none."""

    mark: str | None
    prefix: str
    text: str


class Dialect(Protocol):
    """quoting: names lines by their text. as_meant: slips that cannot be made in it."""

    quoting: bool
    as_meant: frozenset[str]

    def widen(self, hunk: Hunk) -> Hunk:
        """The hunk, as large as it must be to be named at all."""

    def call(self, case: Case, path: str, read: str) -> Arguments | None:
        """What is sent by who read this; None where the slip cannot happen."""

    def again(self, case: Case, path: str, read: str, error: str) -> Arguments | None:
        """The call that was meant; None where what it needs is not there.

        Lines and marks are the error's; where it shows none, those of the first call, if the error
        is not about them.
        """


def place(rows: list[Row], text: str, above: str | None, below: str | None) -> int | None:
    """Which of the rows is the line of this text: the one between the right neighbours."""
    found = [n for n, row in enumerate(rows) if row.text == text and row.mark is not None]
    if not found:
        return None

    def fits(at: int) -> int:
        before = rows[at - 1].text if at else None
        after = rows[at + 1].text if at + 1 < len(rows) else None
        return (before == above) + (after == below)

    best = max(found, key=fits)
    return best if text.strip() or fits(best) == 2 else None
