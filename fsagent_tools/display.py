"""How objects look to a person: short lines, and HTML in a notebook."""

from collections.abc import Iterable, Sequence

SHOWN_CHARS = 60  # of a text in a repr
_COLOURS = {"+": "#1a7f37", "-": "#cf222e", "@": "#0969da"}
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def short(text: str) -> str:
    """The first line of `text` in quotes, at most `SHOWN_CHARS` of it."""
    line = text.split("\n", 1)[0]
    cut = line[:SHOWN_CHARS]
    return repr(cut + "…" if cut != text else cut)


def html_text(text: str, *, refused: bool) -> str:
    """`text` as it is, in HTML; the lines of a diff in the usual colours, a refusal framed."""
    diff = "\n@@ " in f"\n{text}"
    lines = (_coloured(line) if diff else line.translate(_ESCAPES) for line in text.split("\n"))
    frame = "border-left:3px solid #cf222e;padding-left:8px;" if refused else ""
    return f'<pre style="{frame}white-space:pre-wrap">' + "\n".join(lines) + "</pre>"


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain texts."""
    cells = [_row("th", head), *(_row("td", row) for row in rows)]
    return f"<table>{''.join(cells)}</table>"


def _coloured(line: str) -> str:
    text, colour = line.translate(_ESCAPES), _COLOURS.get(line[:1])
    return f'<span style="color:{colour}">{text}</span>' if colour else text


def _row(tag: str, texts: Sequence[str]) -> str:
    cells = "".join(
        f"<{tag} style='text-align:left'>{t.translate(_ESCAPES)}</{tag}>" for t in texts
    )
    return f"<tr>{cells}</tr>"
