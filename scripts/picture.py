"""Draw docs/edit.svg: what a model sees of a read and an edit, from the tools themselves."""

import sys
from html import escape
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from fsagent_tools import Workspace, toolset

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "edit.svg"
FILE, WRONG = "shop/prices.py", "int(cents or 0)"
RIGHT = '    return int(whole) * 100 + int(cents.ljust(2, "0"))'
CHAR, LINE, MARGIN = 8.43, 20, 24  # px of a 14 px monospaced font
COLOURS = {"call": "#8250df", "+": "#1a7f37", "-": "#cf222e", "@": "#0969da", "": "#24292f"}


def scene() -> list[tuple[str, str]]:
    """Lines with the name of their colour: two calls and their answers."""
    with TemporaryDirectory() as temporary:
        root = Path(temporary) / "project"
        copytree(ROOT / "examples" / "project", root)
        tools = toolset("lines").bind(Workspace(root))
        seen = tools["read"].call({"file_path": FILE, "offset": 4, "limit": 4}).text
        line = next(line for line in seen.splitlines() if WRONG in line)
        name = " ".join(line.split()[:3])
        change = {"line_id": name, "new_content": RIGHT}
        edited = tools["edit_lines"].call({"file_path": FILE, "changes": [change]}).text
    said = [("call", f'read("{FILE}", offset=4, limit=4)'), *plain(seen), ("", "")]
    said += [("call", f'edit_lines("{FILE}", [{{line_id: "{name}",')]
    said += [("call", f"    new_content: {RIGHT!r}}}])")]
    said += [(text[:1] if text[:1] in "+-@" else "", text) for text in edited.splitlines()]
    return [(colour, text.expandtabs()) for colour, text in said]


def plain(text: str) -> list[tuple[str, str]]:
    return [("", line) for line in text.splitlines()]


def drawn(lines: list[tuple[str, str]]) -> str:
    wide = round(max(len(text) for _, text in lines) * CHAR) + 2 * MARGIN
    high = len(lines) * LINE + 2 * MARGIN
    bold = {"call": "bold"}
    rows = [
        f'<text xml:space="preserve" x="{MARGIN}" y="{MARGIN + 14 + number * LINE}"'
        f' fill="{COLOURS[colour]}" font-weight="{bold.get(colour, "normal")}">'
        f"{escape(text)}</text>"
        for number, (colour, text) in enumerate(lines)
        if text
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}"'
    style = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14"'
    frame = f'<rect width="{wide}" height="{high}" rx="8" fill="#f6f8fa"/>'
    title = (
        "<title>A read shows lines with IDs; an edit names one and is answered by a diff</title>"
    )
    return "\n".join([f'{head} {style} role="img">', title, frame, *rows, "</svg>", ""])


def main() -> None:
    picture = drawn(scene())
    if "--check" in sys.argv:
        if PICTURE.read_text() != picture:
            sys.exit("docs/edit.svg is not what the tools say; run scripts/picture.py")
    else:
        PICTURE.write_text(picture)


if __name__ == "__main__":
    main()
