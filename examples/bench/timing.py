"""Interleaved timings: A B A B, and the ratio of what the two typically took."""

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

NOTHING: tuple[object, ...] = ()


@dataclass
class Side:
    """One contestant: `prepare` is not timed and its result is handed to `run`."""

    name: str
    run: Callable[..., object]
    prepare: Callable[[], tuple[object, ...]] = lambda: NOTHING


@dataclass
class Row:
    """One line of the table: ours against a peer, with the bar that the ratio must stay under."""

    what: str
    peer: str
    bar: float
    ours: float  # seconds
    theirs: float

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    def __str__(self) -> str:
        met = "yes" if self.ratio <= self.bar else "NO"
        ours, theirs = (f"{seconds * 1e3:,.2f} ms" for seconds in (self.ours, self.theirs))
        bar = f"{self.bar:g}" if self.bar >= 0.1 else f"1/{1 / self.bar:g}"
        return (
            f"| {self.what} | {ours} | {self.peer} | {theirs} | {self.ratio:.3g} | {bar} | {met} |"
        )


HEADER = "| operation | fsagent | peer | its time | ratio | bar | met |\n" + "|---" * 7 + "|"


def compare(what: str, bar: float, ours: Side, *peers: Side, rounds: int = 45) -> Iterator[Row]:
    """Rows of `ours` against each peer, all in turn within one run; medians after a warm-up."""
    sides = [ours, *peers]
    times: list[list[float]] = [[] for _ in sides]
    for number in range(rounds + 1):
        for side, taken in zip(sides, times, strict=True):
            given = side.prepare()
            gc.collect()
            start = time.perf_counter()
            side.run(*given)
            elapsed = time.perf_counter() - start
            if number or rounds == 1:
                taken.append(elapsed)
    own, *others = (statistics.median(taken) for taken in times)
    for side, theirs in zip(peers, others, strict=True):
        yield Row(what, side.name, bar, own, theirs)
