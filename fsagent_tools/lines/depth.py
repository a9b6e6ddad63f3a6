"""New lines whose first line stands at another depth than the line they replace."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fsagent_tools.lines.diff import Hunk
from fsagent_tools.lines.source import indentation, text_of

WellFormed = Callable[[Hunk], bool | None]  # is the text with it? None: nobody can tell
Meant = Literal["as sent", "shifted", "doubtful"]
_SHOWN = 3  # lines of each reading
_OPENS = re.compile(
    rb"\s*([-*+]|\d+[.)])\s|.*[:{(\[]\s*$"
)  # a deeper line may follow: a list's item


@dataclass(frozen=True)
class Readings:
    """A hunk as it was sent, and with its block moved to the depth of the line at its place."""

    sent: Hunk
    shifted: Hunk
    columns: int
    usual: bool  # the surroundings have the depth that was sent, or let it be

    def verdict(self, parses: WellFormed) -> Meant:
        """Which reading is right: the one that parses, where only one does."""
        sent, shifted = parses(self.sent), parses(self.shifted)
        if sent != shifted and None not in (sent, shifted):
            return "shifted" if shifted else "as sent"
        return "as sent" if self.usual else "doubtful"

    def told(self) -> tuple[str, str]:
        """What is doubtful, and both readings."""
        sent, shifted = ("\n".join(text_of(r.new[:_SHOWN])) for r in (self.sent, self.shifted))
        change = "lose" if self.columns > 0 else "gain"
        doubt = f"The first line would {change} {abs(self.columns)} columns of indentation."
        return doubt, f"As sent:\n{sent}\nOr re-indented:\n{shifted}"


def readings(hunk: Hunk, there: Sequence[bytes], above: bytes, below: bytes) -> Readings | None:
    """Both readings of `hunk`; None when it keeps the depth, or is no block that can be moved.

    there: the lines it replaces, or the one it is put beside. above, below: the lines around it.
    """
    old = next((indentation(line) for line in there if line.strip()), None)
    new = next((indentation(line) for line in hunk.new if line.strip()), None)
    if old is None or new is None or old == new:
        return None
    if not all(line.startswith(new) for line in hunk.new if line.strip()):
        return None
    moved = tuple(old + line[len(new) :] if line.strip() else line for line in hunk.new)
    if list(moved) == list(there):
        return None  # nothing but the depth is to change
    columns = len(old.expandtabs(4)) - len(new.expandtabs(4))
    depths = indentation(above), indentation(below)
    usual = bool(_OPENS.match(above)) and old <= depths[0] < new
    if hunk.start < hunk.stop:
        usual |= columns > 0 and bool(new)  # a plain dedent
    else:
        usual |= new in depths
    return Readings(hunk, replace(hunk, new=moved), columns, usual)
