"""Edits of one line by ID, against a find-and-replace of the same line."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from corpora import source
from peers import DeepAgents
from reading import tools
from timing import Row, Side, compare

from fsagent_tools import Tool

EDIT = "deepagents edit (not atomic)"
PAUSE = 0.05  # seconds between two edits, which models take at the very least


class Edited:
    """One line in the middle of a file, changed again and again by its current ID."""

    def __init__(self, folder: Path, name: str, lines: int) -> None:
        self.folder, self.name = folder, name
        self.line = lines // 2 // 20 * 20 + 6
        self.number = 0
        self.tools = tools(folder)
        window = {"file_path": name, "offset": self.line - 2, "limit": 5}
        shown = self.tools["read"].call(window).text.split("\n")[2]
        self.line_id, self.text = shown[5:11], shown[13:]

    def run(self, given: dict[str, Tool]) -> None:
        self.number += 1
        new = f"{self.text} + {self.number}"
        change = {"line_id": self.line_id, "new_content": new}
        out = given["edit_lines"].call({"file_path": self.name, "changes": [change]})
        assert out.ok, out.text
        row = next(row for row in out.text.split("\n") if row.startswith("+") and row.endswith(new))
        self.line_id = row[6:12]

    def warm(self) -> tuple[dict[str, Tool]]:
        time.sleep(PAUSE)
        return (self.tools,)

    def fresh(self) -> tuple[dict[str, Tool]]:
        time.sleep(PAUSE)
        return (tools(self.folder),)


def replaced(deep: DeepAgents, name: str, line: str) -> Callable[[], None]:
    """The same edit by text, back and forth between two versions of a unique line."""
    versions = [f"{line}\n", f"{line} + 1\n"]

    def run() -> None:
        deep.edit(name, *versions)
        versions.reverse()

    return run


def rewriting(path: Path) -> Side:
    """The least that replaces a file in one step: write the same bytes aside, rename."""
    data, aside = path.read_bytes(), path.with_name(f"{path.name}.floor")

    def run() -> None:
        aside.write_bytes(data)
        aside.replace(aside.with_name(f"{path.name}.replaced"))

    return Side("write and rename", run)


def edits(folder: Path) -> Iterator[Row]:
    deep = DeepAgents(folder)
    cases = [
        ("plain.py", 100_000, False, (0.8, 1.1)),
        ("emoji.py", 100_000, True, (1 / 3, 1 / 3)),
        ("million.py", 1_000_000, False, (0.5, None)),
    ]
    for name, lines, wide, (warm_bar, fresh_bar) in cases:
        for copy in (name, f"peer_{name}"):  # each its own: an edit by the peer is an outside edit
            (folder / copy).write_text(source(lines, wide=wide))
        time.sleep(0.1)
        edited = Edited(folder, name, lines)
        other = source(lines).split("\n")[edited.line + 20]
        peer = Side(EDIT, replaced(deep, f"peer_{name}", other))
        what = f"edit one of {lines:,} lines by ID{', with an emoji' * wide}"
        floor = rewriting(folder / name)
        warm = Side("warm", edited.run, edited.warm)
        yield from compare(f"{what}, warm", warm_bar, warm, peer, rounds=9, floor=floor)
        if fresh_bar:
            fresh = Side("fresh", edited.run, edited.fresh)
            name = f"{what}, new process"
            yield from compare(name, fresh_bar, fresh, peer, rounds=9, floor=floor)
