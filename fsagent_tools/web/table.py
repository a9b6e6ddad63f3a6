"""Tables that are read cell by cell, as lines of pipe tables."""

import re
from dataclasses import dataclass, field

PARTS = {"table", "thead", "tr", "td", "th"}
CELLS = {"td", "th"}
_WIDEST = 10  # columns that one cell may span
PIPE = re.compile(r"(?<!\\)\|")


@dataclass
class Table:
    """`cells` are those of the row being read, `heads` the header cells among them.

    layout: it only arranges blocks, so its cells are none.
    """

    cells: list[str] = field(default_factory=list)
    heads: int = 0
    rows: int = 0
    in_head: bool = False
    in_cell: bool = False
    layout: bool = False

    def start(self, tag: str) -> None:
        self.in_head |= tag == "thead"
        if tag in CELLS:
            self.in_cell = not self.layout
            self.heads += self.in_head or tag == "th"

    def end(self, tag: str) -> None:
        self.in_head &= tag != "thead"

    def add(self, text: str, span: str) -> None:
        """The cell that ends here; span: its colspan attribute."""
        self.in_cell = False
        self.cells.append(PIPE.sub(r"\\|", " ".join(text.split())))
        columns = min(int(span), _WIDEST) if re.fullmatch(r"[0-9]{1,4}", span) else 1
        self.cells += [""] * (columns - 1)

    def take_apart(self) -> list[str]:
        """From here on it is layout. Gives the cells of the row so far."""
        self.layout, self.in_cell = True, False
        cells, self.cells = self.cells, []
        return cells

    def row(self, *, plain: bool) -> str:
        """The row that ends here, with a header line when it is the first; "" for an empty one."""
        cells, heads = self.cells, self.heads
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
