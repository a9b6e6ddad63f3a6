"""Who solved how many, with intervals; the difference between two, task by task."""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

Record = dict[str, Any]


@dataclass
class Standing:
    """low, high: the 95 % interval of the share that is solved, by bootstrap over the tasks.

    cost: of all its runs.
    """

    contender: str
    runs: int
    solved: float
    low: float
    high: float
    calls: float
    refused: float
    input: float
    output: float
    seconds: float
    cost: float


def interval(shares: Sequence[float]) -> tuple[float, float]:
    """Where 95 % of the means lie of as many drawn, a thousand times; the same each time."""
    dice = random.Random(1)
    drawn = sorted(mean(dice.choices(shares, k=len(shares))) for _ in range(1_000))
    return drawn[25], drawn[974]


def standings(records: Iterable[Record], price: Sequence[float] = (0, 0)) -> list[Standing]:
    """The best first. price: of a million tokens read, and of a million written."""
    groups = defaultdict[str, list[Record]](list)
    for record in records:
        groups[record["contender"]].append(record)
    made = []
    for contender, runs in groups.items():
        good = sum(run["solved"] for run in runs)
        calls, refused, given, said, seconds = (
            mean(run[key] for run in runs)
            for key in ("calls", "refused", "input", "output", "seconds")
        )
        cost = sum(run["input"] * price[0] + run["output"] * price[1] for run in runs) / 1e6
        low, high = interval(by_task(runs))
        share, count = good / len(runs), len(runs)
        made.append(
            Standing(
                contender, count, share, low, high, calls, refused, given, said, seconds, cost
            )
        )  # fmt: skip
    return sorted(made, key=lambda one: (-one.solved, one.input + one.output))


def difference(records: Iterable[Record], one: str, other: str) -> tuple[float, float, float]:
    """How much more of the tasks that both tried `one` solves: mean and 95 % by bootstrap."""
    shares = defaultdict[str, dict[str, list[bool]]](lambda: defaultdict(list))
    for record in records:
        shares[record["task"]][record["contender"]].append(record["solved"])
    gaps = [mean(by[one]) - mean(by[other]) for by in shares.values() if one in by and other in by]
    return (mean(gaps), *interval(gaps)) if gaps else (0.0, -1.0, 1.0)


def by_task(runs: Iterable[Record]) -> list[float]:
    """The share of its runs in which each task was solved."""
    found = defaultdict[str, list[bool]](list)
    for run in runs:
        found[run["task"]].append(run["solved"])
    return [mean(each) for each in found.values()]
