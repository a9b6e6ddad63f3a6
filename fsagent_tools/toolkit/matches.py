"""What a search found, as lines: one after the other, or grouped by file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Any

from fsagent_tools.lines.ids import Style
from fsagent_tools.names import display
from fsagent_tools.search.walk import order

BYTES_OF_RESULTS = 51_200  # of one answer, as of `read`
COUNTED = 10  # times as many results as are shown are counted
_KEYS = ("file", "line", "count", "line_id", "content")


@dataclass(frozen=True)
class Matches:
    """`matches` are {file, line, content, line_id where known}, {file}, or {file, count}, by mode.

    around: context lines, as matches. truncated: there are more. note: what else to know.
    """

    matches: list[dict[str, Any]]
    count: int
    truncated: bool
    around: list[dict[str, Any]]
    note: str
    _style: Style

    def render(self) -> str:
        """By file, its path once, but in the style whose form is documented."""
        if self._style.name == "tag" or not (self.matches and "content" in self.matches[0]):
            return self.plain()
        rows = sorted([*self.matches, *self.around], key=_place)
        files = groupby(rows, key=lambda row: display(row["file"]))
        return "\n".join(line for file, found in files for line in self._group(file, [*found]))

    def plain(self) -> str:
        """`file:line:ID:text` for each."""
        lines = self._with_context() if self.around else map(self._line, self.matches)
        return "\n".join(lines)

    def _group(self, file: str, rows: list[dict[str, Any]]) -> Iterator[str]:
        yield file
        last = rows[0]["line"] - 1
        for row in rows:
            if self.around and row["line"] != last + 1:
                yield "--"
            last, line_id = row["line"], row.get("line_id")
            text = self._style.line(line_id, row["content"]) if line_id else row["content"]
            yield f"{last} {text}" if line_id else f"{last}:{text}"

    def _with_context(self) -> Iterator[str]:
        rows = [(m, ":") for m in self.matches] + [(m, "-") for m in self.around]
        rows.sort(key=lambda row: _place(row[0]))
        last: tuple[str, int] | None = None
        for row, mark in rows:
            if last and last != (row["file"], row["line"] - 1):
                yield "--"
            yield self._line(row, mark)
            last = row["file"], row["line"]

    def _line(self, match: dict[str, Any], mark: str = ":") -> str:
        shown = {**match, "file": display(match["file"])}
        if "line_id" in match:
            shown["line_id"] = self._style.label(match["line_id"])
        return mark.join(str(shown[key]) for key in _KEYS if key in shown)


def fitting(sizes: Iterable[int], most: int = BYTES_OF_RESULTS) -> int:
    """How many of the first results, of so many bytes each, one answer holds; one at least."""
    return max(1, sum(total <= most for total in accumulate(sizes)))


def first_of(shown: int, found: int, most: int) -> str:
    """How many of the results are shown. most: after which the search ended."""
    total = f"{found:,}" if found <= most else f"more than {most:,}"
    return f"First {shown:,} of {total} results"


def _place(row: dict[str, Any]) -> tuple[Any, int]:
    return order(row["file"]), row["line"]
