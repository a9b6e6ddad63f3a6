"""What the history costs: writes, and the way back of 1,000 files, as ratios of interleaved rounds.

`undo.py [rounds]`; medians, and the quartiles beside them.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from fsagent_tools import Workspace, select_tools

WRITES, FILES = 100, 1000


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def told(name: str, ratios: list[float]) -> None:
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"{name}: {middle:.2f} ({low:.2f}-{high:.2f})")


def writes(root: Path, rounds: int, size: int) -> None:
    """A tool call that overwrites a file of `size` bytes, with the history and without."""
    both = []
    for history in (True, False):
        folder = root / f"{history}-{size}"
        folder.mkdir()
        tools = {t.name: t for t in select_tools(Workspace(folder, history=history))}
        both.append(tools["write"])
    texts = [("line of text\n" * (size // 13)) + f"{n}\n" for n in range(WRITES)]

    def work(turn: int) -> None:
        for text in texts:
            assert both[turn].call({"file_path": "f.py", "content": text}).ok

    work(0), work(1)
    ratios = []
    for _ in range(rounds):
        ratios.append(timed(lambda: work(0)) / timed(lambda: work(1)))
    told(f"write of {size:,} bytes with the history / without", ratios)


def restores(root: Path, rounds: int) -> None:
    """1,000 files that were edited come back, beside 1,000 prepared files that are renamed."""
    ratios, apart = [], []
    for turn in range(rounds):
        folder, other = root / f"r{turn}", root / f"p{turn}"
        for place in (folder, other, other / "new"):
            place.mkdir()
        workspace = Workspace(folder)
        for number in range(FILES):
            for place in (folder, other, other / "new"):
                (place / f"{number}.txt").write_bytes(b"old %d\n" % number * 100)
        mark = workspace.checkpoint()
        for number in range(FILES):
            workspace.write_bytes(f"{number}.txt", b"new")
        os.sync()

        def rename(other: Path = other) -> None:
            for number in range(FILES):
                os.rename(other / "new" / f"{number}.txt", other / f"{number}.txt")

        def restore(workspace: Workspace = workspace, mark: str = mark) -> None:
            assert len(workspace.undo(to=mark).paths) == FILES

        took = timed(restore)
        ratios.append(took / timed(rename))
        apart.append(took * 1000)
        workspace.close()
    told("1,000 files restored / 1,000 renamed", ratios)
    print(f"    {statistics.median(apart):.0f} ms")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    with TemporaryDirectory(dir=".") as folder:
        root = Path(folder).resolve()
        os.environ["XDG_STATE_HOME"] = str(root / "state")
        (root / "files").mkdir()
        for size in (1_000, 20_000, 200_000):
            writes(root / "files", rounds, size)
        restores(root / "files", rounds)


if __name__ == "__main__":
    main()
