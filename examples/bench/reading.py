"""Import, first and repeated reads, a window of a huge file, IDs carried over outside changes."""

import copy
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any

from corpora import log, source
from peers import DeepAgents, Hashline
from timing import Row, Side, compare

from fsagent_tools import Tool, Workspace, toolset
from fsagent_tools.lines.index import LineIndex
from fsagent_tools.lines.remap import carry
from fsagent_tools.lines.source import Window

INDEXES = ".ai/cache/tools/read/line_index"
EDITS = 50
LINES = 2_000  # of one read
READ = "`fsagent read FILE`, whole process"
TAGGED = f"read {LINES:,} lines with IDs"
WORDS = f"{TAGGED} in the style `words`, first time"
ALL = 1 << 20  # bytes: more than they have


def tools(folder: Path, **options: Any) -> dict[str, Tool]:
    return toolset("workspace").bind(Workspace(folder, **options))


def imports() -> Iterator[Row]:
    """Compiled, as an installer leaves a package: a checkout is at the end of the first round."""
    kept = {**os.environ}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)

    def start(what: str) -> Side:
        command = [sys.executable, "-c", what]
        return Side(f"`{what}`", lambda: subprocess.run(command, env=kept, check=True))

    ours = start("import fsagent_tools")
    yield from compare("import, whole process", 2, ours, start("import pydantic"), rounds=7)
    yield from compare("the same", 1 / 8, ours, start("import deepagents"), rounds=5)
    six = "from fsagent_tools import *; tools = toolset('line_ids').bind(Workspace('.'))"
    used = start(six)
    yield from compare("import and six tools", 2.5, used, start("import pydantic"), rounds=7)
    shown = start(f"{six}; [one.schema for one in tools.values()]")
    yield from compare("the same with schemas", 6, shown, start("import pydantic"), rounds=7)
    command = [sys.executable, "-m", "fsagent_tools.cli", "--root", str(Path(__file__).parent)]
    run = [*command, "read", "timing.py"]
    read = Side("read", lambda: subprocess.run(run, env=kept, check=True, capture_output=True))
    yield from compare(READ, 2, read, start("import pydantic"), rounds=15)


def splitting(path: Path) -> Side:
    return Side("read and split", lambda: path.read_bytes().split(b"\n"))


def read_all(given: dict[str, Tool], name: str) -> None:
    out = given["read"].call({"file_path": name}, max_bytes=ALL)  # as many lines as the peers
    assert out.data["line_count"] == LINES, out.text[:200]


def without_index(folder: Path, **options: Any) -> tuple[dict[str, Tool]]:
    shutil.rmtree(folder / INDEXES, ignore_errors=True)
    (folder / INDEXES).mkdir(parents=True)
    return (tools(folder, **options),)


def worded(folder: Path) -> Iterator[Row]:
    deep, hashline, name = DeepAgents(folder), Hashline(folder), "words.py"
    (folder / name).write_text(source(LINES))
    time.sleep(0.1)
    ours = Side(
        "words",
        lambda given: read_all(given, name),
        lambda: without_index(folder, line_ids="words"),
    )
    numbered = Side("deepagents, numbered", lambda: deep.read_numbered(name))
    bare = Side("hashline, formatter alone", lambda: hashline.format(name))
    floor = splitting(folder / name)
    yield from compare(WORDS, 0.6, ours, numbered, floor=floor)
    yield from compare(WORDS, 0.9, ours, bare, floor=floor)


def reads(folder: Path) -> Iterator[Row]:
    deep, hashline, cold = DeepAgents(folder), Hashline(folder), partial(without_index, folder)
    for name, lines in (("small.py", 2_000), ("large.py", 100_000)):
        (folder / name).write_text(source(lines))
    (folder / "wide.py").write_text(source(2_000, wide=True))
    time.sleep(0.1)  # older than the clock's grain: what a session may trust

    for name in ("small.py", "wide.py"):
        what = f"{TAGGED}{', one wide character' * (name == 'wide.py')}"
        floor = splitting(folder / name)
        numbered = Side("deepagents, numbered", lambda name=name: deep.read_numbered(name))
        tagged = Side("hashline", lambda name=name: hashline.read(name))
        bare = Side("hashline, formatter alone", lambda name=name: hashline.format(name))
        plain = Side("deepagents read_file", lambda name=name: deep.read(name))
        ours = Side(
            "first", lambda given, name=name: read_all(given, name), lambda: without_index(folder)
        )
        yield from compare(f"{what}, first time", 1, ours, numbered, tagged, bare, floor=floor)
        fresh = Side("new", ours.run, lambda: (tools(folder),))
        yield from compare(f"{what}, index warm, new process", 1.2, fresh, plain, floor=floor)
        session = tools(folder)
        warm = Side("warm", ours.run, lambda session=session: (session,))
        yield from compare(f"{what}, same session", 1, warm, plain, floor=floor)

    plain, floor = Side(plain.name, lambda: deep.read("large.py")), splitting(folder / "large.py")
    ours = Side("first", lambda given: read_all(given, "large.py"), cold)
    what = "read the first 2,000 of 100,000 lines, first time"
    yield from compare(what, 0.5, ours, plain, floor=floor)
    session = tools(folder)
    warm = Side("warm", ours.run, lambda: (session,))
    yield from compare("the same, warm", 0.2, warm, plain, floor=floor)


