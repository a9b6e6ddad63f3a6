"""Listing, finding and searching as a program asks for them: typed, unclipped, without line IDs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from fsagent_tools.errors import TimedOut
from fsagent_tools.files.base import TEMP_PREFIX, Listed
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.globs import Glob
from fsagent_tools.replies import DirectoryEntry, FoundPaths, SearchHit, SearchHits
from fsagent_tools.search.query import Query, in_any_form, regex_of
from fsagent_tools.search.results import all_hits, searching
from fsagent_tools.search.start import Start
from fsagent_tools.search.walk import Listing, Scope, Walk, order, status

Kind = Literal["file", "dir", "any"]
_KEPT = 1 << 20  # bytes of a line


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
        found = (hit for listing in walk for hit in self._in(listing))
        hits = [(-status(entry, "st_mtime_ns"), order(sub), sub) for sub, entry in found]
        return [sub for *_, sub in sorted(hits)]

    def _in(self, listing: Listing) -> Iterator[tuple[str, Listed]]:
        """The path beneath the start, and the entry, of all that match in one directory."""
        prefix, matches = listing.prefix, self.pattern.name_matcher(listing.prefix)
        for entry in listing.directories if self.kind != "file" else ():
            if matches(entry.name):
                yield prefix + entry.name, entry
        endings = self.pattern.endings
        for entry in listing.entries if self.kind != "dir" else ():
            if entry.name.endswith(endings) and matches(entry.name):
                sub = prefix + entry.name
                if self._is_file(entry, sub) and self.start.allows(sub):
                    yield sub, entry

    def _is_file(self, entry: Listed, sub: str) -> bool:
        if entry.is_symlink():
            return self.start.target_kind(sub) == "file"
        return entry.is_file(follow_symlinks=False)


def list_directory(files: GuardedFiles, path: str) -> tuple[DirectoryEntry, ...]:
    """All entries that the policy shows, hidden ones too, by name."""
    with files.directory(path) as directory:
        start, found = Start(directory.place, files), []
        for entry in directory.entries():
            is_directory, is_file = (
                test(follow_symlinks=False) for test in (entry.is_dir, entry.is_file)
            )
            sees = start.lists if is_directory else start.allows
            if entry.name.startswith(TEMP_PREFIX) or not sees(entry.name):
                continue
            kind = "directory" if is_directory else "file" if is_file else "other"
            kind = "link" if entry.is_symlink() else kind
            try:
                stat = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # gone meanwhile
                continue
            path = start.told(entry.name)
            found.append(DirectoryEntry(path, kind, stat.st_size, stat.st_mtime_ns))
        return tuple(sorted(found, key=lambda entry: entry.path))


def find_paths(files: GuardedFiles, pattern: str, path: str, limit: int, kind: Kind) -> FoundPaths:
    """What matches a glob, as the action `glob` does."""
    with files.directory(path) as directory:
        start = Start(directory.place, files)
        glob = start.glob("pattern", pattern)
        scope = Scope(
            hidden=glob.names_hidden, named=glob.literals, lead=glob.lead, depth=glob.depth
        )
        hits = PathSearch(start, glob, kind).first(Walk(directory, scope, start), limit + 1)
        return FoundPaths(tuple(map(start.told, hits[:limit])), len(hits) > limit)


def query_of(pattern: str, max_file_size: int | str | None, *, fixed: bool, most: int) -> Query:
    """A query for lines; a pattern that spells a newline matches across lines."""
    regex = in_any_form(regex_of(pattern) if fixed else pattern)
    size = max_file_size if isinstance(max_file_size, int) else None
    spans = "\n" in regex or "\\n" in regex
    return Query(regex, multiline=spans, most=most, max_file_size=size)


def search_text(
    files: GuardedFiles, query: Query, path: str, *, include: str | None, timeout: float
) -> SearchHits:
    """Lines that match, one less than `query.most`. Raises `TimedOut` after so many seconds."""
    limit = query.most - 1
    with searching(files, path, include, lambda _: query, seconds=timeout, keep=_KEPT) as it:
        found = all_hits(it, it.accepts, limit + 1)
        if found.late:
            raise TimedOut(f"The search ran longer than {timeout:g} s.")
        hits = tuple(
            SearchHit(it.start.told(hit.path), hit.number, hit.text.decode("utf-8", "replace"))
            for hit in found.matches()
        )
        return SearchHits(hits[:limit], len(hits) > limit or bool(found.unsearched))
