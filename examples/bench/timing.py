"""Interleaved timings: A B A B, and the ratio of what the two typically took."""

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

NOTHING: tuple[object, ...] = ()


@dataclass
class Side:
    """One contestant: `prepare` is not timed and its result is handed to `run`."""

    name: str
    run: Callable[..., object]
    prepare: Callable[[], tuple[object, ...]] = lambda: NOTHING


@dataclass
class Times:
    """Seconds of each round."""

    rounds: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    def __str__(self) -> str:
        """The median and the quartiles around it."""
        if len(self.rounds) < 3:
            return f"{self.median * 1e3:,.2f} ms"
        low, _, high = statistics.quantiles(self.rounds, n=4, method="inclusive")
        return f"{self.median * 1e3:,.2f} ({low * 1e3:,.2f} to {high * 1e3:,.2f}) ms"


@dataclass
class Row:
    """One line of the table: ours against a peer, with the bar that the ratio must stay under.

    bar: None where times are only told. floor: what this machine takes for the same bytes by the
    barest means; None if none was timed.
    """

    what: str
    peer: str
    bar: float | None
    ours: Times
    theirs: Times
    floor: Times | None = None

    @property
    def ratio(self) -> float:
        return self.ours.median / self.theirs.median

    def __str__(self) -> str:
        bar = met = ""
        if self.bar is not None:
            met = "yes" if self.ratio <= self.bar else "NO"
            bar = f"{self.bar:g}" if self.bar >= 0.1 else f"1/{1 / self.bar:g}"
        floor = str(self.floor or "")
        cells = (self.what, self.peer, f"{self.ratio:.3g}", bar, met, self.ours, self.theirs, floor)
        return f"| {' | '.join(map(str, cells))} |"


COLUMNS = ("operation", "peer", "ratio", "aimed at", "met", "fsagent", "its time", "floor")
HEADER = f"| {' | '.join(COLUMNS)} |\n" + "|---" * len(COLUMNS) + "|"


def compare(
    what: str,
    bar: float | None,
    ours: Side,
    *peers: Side,
    rounds: int = 45,
    floor: Side | None = None,
) -> Iterator[Row]:
    """Rows of `ours` against each peer, all in turn within one run, the first round not counted."""
    sides = [ours, *peers, *([floor] if floor else [])]
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
    own, *others = map(Times, times)
    bare = others.pop() if floor else None
    for side, theirs in zip(peers, others, strict=True):
        yield Row(what, side.name, bar, own, theirs, bare)
