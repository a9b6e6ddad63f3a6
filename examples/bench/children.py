"""What a child costs in the shell, beside the same child started bare.

Run `python examples/bench/children.py`. All sides of a row take turns in random order in one run.
"""

import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from corpora import tree
from timing import HEADER, Row, Side, Times

from fsagent_tools import Workspace, toolset
from fsagent_tools.lint import judge
from fsagent_tools.policy.programs import Programs
from fsagent_tools.search.ripgrep import find_ripgrep
from fsagent_tools.shell import landlock, seccomp

FILES, ROUNDS = 2_000, 200
MOST = 7.0  # times a bare command: 10 ms more than 1.6
SETTLED = 1.1  # seconds after which an unchanged directory is not read again
CODE = "def f(x):\n    return [x, {'a': x}]\n\n\n" * 100


def in_turn(*sides: Side, rounds: int = ROUNDS) -> list[Times]:
    """What each took, the first ten rounds not counted."""
    taken: dict[str, list[float]] = {side.name: [] for side in sides}
    for number in range(rounds + 10):
        for side in random.sample(sides, len(sides)):
            begin = time.perf_counter()
            side.run()
            if number >= 10:
                taken[side.name].append(time.perf_counter() - begin)
    return [Times(taken[side.name]) for side in sides]


def commands(folder: Path) -> Iterator[Row]:
    workspace = Workspace(folder)
    tool = toolset("workspace").bind(workspace)["bash"]

    def bare() -> None:
        subprocess.run(["bash", "-c", ":"], cwd=folder, capture_output=True, check=True)

    time.sleep(SETTLED)
    sides = (
        Side("Workspace.run", lambda: workspace.run(":")),
        Side("bash tool", lambda: tool.call({"command": ":"})),
        Side("subprocess.run", bare),
    )
    run, called, plain = in_turn(*sides)
    workspace.close()
    yield Row("`bash -c :`, Workspace.run", "subprocess.run", MOST, run, plain)
    yield Row("`bash -c :`, the tool", "subprocess.run", MOST, called, plain)


def searches(folder: Path) -> Iterator[Row]:
    tree(folder, FILES)
    tool = toolset("workspace").bind(Workspace(folder))["grep"]
    command = [find_ripgrep(Programs()) or "rg", "--no-config", "-n", "needle", "."]
    bare = Side(
        "`rg -n needle .`", lambda: subprocess.run(command, cwd=folder, capture_output=True)
    )
    ours = Side("grep", lambda: tool.call({"pattern": "needle"}))
    grep, plain = in_turn(ours, bare, rounds=60)
    yield Row(f"grep, rare word, {FILES:,} files", bare.name, 1.1, grep, plain)


def checks(_folder: Path) -> Iterator[Row]:
    def check() -> None:
        assert judge("a.py")(CODE.encode())

    def loose() -> None:
        with unconfined():
            check()

    confined, plain = in_turn(Side("confined", check), Side("loose", loose), rounds=60)
    yield Row("syntax check of 400 lines", "the same, not confined", 1.2, confined, plain)


@contextmanager
def unconfined() -> Iterator[None]:
    kept: tuple[Callable[[], int], Callable[[], bool]] = landlock.version, seccomp.is_available
    landlock.version, seccomp.is_available = lambda: 0, lambda: False  # type: ignore[assignment]
    try:
        yield
    finally:
        landlock.version, seccomp.is_available = kept  # type: ignore[assignment]


def main() -> None:
    print(HEADER)
    for part in (commands, searches, checks):
        with tempfile.TemporaryDirectory() as folder:
            for row in part(Path(folder)):
                print(row, flush=True)


if __name__ == "__main__":
    main()
