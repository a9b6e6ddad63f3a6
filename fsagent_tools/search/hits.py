"""The first hits of a search in order of path, whatever order the engine finds them in."""

from collections.abc import Callable
from dataclasses import dataclass, field

from fsagent_tools.errors import TimedOut
from fsagent_tools.search.query import Binary, OutputLine
from fsagent_tools.search.ripgrep import Search
from fsagent_tools.search.walk import order


@dataclass
class Hits:
    """Lines found so far, matches and context.

    late: time ran out first. binary: files that were left out for what they contain.
    """

    lines: list[OutputLine] = field(default_factory=list)
    binary: set[str] = field(default_factory=set)
    late: bool = False

    def add(self, other: "Hits") -> None:
        """What another search found in other files."""
        self.lines += other.lines
        self.lines.sort(key=lambda line: (order(line.path), line.number))
        self.late |= other.late

    def matches(self) -> list[OutputLine]:
        return [line for line in self.lines if line.matches]


def first_hits(search: Search, accepts: Callable[[str], bool], wanted: int) -> Hits:
    """The first `wanted` matches by path among the files that `accepts` lets through.

    All cores search as long as there may be fewer; only when there are more does a second run go
    through the files in order, and it ends as soon as it has them.
    """
    hits = _collect(search, accepts, wanted, in_order=False)
    if len(hits.matches()) >= wanted and not search.is_sorted:
        hits = _collect(search, accepts, wanted, in_order=True)
    hits.lines.sort(key=lambda line: (order(line.path), line.number))
    return hits


def _collect(
    search: Search, accepts: Callable[[str], bool], wanted: int, *, in_order: bool
) -> Hits:
    hits, found = Hits(), 0
    known: dict[str, bool] = {}
    run = search.run(in_order=in_order)
    try:
        for record in run:
            path = record.path
            if path not in known:
                known[path] = accepts(path)
            if not known[path]:
                continue
            if isinstance(record, Binary):
                hits.binary.add(path)
                hits.lines = [line for line in hits.lines if line.path != path]
                found = len(hits.matches())
                continue
            hits.lines.append(record)
            found += record.matches
            if found >= wanted:
                break
    except TimedOut:
        hits.late = True
    finally:
        run.close()
    return hits
