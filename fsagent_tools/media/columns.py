"""The lines of a PDF page by where their characters stand: words apart, columns by tabs.

PDFium runs the cells of a table together where nothing but their place tells them apart.
"""

import ctypes
from dataclasses import dataclass
from itertools import groupby
from typing import Any

SPACE, COLUMN = 0.15, 1.0  # gaps between characters, in heights of a line
_LOOSE = 2  # times `SPACE` that characters of one run may be apart, as in a spaced heading
_WIDE = 0.56  # heights: the mean width of the characters of a line without gaps is below
_MOST = 20_000  # characters of a page that are looked at one by one
_NOTHING = {0, 0xFFFE}  # no character, and a hyphen that ends a line


@dataclass
class Cell:
    left: float
    right: float
    text: str


def page_text(content: Any) -> str:
    """What pypdfium2's text page says; the order is that of the page's own content."""
    text: str = content.get_text_bounded().replace("\r\n", "\n").strip()
    if content.count_chars() > _MOST or not _has_gaps(content, text):
        return text
    runs = groupby(_lines(content), key=lambda line: len(line) > 1)
    found = [row for tabular, run in runs for row in (_aligned if tabular else _plain)([*run])]
    return "\n".join(found).strip().encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _has_gaps(content: Any, text: str) -> bool:
    """Whether any characters of a line may stand apart: a look that is cheaper than at each."""
    boxes = [content.get_rect(n) for n in range(content.count_rects())]
    height, bottom, right = 0.0, 0.0, 0.0
    wide = 0.0
    for left, low, end, high in boxes:
        if low < bottom + height and high > bottom and left - right > SPACE * height:
            return True
        height, bottom, right = high - low, low, end
        wide += (end - left) / max(height, 1.0)
    return wide > _WIDE * len(text)


def _lines(content: Any) -> list[list[Cell]]:
    """PDFium breaks a line also where only the font changes, so a break counts when it moves."""
    from pypdfium2 import raw

    box, page = raw.FS_RECTF(), content.raw
    place = ctypes.byref(box)
    lines: list[list[Cell]] = []
    space, middle = "", 0.0
    for n in range(content.count_chars()):
        code = raw.FPDFText_GetUnicode(page, n)
        letter = chr(code)
        if code in _NOTHING or letter.isspace():
            space = "\n" if letter == "\n" or space == "\n" else " "
            continue
        raw.FPDFText_GetLooseCharBox(page, n, place)
        new = Cell(box.left, box.right, letter)
        if not lines or (space == "\n" and not _goes_on(lines[-1][-1], new, box, middle)):
            lines.append([new])
        else:
            _put(lines[-1], new, max(box.top - box.bottom, 1.0), space)
        space, middle = "", (box.top + box.bottom) / 2
    return lines


def _goes_on(last: Cell, new: Cell, box: Any, middle: float) -> bool:
    return bool(box.bottom < middle < box.top and new.left > last.right - SPACE)


def _put(line: list[Cell], new: Cell, height: float, space: str) -> None:
    gap = (new.left - line[-1].right) / height
    if gap >= COLUMN:
        line.append(new)
        return
    apart = space == " " or gap > (SPACE if space else _LOOSE * SPACE)
    line[-1].text += " " + new.text if apart else new.text
    line[-1].right = new.right


def _plain(lines: list[list[Cell]]) -> list[str]:
    return ["\t".join(cell.text for cell in line) for line in lines]


def _aligned(lines: list[list[Cell]]) -> list[str]:
    """Cells in columns, empty ones where a line has none, if no two of a line share a column."""
    columns: list[list[float]] = []
    for left, right in sorted((cell.left, cell.right) for line in lines for cell in line):
        if columns and left < columns[-1][1]:
            columns[-1][1] = max(columns[-1][1], right)
        else:
            columns.append([left, right])
    rows = []
    for line in lines:
        at = [next(n for n, c in enumerate(columns) if c[0] <= cell.left <= c[1]) for cell in line]
        if len({*at}) < len(at):
            return _plain(lines)
        texts = dict(zip(at, (cell.text for cell in line), strict=True))
        rows.append("\t".join(texts.get(n, "") for n in range(max(at) + 1)))
    return rows
