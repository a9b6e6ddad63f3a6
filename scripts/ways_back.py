"""Draw docs/ways-back.svg: which of the ways back is for what."""

import sys
from html import escape
from pathlib import Path

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "ways-back.svg"
WIDE, ROW, TOP, LEFT, STEP = 780, 96, 16, 360, 76  # px; where the steps begin, and between two
DARK, GREY, BLUE, RED, GREEN = "#24292f", "#8c959f", "#0969da", "#cf222e", "#1a7f37"
# What it is called, what it is for, its steps, and from which of their ends back to which.
# A step: "e" an edit, "c" a command, "x" one that fails, "f" a checkpoint.
ROWS = (
    ("undo()", "The last call was wrong.", "", "eee", 3, 2),
    (
        "checkpoint(), undo(to=...)",
        "A whole run is to go, and",
        "what its commands did.",
        "fece",
        4,
        1,
    ),
)
SHAPES = {
    "e": ("edit", DARK),
    "c": ("command", DARK),
    "x": ("fails", RED),
    "f": ("", GREEN),
}


def text(x: float, y: float, words: str, colour: str = DARK, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" {more}>{escape(words)}</text>'


def shape(kind: str, x: float, y: float) -> str:
    """A square for a change of files, or a flag, with its word below."""
    word, colour = SHAPES[kind]
    if kind == "f":
        drawn = f'<path d="M{x - 6} {y + 12}v-26l16 7l-16 7" fill="{colour}" stroke="{colour}"/>'
    else:
        drawn = f'<rect x="{x - 11}" y="{y - 11}" width="22" height="22" rx="3" fill="{colour}"/>'
    return drawn + text(x, y + 28, word, GREY, 'text-anchor="middle" font-size="12"')


def arrow(start: float, end: float, y: float) -> str:
    """Back from one place to another, above the steps."""
    way = f"M{start} {y - 16}C{start} {y - 40} {end} {y - 40} {end} {y - 18}"
    head = f"M{end - 5} {y - 24}L{end} {y - 15}L{end + 5} {y - 24}"
    return f'<path d="{way}{head}" fill="none" stroke="{BLUE}" stroke-width="2"/>'


def row(number: int) -> list[str]:
    name, first, second, steps, start, end = ROWS[number]
    y = TOP + number * ROW + ROW * 0.55
    edges = [LEFT + at * STEP for at in range(len(steps) + 1)]
    line = f'<path d="M{edges[0]} {y}H{edges[-1]}" stroke="{GREY}" stroke-width="2"/>'
    bold = 'font-weight="bold" font-family="ui-monospace, Menlo, Consolas, monospace"'
    drawn = [text(24, y - 12, name, DARK, bold), text(24, y + 10, first), text(24, y + 28, second)]
    if "x" in steps:
        box = (
            f'x="{edges[0] + 12}" y="{y - 19}" width="{len(steps) * STEP - 24}" height="56" rx="6"'
        )
        drawn.append(f'<rect {box} fill="none" stroke="{GREY}" stroke-dasharray="5 4"/>')
    drawn += [line, *(shape(kind, edges[at] + STEP / 2, y) for at, kind in enumerate(steps))]
    return [*drawn, arrow(edges[start], edges[end], y)]


def picture() -> str:
    high = TOP * 2 + len(ROWS) * ROW
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {high}" width="{WIDE}"'
    style = 'font-family="system-ui, sans-serif" font-size="15" role="img">'
    title = "<title>An undo and a checkpoint: how far each goes back</title>"
    frame = f'<rect width="{WIDE}" height="{high}" rx="8" fill="#f6f8fa"/>'
    rows = [part for number in range(len(ROWS)) for part in row(number)]
    return "\n".join([f"{head} {style}", title, frame, *rows, "</svg>", ""])


def main() -> None:
    if "--check" not in sys.argv:
        PICTURE.write_text(picture())
    elif PICTURE.read_text() != picture():
        sys.exit("docs/ways-back.svg is not what scripts/ways_back.py draws; run it")


if __name__ == "__main__":
    main()
