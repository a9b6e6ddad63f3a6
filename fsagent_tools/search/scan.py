"""Listing, finding and searching as a program asks for them: typed, unclipped, without line IDs."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from fsagent_tools.errors import NotADirectory, TimedOut
from fsagent_tools.files.base import TEMP_PREFIX
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.files.guarded_file import Directory, ReadableFile
from fsagent_tools.globs import Glob
from fsagent_tools.replies import DirectoryEntry, FoundPaths, SearchHit, SearchHits
from fsagent_tools.search.encoded import all_hits
from fsagent_tools.search.find import Kind, PathSearch
from fsagent_tools.search.query import Query, in_any_form
from fsagent_tools.search.ripgrep import Search
from fsagent_tools.search.start import Start
from fsagent_tools.search.walk import Scope, Walk
from fsagent_tools.search.where import Where

_KEPT = 1 << 20  # bytes of a line
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


def open_place(files: GuardedFiles, path: str) -> Directory | ReadableFile:
    """The directory or file at `path`, opened."""
    try:
        return files.directory(path)
    except NotADirectory:
        return files.open(path)


def list_directory(files: GuardedFiles, path: str) -> tuple[DirectoryEntry, ...]:
    """All entries that the policy shows, hidden ones too, by name."""
    with files.directory(path) as directory:
        start, found = Start(directory.place, files), []
        for entry in directory.entries():
            sees = start.lists if entry.is_dir(follow_symlinks=False) else start.allows
            if entry.name.startswith(TEMP_PREFIX) or not sees(entry.name):
                continue
            kinds = {
                "link": entry.is_symlink(),
                "directory": entry.is_dir(follow_symlinks=False),
                "file": entry.is_file(follow_symlinks=False),
            }
            kind = next((name for name, holds in kinds.items() if holds), "other")
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # gone meanwhile
                continue
            path = start.told(entry.name)
            found.append(DirectoryEntry(path, kind, status.st_size, status.st_mtime_ns))
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


def regex_of(text: str) -> str:
    """The regex of a plain text, in ripgrep's dialect and in Python's."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def query_of(pattern: str, max_file_size: int | str | None, *, fixed: bool, most: int) -> Query:
    """A query for lines; a pattern that spells a newline matches across lines."""
    regex = in_any_form(regex_of(pattern) if fixed else pattern)
    size = max_file_size if isinstance(max_file_size, int) else None
    spans = "\n" in regex or "\\n" in regex
    return Query(regex, multiline=spans, most=most, max_file_size=size)


@dataclass(frozen=True)
class TextSearch:
    """A search of one opened place. glob: of the files whose lines count."""

    opened: Directory | ReadableFile
    start: Start
    glob: Glob | None
    search: Search

    def accepts(self, sub: str) -> bool:
        """Whether lines of that file count, "" for a single one."""
        counts = self.glob is None or not sub or bool(self.glob.matches(sub))
        return counts and self.start.allows(sub)


@contextmanager
def searching(  # noqa: PLR0913
    files: GuardedFiles,
    path: str,
    include: str | None,
    query: Callable[[Glob | None], Query],
    *,
    seconds: float,
    keep: int,
    absolute: bool = False,
    dotfiles: bool = False,
) -> Iterator[TextSearch]:
    """A search at `path` in files that match `include`; see `Search`, `Start`."""
    with closing(open_place(files, path)) as opened:
        start = Start(opened.place, files, absolute)
        glob = start.glob("include", include, dotfiles=dotfiles) if include else None
        wanted = query(glob)
        with Where.of(opened, wanted, start) as where:
            deadline = time.monotonic() + seconds
            search = Search(wanted, where, deadline, keep, start.programs, start.denied)
            yield TextSearch(opened, start, glob, search)


def search_text(
    files: GuardedFiles, query: Query, path: str, *, include: str | None, timeout: float
) -> SearchHits:
    """Lines that match, one less than `query.most`. Raises `TimedOut` after so many seconds."""
    limit = query.most - 1
    with searching(files, path, include, lambda _: query, seconds=timeout, keep=_KEPT) as it:
        found = all_hits(it.search, it.opened, it.accepts, limit + 1)
        if found.late:
            raise TimedOut(f"The search ran longer than {timeout:g} s.")
        hits = tuple(
            SearchHit(
                it.start.told(hit.path),
                hit.number,
                hit.text.decode("utf-8", "replace").removesuffix("\r"),
            )
            for hit in found.matches()
        )
        return SearchHits(hits[:limit], len(hits) > limit)
