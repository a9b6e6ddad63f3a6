"""Interleaved timings: A B A B, medians, and the ratio of the medians."""

import gc
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Side:
    """One contestant: `prepare` is not timed and its result is handed to `run`."""

    name: str
    run: Callable[..., object]
    prepare: Callable[[], tuple[object, ...]] = tuple


def medians(sides: list[Side], rounds: int) -> list[float]:
    """Seconds of each side, the median of `rounds` after one warm-up, taken in turn."""
    times: list[list[float]] = [[] for _ in sides]
    for number in range(rounds + 1):
        for side, taken in zip(sides, times, strict=True):
            given = side.prepare()
            gc.collect()
            start = time.perf_counter()
            side.run(*given)
            elapsed = time.perf_counter() - start
            if number:
                taken.append(elapsed)
    return [statistics.median(taken) for taken in times]


def peak_mb() -> float:
    """The most memory this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
