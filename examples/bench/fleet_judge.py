"""What became of the calls of a user of `fleet.py`, by what ran and by what was told."""

from collections import Counter
from pathlib import Path

FACTS = (
    *("approvals", "kills", "redeploys", "runs cut", "ran once"),
    *("told as unknown", "unknown that ran", "told as not done"),
    *("not done that ran", "told as done and lost", "ran twice", "files missing"),
)
UNKNOWN = ("is not known", "may have been")  # of a call that began and whose end nobody saw


def judge(home: Path, turns: int, told: list[str], seen: Counter[str]) -> None:
    """Count what became of the turns of one user: each has told of a command and of a file."""
    log = home / "log"
    ran = Counter(log.read_text().splitlines() if log.exists() else ())
    for n in range(turns):
        times, (unknown, refused) = ran[f"turn {n}"], failed(told[2 * n])
        seen["told as unknown"] += unknown
        seen["unknown that ran"] += unknown and times > 0
        seen["told as not done"] += refused
        seen["not done that ran"] += refused and times > 0
        seen["told as done and lost"] += not unknown and not refused and not times
        seen["ran once"] += times == 1
        seen["ran twice"] += times > 1
        seen["files missing"] += not (home / f"{n}.txt").exists() and not any(
            failed(told[2 * n + 1])
        )


def failed(told: str) -> tuple[bool, bool]:
    """Whether it tells that the outcome is unknown, and whether that nothing was done."""
    unknown = any(words in told for words in UNKNOWN)
    return unknown, told.startswith("Error") and not unknown
