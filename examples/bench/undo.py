"""What the history costs: commands as ratios of `git status`, writes with and without it.

`undo.py [files] [rounds]`; medians of interleaved rounds, and the quartiles beside them.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fsagent_tools import Workspace, select_tools


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def show(what: str, values: list[float]) -> None:
    low, middle, high = statistics.quantiles(values, n=4)
    print(f"{what}: {middle:.2f} ({low:.2f} to {high:.2f})")


def build(root: Path, files: int) -> None:
    for number in range(files):
        path = root / f"d{number // 20}" / f"f{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(os.urandom(600).hex().encode() + b"\n" * 600)
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", "-C", root]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True)


def commands(root: Path, rounds: int) -> None:
    """The walks before and after a command, against `git status`."""
    workspace = Workspace(root)
    watch = workspace.history.commands.before
    cpu = time.process_time()
    watch()()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"first: {time.process_time() - cpu:.2f} s of CPU, {peak} MB at most in this process")
    time.sleep(0.1)
    watch()()
    ratios: dict[str, list[float]] = {"nothing": [], "3 files": []}
    for number in range(rounds):
        for what, found in ratios.items():
            began = time.perf_counter()
            after = watch()
            ours = time.perf_counter() - began
            for path in [*root.glob("d1/*.py")][:3] if what == "3 files" else ():
                path.write_bytes(b"%d" % number)
            ours += timed(after)
            found.append(
                ours
                / timed(
                    lambda: subprocess.run(
                        ["git", "-C", root, "status"], capture_output=True, check=True
                    )
                )
            )
    for what, found in ratios.items():
        show(f"before and after a command that changed {what} / git status", found)
    workspace.close()


def writes(root: Path, rounds: int) -> None:
    ways = [
        {tool.name: tool for tool in select_tools(Workspace(root, history=history))}["write"]
        for history in (True, False)
    ]
    ratios = []
    for number in range(rounds):
        text = f"{number}\n" * 2000
        kept, plain = (
            timed(partial(tool.call, {"file_path": f"w{n}", "content": text}))
            for n, tool in enumerate(ways)
        )
        ratios.append(kept / plain)
    show("a write with the history / without", ratios)


def main(files: int = 20_000, rounds: int = 10) -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["XDG_STATE_HOME"] = f"{home}/state"
        (root := Path(home, "ws")).mkdir()
        build(root, files)
        commands(root, rounds)
        writes(root, rounds)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
