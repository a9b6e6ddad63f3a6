"""What the history costs: writes, 1,000 files back, copies, commands; ratios of interleaved rounds.

`undo.py [rounds]`; medians, and the quartiles beside them.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from fsagent_tools import Workspace, select_tools
from fsagent_tools.history.commands import CommandWatch

WRITES, FILES, TRACKED, KEPT = 100, 1000, 20_000, 2000


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


def restore(root: Path, turn: int) -> tuple[float, float]:
    """Seconds in which 1,000 edited files come back, and in which 1,000 others are renamed."""
    folder, other, new = root / f"r{turn}", root / f"p{turn}", root / f"n{turn}"
    for place in (folder, other, new):
        place.mkdir()
        for number in range(FILES):
            (place / f"{number}.txt").write_bytes(b"old %d\n" % number * 100)
    with contextlib.closing(Workspace(folder)) as workspace:
        mark = workspace.checkpoint()
        for number in range(FILES):
            workspace.write_bytes(f"{number}.txt", b"new")
        os.sync()

        def rename() -> None:
            for number in range(FILES):
                os.rename(new / f"{number}.txt", other / f"{number}.txt")

        took = timed(lambda: workspace.undo(to=mark))
        return took, timed(rename)


def restores(root: Path, rounds: int) -> None:
    pairs = [restore(root, turn) for turn in range(rounds)]
    told("1,000 files restored / 1,000 renamed", [ours / theirs for ours, theirs in pairs])
    print(f"    {statistics.median(ours for ours, _ in pairs) * 1000:.0f} ms")


def copies(root: Path, rounds: int) -> None:
    """Files that git does not have, before the first command, beside `cp`.

    What is added to a look at the same files when each has its copy.
    """
    source = root / "kept"
    for number in range(KEPT):
        path = source / f"{number // 100}" / f"{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(10_000))
        os.utime(path, (time.time() - 100, time.time() - 100))
    time.sleep(0.1)  # stamps of this very moment are not trusted
    ratios = []
    for turn in range(rounds):
        took = []
        for state in (f"state{turn}", f"state{turn}"):  # the copies of the first are there
            os.environ["XDG_STATE_HOME"] = str(root / state)
            with contextlib.closing(Workspace(source)) as workspace:
                took.append(timed(workspace.history.commands.before))
        words = ["cp", "-r", "--reflink=auto", str(source), str(root / f"cp{turn}")]
        ratios.append((took[0] - took[1]) / timed(partial(subprocess.run, words, check=True)))
    told(f"{KEPT:,} files of 10 kB kept / cp", ratios)


def look_twice(commands: CommandWatch) -> None:
    """What is added to one command."""
    after = commands.before()
    after()


def commands(root: Path, rounds: int) -> None:
    """What is added to a command on a clean checkout of 20,000 files, beside `git status`."""
    for number in range(TRACKED):
        path = root / "src" / f"{number // 400}" / f"{number // 20 % 20}" / f"f{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"x = {number}\n" * 20)
    (root / ".gitignore").write_text("*.pyc\n__pycache__/\n/build/\nnode_modules/\n*.log\n.env\n")
    begin = "init -q", "config gc.auto 0"  # no work of git's beside ours
    for words in (*begin, "add -A", "-c user.name=a -c user.email=a@b.c commit -qm x"):
        subprocess.run(["git", *words.split()], cwd=root, check=True)
    time.sleep(0.1)  # stamps of this very moment are not trusted
    subprocess.run(["git", "status", "-s"], cwd=root, check=True)
    first, later = [], []
    for _ in range(rounds):
        with contextlib.closing(Workspace(root)) as workspace:
            looks = partial(look_twice, workspace.history.commands)
            status = timed(partial(subprocess.run, ["git", "status", "-s"], cwd=root, check=True))
            first.append(timed(looks) / status)
            later.append(timed(looks) / status)
    told("added to the first command / git status", first)
    told("added to a later command / git status", later)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    with TemporaryDirectory(dir=".") as folder:
        root = Path(folder).resolve()
        os.environ["XDG_STATE_HOME"] = str(root / "state")
        (root / "files").mkdir()
        for size in (1_000, 20_000, 200_000):
            writes(root / "files", rounds, size)
        restores(root / "files", rounds)
        copies(root / "files", rounds)
        (root / "checkout").mkdir()
        commands(root / "checkout", rounds)


if __name__ == "__main__":
    main()
