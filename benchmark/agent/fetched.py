"""Tasks that a user has fetched: those of a checkout of harness-bench-fast, run by its own code."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmark.agent.change import Change
from benchmark.agent.source import Files
from benchmark.agent.tasks import Edit, Task

DRIVER = Path(__file__).parents[1] / "drivers/harness_bench_.py"
SECONDS = 300  # for its files, or its check


@dataclass(frozen=True)
class Fetched:
    """A task of a checkout at `repo`. Its agents have commands, as their rivals there do."""

    id: str
    prompt: str
    repo: str
    kind = "fetched"
    path = ""

    def lay(self, folder: Path, files: Files) -> None:
        driven(self.repo, "lay", self.id, str(folder)).check_returncode()

    def edits(self, files: Files) -> list[Edit]:
        """None: nothing here knows the answers."""
        return []

    def solved(self, folder: Path, files: Files) -> bool:
        try:
            return driven(self.repo, "check", self.id, str(folder)).returncode == 0
        except subprocess.TimeoutExpired:
            return False


AnyTask = Task | Change | Fetched


def fetched(repo: Path, most: int) -> list[Fetched]:
    """The first tasks of each part of the checkout, evenly. Raises `SystemExit`, saying why."""
    said = driven(str(repo), "list")
    if said.returncode:
        why = (said.stderr.strip().splitlines() or ["It said nothing."])[-1]
        raise SystemExit(f"{repo} is no checkout of harness-bench-fast that runs here: {why}")
    every = json.loads(said.stdout)
    step = max(1, len(every) // most)
    return [Fetched(one["id"], one["prompt"], str(repo)) for one in every[::step][:most]]


def driven(repo: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-B", DRIVER, repo, *words],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False,
    )  # fmt: skip
