"""Find and replace: exact in a large file, fuzzy in a middling one, a hostile pair."""

import random
import string
import time
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from pathlib import Path

from corpora import source
from editing import EDIT, PAUSE, replaced, rewriting
from peers import DeepAgents
from timing import Row, Side, compare

from fsagent_tools import Tool, ToolError, Workspace, toolset
from fsagent_tools.edits.matching import Evidence
from fsagent_tools.edits.replace import find
from fsagent_tools.edits.similarity import suggest

BLOCK = 12  # lines
EXACT = "exact edit in 100,000 lines"
THRESHOLD = 0.85


def texts(folder: Path) -> Iterator[Row]:
    yield from exact(folder)
    yield from fuzzy()
    yield from hostile()


def exact(folder: Path) -> Iterator[Row]:
    deep = DeepAgents(folder)
    for name, wide, bar in (("plain.py", False, 0.8), ("emoji.py", True, 1 / 3)):
        for copy in (name, f"peer_{name}"):
            (folder / copy).write_text(source(100_000, wide=wide))
        line = source(100_000).split("\n")[50_006]
        tools = toolset("compact").bind(Workspace(folder))
        assert tools["Read"].call({"file_path": name, "limit": 1}).ok
        ours = Side("Edit", edited(tools["Edit"], name, line), paused)
        peer = Side(EDIT, replaced(deep, f"peer_{name}", line))
        what = f"{EXACT}{', one wide character' * wide}"
        floor = rewriting(folder / name)
        yield from compare(what, bar, ours, peer, rounds=9, floor=floor)


def paused() -> tuple[object, ...]:
    time.sleep(PAUSE)
    return ()


def edited(tool: Tool, name: str, line: str) -> Callable[[], None]:
    versions = [f"{line}\n", f"{line} + 1\n"]

    def run() -> None:
        old, new = versions
        out = tool.call({"file_path": name, "old_string": old, "new_string": new})
        assert out.ok, out.text
        versions.reverse()

    return run


def fuzzy() -> Iterator[Row]:
    lines = source(5_000).split("\n")
    typed = [*lines[3_000 : 3_000 + BLOCK]]
    typed[4] = typed[4].replace("self", "slef")
    absent = [line[::-1] + "?" for line in typed]
    for name, block in (("found", typed), ("absent", absent)):
        old = "\n".join(block)
        ours = Side("ours", lambda old=old: tried("\n".join(lines).encode(), old))
        window = Side("sliding difflib window", lambda old=old: slide(lines, old))
        what = f"fuzzy match of {BLOCK} lines in 5,000, {name}"
        yield from compare(what, 1 / 100, ours, window, rounds=1)


def slide(lines: list[str], old: str) -> int:
    """The textbook way: the most similar window of as many lines."""
    windows = ("\n".join(lines[at : at + BLOCK]) for at in range(len(lines) - BLOCK + 1))
    ratios = [SequenceMatcher(None, old, window).ratio() for window in windows]
    return ratios.index(max(ratios))


def tried(text: bytes, old: str) -> None:
    try:
        find(text, old, "new text\n", evidence=Evidence(THRESHOLD))
    except ToolError:
        suggest(text, old)


def hostile() -> Iterator[Row]:
    rng = random.Random(5)
    one, other = ("".join(rng.choices(alphabet, k=20_000)) for alphabet in halves())
    ours = Side("ours", lambda: tried(one.encode(), other))
    ratio = Side(
        "one difflib ratio", lambda: SequenceMatcher(None, one, other, autojunk=False).ratio()
    )
    yield from compare("2 x 20 kB, nothing alike", 1 / 50, ours, ratio, rounds=3)


def halves() -> tuple[str, str]:
    """Two alphabets that share the space and the newline, so that there is something to compare."""
    return string.ascii_lowercase[:13] + " \n", string.ascii_lowercase[13:] + " \n"
