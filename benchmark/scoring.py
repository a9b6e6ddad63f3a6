"""From records of single calls to shares of the mix, and how they differ between kinds of hunks."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from benchmark.dialects.base import Dialect
from benchmark.hunks import Hunk
from benchmark.slips import KINDS, MIX, NO_RETRY, ONLY_MARKS, ONLY_QUOTES, make

OUTCOMES = ("applied", "refused", "warned", "corrupted")
Record = Mapping[str, Any]
Pairs = Mapping[str, Set[str]]  # names of hunks by kind of slip


@dataclass
class Score:
    """Of 100 calls of the mix; `counts` are calls of each kind, `retry` the repaired refusals.

    parts: what each kind adds to the shares. open: calls of the mix that were not made yet.
    """

    name: str
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    parts: dict[str, dict[str, float]] = field(default_factory=dict)
    retry: float | None = None
    open: int = 0

    def share(self, outcome: str) -> float:
        return sum(part[outcome] for part in self.parts.values())


def pairs(hunks: Iterable[Hunk], kinds: Iterable[str] = KINDS) -> Pairs:
    """To which hunks each slip can happen, by quote or by mark; the same for whoever is scored."""
    found: dict[str, set[str]] = {kind: set() for kind in kinds}
    for hunk in hunks:
        ways = (hunk.quoted(), True, ONLY_MARKS), (hunk.addressed(), False, ONLY_QUOTES)
        for kind, names in found.items():
            if any(make(h, kind, quoting=q) for h, q, others in ways if kind not in others):
                names.add(hunk.name)
    return found


def score(
    name: str,
    dialect: Dialect,
    records: Iterable[Record],
    shared: Pairs,
    mix: Mapping[str, float] = MIX,
) -> Score:
    """The mean over the mix, each kind over its hunks in `shared`.

    A slip that this dialect cannot make, at all or in one hunk, is scored as the clean call of that
    hunk, one that no hunk allows as all clean calls: no weight goes from one kind to the others. A
    hunk that the dialect cannot name even then is refused.
    """
    found, known = Score(name), dict[tuple[str, str], Record]()
    for record in records:
        known[record["kind"], record["hunk"]] = record
        if record["outcome"] != "absent":
            found.counts[record["kind"]][record["outcome"]] += 1
    refused = good = 0.0
    for kind, weight in mix.items():
        slip = kind if shared[kind] else "clean"
        rows = [told(known, dialect, slip, hunk) for hunk in shared[slip]]
        made = [row for row in rows if row is not None]
        found.open += len(rows) - len(made)
        each = weight / max(1, len(made))
        outcomes = Counter("refused" if r["outcome"] == "absent" else r["outcome"] for r in made)
        found.parts[kind] = {outcome: each * outcomes[outcome] for outcome in OUTCOMES}
        again = [row["retry"] for row in made if "retry" in row and row["kind"] not in NO_RETRY]
        refused, good = refused + each * len(again), good + each * sum(again)
    whole = sum(share for part in found.parts.values() for share in part.values())
    for part in found.parts.values():  # of 100, whatever the weights add up to
        part.update(
            {outcome: 100 * share / whole for outcome, share in part.items()} if whole else {}
        )
    found.retry = good / refused if refused else None
    return found


def told(
    known: Mapping[tuple[str, str], Record], dialect: Dialect, kind: str, hunk: str
) -> Record | None:
    """What counts for a slip on a hunk; None where that call was not made yet."""
    slip = None if kind in dialect.as_meant else known.get((kind, hunk))
    if kind in dialect.as_meant or (slip and slip["outcome"] == "absent"):
        return known.get(("clean", hunk))
    return slip
