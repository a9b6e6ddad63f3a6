"""Tables that are read cell by cell, as lines of pipe tables."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

GROUPS = {"thead", "tbody", "tfoot"}
PARTS = {"table", "tr", "td", "th", *GROUPS}
CELLS = {"td", "th"}
_WIDEST, _TALLEST = 10, 500  # columns and rows that one cell may span
_REPEATED = 500_000  # characters of a page that cells may say again in the rows they span
PIPE = re.compile(r"(?<!\\)\|")


class Repeats:
    """What is left for cells that are told again, one for all tables of a page."""

    def __init__(self) -> None:
        self._left = _REPEATED

    def take(self, text: str) -> bool:
        """Whether there is room for one more cell with this text."""
        self._left -= len(text) + len(" | ")
        return self._left > 0


@dataclass
class Table:
    """`cells` are those of the row being read, `heads` the header cells among them.

    below: column -> rows further down that a cell still covers, and its words.
    layout: it only arranges blocks, so its cells are none.
    """

    repeats: Repeats
    cells: list[str] = field(default_factory=list)
    below: dict[int, tuple[int, str]] = field(default_factory=dict)
    _kept: dict[int, tuple[int, str]] = field(default_factory=dict)
    _spans: Mapping[str, str] = field(default_factory=dict)  # attributes of the cell being read
    heads: int = 0
    rows: int = 0
    in_head: bool = False
    in_cell: bool = False
    layout: bool = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.in_head |= tag == "thead"
        if tag in CELLS:
            self.in_cell = not self.layout
            self._spans = attributes
            self.heads += self.in_head or tag == "th"

    def end(self, tag: str) -> None:
        self.in_head &= tag != "thead"
        if tag in GROUPS:
            self.below.clear()  # no cell spans rows of another group (HTML, 4.9.12)

    def add(self, text: str) -> None:
        """The cell that ends here; one that spans rows is told again in each of them."""
        self.in_cell = False
        if self.below:
            self._cover()
        if "\n" in text:
            text = " ".join(text.split())
        if "|" in text:
            text = PIPE.sub(r"\\|", text)
        attributes = self._spans
        if not attributes or ("rowspan" not in attributes and "colspan" not in attributes):
            self.cells.append(text)
            return
        rows = _rows(attributes.get("rowspan", "")) - 1
        for words in [text, *[""] * (_span(attributes.get("colspan", ""), _WIDEST) - 1)]:
            if rows:
                self.below[len(self.cells)] = (rows, words)
            self.cells.append(words)

    def _cover(self) -> None:
        """Put what cells of the rows above say in the columns that come next."""
        while len(self.cells) in self.below:
            rows, words = self.below.pop(len(self.cells))
            if not self.repeats.take(words):
                self.below.clear()
                return
            if rows > 1:
                self._kept[len(self.cells)] = (rows - 1, words)
            self.cells.append(words)

    def take_apart(self) -> list[str]:
        """From here on it is layout. Gives the cells of the row so far."""
        self.layout, self.in_cell = True, False
        cells, self.cells = self.cells, []
        return cells

    def row(self, *, plain: bool) -> str:
        """The row that ends here, with a header line when it is the first; "" for an empty one."""
        if self.cells:
            self._cover()
        cells, heads = self.cells, self.heads
        self.below |= self._kept
        self._kept = {}
        self.cells, self.heads = [], 0
        if not any(cells):
            return ""
        self.rows += 1
        if plain:
            return "\t".join(cells)
        line = f"| {' | '.join(cells)} |"
        if self.rows > 1:
            return line
        rule = f"|{' --- |' * len(cells)}"
        headed = heads and heads >= sum(map(bool, cells))
        return f"{line}\n{rule}" if headed else f"|{'  |' * len(cells)}\n{rule}\n{line}"


def _rows(number: str) -> int:
    """0 stands for all that are left of the group."""
    return _TALLEST if number.strip() == "0" else _span(number, _TALLEST)


def _span(number: str, most: int) -> int:
    return max(1, min(int(number), most)) if re.fullmatch(r"[0-9]{1,4}", number) else 1