def huge(folder: Path, size: int) -> Iterator[Row]:
    """100 lines anywhere in a log of `size` bytes; memory is that of a process of its own.

    The first window counts the newlines of the log, the next ones of a session know them.
    """
    lines = log(folder / "huge.log", size)
    middle = lines * 2 // 3
    script = (
        "import resource, sys\n"
        "from fsagent_tools import Workspace, toolset\n"
        "tool = toolset('workspace').bind(Workspace(sys.argv[1]))['read']\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "assert tool.call({'file_path': 'huge.log', 'offset': int(sys.argv[2]), 'limit': 100}).ok\n"
        "print((peak() - before) / 1024)\n"
    )
    run = [sys.executable, "-c", script, str(folder), str(middle)]
    added = float(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    deep = DeepAgents(folder)

    def read(given: dict[str, Tool], offset: int = middle) -> dict[str, Tool]:
        assert given["read"].call({"file_path": "huge.log", "offset": offset, "limit": 100}).ok
        return given

    theirs = Side("deepagents read_file", lambda: deep.read("huge.log", middle, 100))
    what = f"read 100 lines in {size / 1e9:g} GB (added memory {added:.1f} MB), first window"
    ours = Side("first", read, lambda: (tools(folder),))
    yield from compare(what, 1 / 8, ours, theirs, rounds=1)
    another = Side("another", read, lambda: (read(tools(folder), middle // 2),))
    yield from compare("the same, another window", 1 / 100, another, theirs, rounds=1)
    with (folder / "huge.log").open("a", encoding="utf-8") as file:
        file.write("done \N{GRINNING FACE}\n")
    what = "the same, first window, one wide character in the log"
    yield from compare(what, 1 / 20, ours, theirs, rounds=1)


def carried(folder: Path) -> Iterator[Row]:
    """Fifty outside edits in 100,000 lines that had all been shown."""
    path = folder / "carried.py"
    before = source(100_000).split("\n")[:-1]
    after, origin = edited_outside(before)
    texts = ["\n".join(lines) + "\n" for lines in (before, after)]

    def shown() -> tuple[dict[str, Tool], dict[str, int]]:
        shutil.rmtree(folder / INDEXES, ignore_errors=True)
        path.write_text(texts[0])
        time.sleep(0.05)
        given = tools(folder)
        ids = all_ids(given, path.name)
        path.write_text(texts[1])
        return given, {line_id: line for line, line_id in enumerate(ids)}

    def read(given: dict[str, Tool], _: object) -> None:
        assert given["read"].call({"file_path": path.name, "limit": 1}).ok

    given, old = shown()
    new = all_ids(given, path.name)
    unchanged = [line for line in origin if line >= 0]
    kept = sum(
        old.get(line_id) == was for line_id, was in zip(new, origin, strict=True) if was >= 0
    )
    wrong = sum(old.get(line_id, was) != was for line_id, was in zip(new, origin, strict=True))
    what = (
        f"{EDITS} outside edits in 100,000 lines, IDs carried "
        f"({kept / len(unchanged):.2%} kept, {wrong / len(origin):.2%} wrong)"
    )
    ours = Side("ours", read, shown)
    yield from compare(what, 6, ours, splitting(path), rounds=5)
    lines = [text.encode().split(b"\n")[:-1] for text in texts]
    index = LineIndex(len(lines[0]))
    index.show(Window(0, len(lines[0]), texts[0].encode(), b"\n"))
    alone = Side("carry", lambda: carry(copy.copy(index), *lines))
    matcher = Side("difflib", lambda: SequenceMatcher(None, *lines, autojunk=False).get_opcodes())
    yield from compare("the same, both sides given the lines", 1 / 1000, alone, matcher, rounds=1)


def edited_outside(before: list[str]) -> tuple[list[str], list[int]]:
    """The lines after `EDITS` edits, and for each the line it was, -1 for a new one."""
    rng = random.Random(3)
    after, origin = list(before), list(range(len(before)))
    for number in range(EDITS):
        at, kept = rng.randrange(len(after)), rng.randrange(3)
        after[at : at + 1] = [f"new line {number}"] * kept
        origin[at : at + 1] = [-1] * kept
    return after, origin


def all_ids(given: dict[str, Tool], name: str) -> list[str]:
    ids: list[str] = []
    while True:
        out = given["read"].call({"file_path": name, "offset": len(ids) + 1})
        ids += re.findall(r"^\[LID:(\w{6})\]", out.text, re.MULTILINE)
        if not out.data["truncated"]:
            return ids
