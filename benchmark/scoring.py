"""From records of single calls to shares of the mix, and how they differ between kinds of hunks."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.dialects.base import Dialect
from benchmark.hunks import Hunk
from benchmark.slips import MIX, NO_RETRY

OUTCOMES = ("applied", "refused", "warned", "corrupted")
Record = Mapping[str, Any]


@dataclass
class Score:
    """Of 100 calls of the mix; `counts` are calls of each kind, `retry` the repaired refusals."""

    name: str
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    shares: dict[str, float] = field(default_factory=dict)
    retry: float | None = None

    def share(self, outcome: str) -> float:
        return self.shares.get(outcome, 0.0)


def score(
    name: str, dialect: Dialect, records: Iterable[Record], mix: Mapping[str, float] = MIX
) -> Score:
    """A slip that a dialect cannot make is sent as meant; one that no hunk allows is left out."""
    found, again = Score(name), defaultdict[str, list[bool]](list)
    for record in records:
        if record["outcome"] != "absent":
            found.counts[record["kind"]][record["outcome"]] += 1
        if "retry" in record:
            again[record["kind"]].append(record["retry"])
    weights = defaultdict[str, float](float)
    for kind, weight in mix.items():
        weights["clean" if kind in dialect.as_meant else kind] += weight
    weights = defaultdict(
        float, {kind: w for kind, w in weights.items() if found.counts[kind].total()}
    )
    whole = sum(weights.values())
    for outcome in OUTCOMES:
        parts = (
            weight * found.counts[kind][outcome] / found.counts[kind].total()
            for kind, weight in weights.items()
        )
        found.shares[outcome] = 100 * sum(parts) / whole if whole else 0.0
    found.retry = repaired(found, weights, again)
    return found


def repaired(
    found: Score, weights: Mapping[str, float], again: Mapping[str, list[bool]]
) -> float | None:
    """The share of refusals that a second call made good, weighted as they come in the mix."""
    refused = good = 0.0
    for kind, told in again.items():
        if told and kind in weights and kind not in NO_RETRY:
            part = weights[kind] / found.counts[kind].total()
            refused += part * len(told)
            good += part * sum(told)
    return good / refused if refused else None


def size(hunk: Hunk) -> str:
    lines = hunk.before.count("\n")
    return "under 100 lines" if lines < 100 else "100 to 499" if lines < 500 else "500 and more"


def change(hunk: Hunk) -> str:
    start, stop = hunk.core
    return "insertion" if start == stop else "deletion" if not hunk.new else "replacement"


def copies(hunk: Hunk) -> str:
    """How many of the file's lines with text stand in it more than once."""
    counts = Counter(line.strip() for line in hunk.lines if line.strip())
    share = sum(n for n in counts.values() if n > 1) / max(1, counts.total())
    return "under 10 %" if share < 0.1 else "10 to 29 %" if share < 0.3 else "30 % and more"


def language(hunk: Hunk) -> str:
    return hunk.path.rpartition(".")[2]


STRATA: dict[str, Callable[[Hunk], str]] = {
    "language": language, "size of the file": size, "change": change, "duplicate lines": copies,
}  # fmt: skip


def strata(
    name: str, dialect: Dialect, records: Sequence[Record], hunks: Mapping[str, Hunk]
) -> Iterable[tuple[str, str, int, Score]]:
    """(what, stratum, hunks in it, score) for every stratum of every kind."""
    for what, of in STRATA.items():
        groups = defaultdict[str, set[str]](set)
        for key, hunk in hunks.items():
            groups[of(hunk)].add(key)
        for stratum, keys in sorted(groups.items()):
            inside = [record for record in records if record["hunk"] in keys]
            yield what, stratum, len(keys), score(name, dialect, inside)
