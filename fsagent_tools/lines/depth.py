"""New lines whose first line stands at another depth than the line they replace."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fsagent_tools.lines.diff import Hunk
from fsagent_tools.lines.source import text_of

WellFormed = Callable[[Hunk], bool | None]  # is the text with it? None: nobody can tell
Meant = Literal["as sent", "shifted", "doubtful"]
_SHOWN = 3  # lines of each reading


@dataclass(frozen=True)
class Readings:
    """A hunk as it was sent, and with its block moved to the depth of the line at its place."""

    sent: Hunk
    shifted: Hunk
    columns: int
    flat: bool  # the first line has no indentation at all, where there was some

    def verdict(self, parses: WellFormed) -> Meant:
        """Which reading is right: the one that parses, where only one does."""
        sent, shifted = parses(self.sent), parses(self.shifted)
        if shifted and not sent:
            return "shifted"
        beside = self.sent.start == self.sent.stop
        open_ = sent == shifted and not (beside and sent is not False)
        return "doubtful" if self.flat and open_ else "as sent"

    def told(self) -> tuple[str, str]:
        """What is doubtful, and both readings."""
        sent, shifted = ("\n".join(text_of(r.new[:_SHOWN])) for r in (self.sent, self.shifted))
        doubt = f"The first line would lose {self.columns} columns of its indentation."
        return doubt, f"As sent:\n{sent}\nOr re-indented:\n{shifted}"


def readings(hunk: Hunk, there: Sequence[bytes]) -> Readings | None:
    """Both readings of `hunk`; None when it keeps the depth, or is no block that can be moved.

    there: the lines it replaces, or the one it is put beside.
    """
    old = next((_indentation(line) for line in there if line.strip()), None)
    new = next((_indentation(line) for line in hunk.new if line.strip()), None)
    if old is None or new is None or old == new:
        return None
    if not all(line.startswith(new) for line in hunk.new if line.strip()):
        return None
    moved = tuple(old + line[len(new) :] if line.strip() else line for line in hunk.new)
    if list(moved) == list(there):
        return None  # nothing but the depth is to change
    columns = len(old.expandtabs(4)) - len(new.expandtabs(4))
    return Readings(hunk, replace(hunk, new=moved), columns, not new)


def _indentation(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip(b" \t"))]
