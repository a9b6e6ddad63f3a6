"""How times grow with files, trees, workspaces and threads: what `--long` adds to the suite."""

import gc
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from corpora import log, source, tree
from crowd import PAIRS, pairs_a_second
from editing import Edited, rewriting
from reading import splitting, tools
from searching import rg
from timing import Row, Side, Times, compare

from fsagent_tools import Tool

READS = (1_000, 100_000, 10_000_000, 1_000_000_000)  # bytes
EDITS = (100, 10_000, 1_000_000)  # lines
TREES = (100, 1_000, 10_000, 100_000)  # files
CROWDS = ((1, 1), (1, 8), (1, 64), (20, 1), (20, 8), (20, 64), (200, 1), (200, 8), (200, 64))
ALONE = "one workspace, one thread"
ROUNDS = 3


def growing(folder: Path, small: bool) -> Iterator[Row]:
    """Rows without an aim. small: without the largest of each kind."""
    reads, edits, sizes, crowd = (
        (kind[:-1] if small else kind) for kind in (READS, EDITS, TREES, CROWDS)
    )
    yield from files(folder, reads, edits)
    yield from trees(folder, sizes)
    yield from crowds(folder, crowd)


def files(folder: Path, reads: tuple[int, ...], edits: tuple[int, ...]) -> Iterator[Row]:
    path = folder / "log.txt"
    for size in reads:
        lines = log(path, size)
        window = {"file_path": path.name, "offset": max(1, lines * 2 // 3), "limit": 100}
        time.sleep(0.1)  # older than the clock's grain: what a session may trust

        def read(given: dict[str, Tool], window: dict[str, Any] = window) -> None:
            assert given["read"].call(window).ok

        ours = Side("read", read, lambda: (tools(folder),))
        floor = splitting(path)
        yield from compare(f"read 100 lines of {size:,} bytes, first", None, ours, floor, rounds=5)
        path.unlink()
    for lines in edits:
        name = f"code{lines}.py"
        (folder / name).write_text(source(lines))
        time.sleep(0.1)
        edited = Edited(folder, name, lines)
        ours = Side("edit", edited.run, edited.warm)
        floor = rewriting(folder / name)
        yield from compare(f"edit one of {lines:,} lines by ID", None, ours, floor, rounds=9)


def trees(folder: Path, sizes: tuple[int, ...]) -> Iterator[Row]:
    for files in sizes:
        place = folder / f"tree{files}"
        place.mkdir()
        tree(place, files)
        given = tools(place)
        for name, pattern, bare in (
            ("grep", "needle", ("-n", "needle", ".")),
            ("glob", "**/*.absent", ("--files", "-g", "**/*.absent")),
        ):
            ours = Side(name, partial(given[name].call, {"pattern": pattern}))
            what = f"{name} `{pattern}` in {files:,} files"
            yield from compare(what, None, ours, rg(place, *bare), rounds=5)


def crowds(folder: Path, sizes: tuple[tuple[int, int], ...]) -> Iterator[Row]:
    """Seconds of a read and an edit; the rounds of all sizes take turns."""
    places = {}
    for count in {count for count, _ in sizes}:
        runs = [f"crowd{count}-{number}" for number in range(count)]
        places[count] = [(runs[n % count], f"{n}.txt") for n in range(PAIRS // 2)]
        for run, name in places[count]:
            (folder / run).mkdir(exist_ok=True)
            (folder / run / name).write_text("first\nsecond\n")
    taken: dict[tuple[int, int], list[float]] = {size: [] for size in sizes}
    for number in range(ROUNDS + 1):
        for count, threads in sizes:
            gc.collect()
            each = 1 / pairs_a_second(folder, places[count], threads)
            if number:
                taken[count, threads].append(each)
    for (count, threads), rounds in taken.items():
        what = f"read and edit, {count:,} workspaces, {threads} threads"
        yield Row(what, ALONE, None, Times(rounds), Times(taken[1, 1]))
