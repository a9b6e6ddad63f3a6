"""Finding paths by a glob, as a walk comes upon them."""

from collections.abc import Iterator
from typing import Literal

from fsagent_tools.files.base import Listed
from fsagent_tools.globs import Glob
from fsagent_tools.records import dataclass
from fsagent_tools.search.start import Start
from fsagent_tools.search.walk import Listing, Walk, modified, order

Kind = Literal["file", "dir", "any"]


@dataclass(frozen=True)
class PathSearch:
    """What matches beneath a start; `kind` counts a link as what it leads to."""

    start: Start
    pattern: Glob
    kind: Kind

    def first(self, walk: Walk, wanted: int) -> list[str]:
        """At most `wanted` hits by name; ends as soon as none that is earlier can follow."""
        hits: list[tuple[str, str]] = []
        for listing in walk:
            if len(hits) >= wanted and order(listing.prefix) > hits[-1][0]:
                break
            hits += [(order(sub), sub) for sub, _ in self._in(listing)]
            if len(hits) >= wanted:
                hits = sorted(hits)[:wanted]
        return [sub for _, sub in sorted(hits)]

    def newest(self, walk: Walk) -> list[str]:
        """All hits, the last changed first, equally old ones by name."""
        hits = [
            (-modified(entry), order(sub), sub)
            for listing in walk
            for sub, entry in self._in(listing)
        ]
        return [sub for *_, sub in sorted(hits)]

    def _in(self, listing: Listing) -> Iterator[tuple[str, Listed]]:
        """The path beneath the start, and the entry, of all that match in one directory."""
        prefix, allows = listing.prefix, self.start.allows
        matches = self.pattern.name_matcher(prefix)
        if self.kind != "file":
            for entry in listing.directories:
                if matches(entry.name):
                    yield prefix + entry.name, entry
        endings = self.pattern.endings
        if self.kind != "dir" and any(f"{ending}/" in listing.names for ending in endings):
            for entry in [one for one in listing.entries if one.name.endswith(endings)]:
                name = entry.name
                if matches(name) and self._is_file(entry, prefix + name) and allows(prefix + name):
                    yield prefix + name, entry

    def _is_file(self, entry: Listed, sub: str) -> bool:
        if entry.is_symlink():
            return self.start.target_kind(sub) == "file"
        return entry.is_file(follow_symlinks=False)
