"""Draw docs/terminal.svg: a session of `fsagent` on the example project, as a terminal has it."""

import os
import pty
import re
import subprocess
import sys
from html import escape
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "terminal.svg"
EDIT = """edit_lines shop/prices.py '[{"line_id": "bre return int(whole)", "new_content": "%s"}]'"""
COMMANDS = [
    'grep "cents or 0" shop',
    EDIT % "    return 0",
    EDIT % "    return 1",
    "undo",
]
COLUMNS, ROWS = 92, 18
CHAR, LINE, MARGIN = 8.43, 20, 16  # px of a 14 px monospaced font
TYPED, READ = 0.9, 2.6  # seconds before an answer, and to read it
COLOURS = {"": "#e6edf3", "2": "#8b949e", "31": "#ff7b72", "32": "#7ee787", "34": "#79c0ff"}
COLOURS |= {"35": "#d2a8ff", "36": "#76e3ea", "0": COLOURS[""]}
ERASED = re.compile(r"[^\n]*\r\x1b\[K")  # how long a call takes, where it takes long
STEP = re.compile(r"[0-9a-f]{8}  [\d-]{10} [\d:]{8}")  # its ID and its time, other ones each day
CODE = re.compile(r"\x1b\[([\d;]*)m")
Piece = tuple[str, str]  # text and its colour


def session() -> list[tuple[float, list[Piece]]]:
    """The rows of a terminal, each with the second at which it appears."""
    rows: list[tuple[float, list[Piece]]] = []
    now = 0.0
    with TemporaryDirectory() as temporary:
        project = Path(temporary) / "shop"
        copytree(ROOT / "examples" / "project", project)
        for command in COMMANDS:
            rows += [(now, row) for row in wrapped(f"$ fsagent {command}")]
            now += TYPED
            rows += [(now, row) for row in wrapped(answer(command, project))]
            now += READ
    return [*rows, (now, [])]


def answer(command: str, project: Path) -> str:
    """What `fsagent` prints to a terminal."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment |= {
        "LOGNAME": "ada",
        "XDG_STATE_HOME": str(project.parent / "state"),
        "TERM": "xterm",
    }
    shell = ["sh", "-c", f"fsagent {command}"]
    subprocess.run(shell, cwd=project, env=environment, stdout=theirs, stderr=theirs, check=False)
    os.close(theirs)
    shown = b""
    while piece := available(ours):
        shown += piece
    os.close(ours)
    kept = ERASED.sub("", shown.decode().replace("\r\n", "\n"))
    return STEP.sub("7e04b3a2  2026-05-04 10:21:30", kept).rstrip("\n")


def available(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # Linux says so at the end of a terminal that nobody holds any more
        return b""


def wrapped(text: str) -> list[list[Piece]]:
    """Rows of at most COLUMNS characters, in coloured pieces."""
    rows: list[list[Piece]] = [[]]
    colour = ""
    for number, part in enumerate(CODE.split(text)):
        if number % 2:
            colour = part.split(";")[-1]
            continue
        for at, line in enumerate(part.split("\n")):
            if at:
                rows.append([])
            before = sum(len(piece) for piece, _ in rows[-1])
            for character in (" " * before + line).expandtabs()[before:]:
                if sum(len(piece) for piece, _ in rows[-1]) == COLUMNS:
                    rows.append([])
                if rows[-1] and rows[-1][-1][1] == colour:
                    rows[-1][-1] = rows[-1][-1][0] + character, colour
                else:
                    rows[-1].append((character, colour))
    return rows


def drawn(rows: list[tuple[float, list[Piece]]]) -> str:
    whole = rows[-1][0]
    wide, high = round(COLUMNS * CHAR) + 2 * MARGIN, ROWS * LINE + 2 * MARGIN
    times = sorted({begin for begin, _ in rows})
    scroll = "".join(
        f"{begin / whole:.2%} {{transform: translateY({above(rows, begin)}px)}}" for begin in times
    )
    appear = "".join(
        f"@keyframes at{at} {{0% {{opacity: 0}} {begin / whole:.2%} {{opacity: 1}}}}"
        f".at{at} {{animation: at{at} {whole}s step-end infinite}}"
        for at, begin in enumerate(times)
        if 0 < begin < whole
    )
    texts = "\n".join(
        f'<text class="at{times.index(begin)}" x="0" y="{14 + number * LINE}">{spans(row)}</text>'
        for number, (begin, row) in enumerate(rows)
        if row
    )
    style = "font: 14px ui-monospace, Menlo, Consolas, monospace; white-space: pre"
    still = "@media (prefers-reduced-motion) {* {animation: none !important}}"
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" role="img">
<title>fsagent on the command line: a search, an edit by ID, a refused edit, an undo</title>
<style>text {{{style}}}
#screen {{animation: scroll {whole}s step-end infinite}}
@keyframes scroll {{{scroll}}}
{appear}
{still}</style>
<rect width="{wide}" height="{high}" rx="8" fill="#0d1117"/>
<svg x="{MARGIN}" y="{MARGIN}" height="{ROWS * LINE}"><g id="screen">
{texts}
</g></svg>
</svg>
"""


def above(rows: list[tuple[float, list[Piece]]], now: float) -> int:
    """How far the first row is above the screen."""
    return min(0, ROWS - sum(begin <= now for begin, _ in rows)) * LINE


def spans(row: list[Piece]) -> str:
    return "".join(
        f'<tspan fill="{COLOURS.get(colour, COLOURS[""])}">{escape(text)}</tspan>'
        for text, colour in row
    )


def main() -> None:
    picture = drawn(session())
    if "--check" in sys.argv:
        if PICTURE.read_text() != picture:
            sys.exit("docs/terminal.svg is not what fsagent prints; run scripts/terminal.py")
    else:
        PICTURE.write_text(picture)


if __name__ == "__main__":
    main()
