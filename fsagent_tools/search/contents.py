"""The files that a text search is about, read one after the other, and those it leaves out."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import islice

from fsagent_tools.errors import Missing, NotAFile, TooLarge, ToolError
from fsagent_tools.files.guarded_file import SNIFFED, Directory
from fsagent_tools.globs import GLOBSTAR, Glob
from fsagent_tools.search.query import Query
from fsagent_tools.search.start import Start
from fsagent_tools.search.walk import Scope, Walk, file_size, order
from fsagent_tools.text import some

TYPES = {  # the file types of ripgrep that are asked for most
    "c": "*.[chH]",
    "cpp": "*.{C,cc,cpp,cxx,h,H,hh,hpp,hxx,inl,c++,h++}",
    "cs": "*.cs",
    "css": "*.{css,scss}",
    "go": "*.go",
    "html": "*.{htm,html,ejs}",
    "java": "*.{java,jsp,jspx,properties}",
    "js": "*.{js,jsx,vue,cjs,mjs}",
    "json": "{*.json,composer.lock,*.sarif}",
    "kotlin": "*.{kt,kts}",
    "lua": "*.lua",
    "md": "*.{markdown,md,mdown,mdwn,mdx,mkd,mkdn}",
    "php": "*.{php,php3,php4,php5,php7,php8,pht,phtml}",
    "py": "*.{py,pyi}",
    "rust": "*.rs",
    "sh": "*.{sh,bash,zsh,ksh,csh,tcsh}",
    "sql": "*.{sql,psql}",
    "swift": "*.swift",
    "toml": "{*.toml,Cargo.lock}",
    "ts": "*.{ts,tsx,cts,mts}",
    "txt": "*.txt",
    "xml": "*.{xml,xml.dist,dtd,xsl,xslt,xsd,xjb,rng,sch,xhtml}",
    "yaml": "*.{yaml,yml}",
}
_LOOKED_AT = 100  # directories
_NAMED = 3  # files of a note


def contents(
    query: Query, top: Directory, start: Start, wanted: Callable[[str], object] = bool
) -> Iterator[tuple[str, bytes | None]]:
    """Paths beneath `top` and what the files hold, by path; None for what could not be read.

    Files that are gone, too large, not `wanted` or outside the query's globs are left out.
    """
    depth = None if query.recursive else 1
    walk = Walk(
        top,
        Scope(query.hidden, query.noise, query.gitignore, frozenset(query.named), depth=depth),
        start,
    )
    typed = (f"**/{TYPES[query.type]}",) if query.type in TYPES else ()
    lists = [[Glob(text.removeprefix("/")) for text in texts] for texts in (query.include, typed)]
    paths = [
        listing.prefix + entry.name
        for listing in walk
        for entry in listing.entries
        if entry.is_file(follow_symlinks=False)
        and all(_fits(listing.prefix + entry.name, globs) for globs in lists if globs)
    ]
    if walk.unreadable:
        yield "", None
    for path in sorted(paths, key=order):
        if wanted(path) and start.allows(path):
            yield from content_of(top, path, query.max_file_size)


class Unseen:
    """What a search beneath `top` does not see, as far as the first directories tell.

    glob: which files are searched.
    """

    def __init__(self, query: Query, top: Directory, start: Start, glob: Glob | None) -> None:
        lead = glob.lead if glob else ()
        scope = Scope(query.hidden, query.noise, named=frozenset(query.named), lead=lead)
        self._walk = Walk(top, scope, start)
        self._most = _LOOKED_AT if query.recursive else 1
        self._limit, self._start = query.max_file_size, start
        self._matches = Glob(glob.pattern if glob else GLOBSTAR).matches
        self._listed: list[tuple[str, str, list[str]]] = []  # of each directory, as in `Listing`
        self._large: list[str] = []

    def search(self) -> None:
        """Once; an engine may search meanwhile."""
        with closing(self._walk.__iter__()) as steps:
            for listing in islice(steps, self._most):
                names = [entry.name for entry in listing.entries]
                self._listed.append((listing.prefix, listing.names, names))
                if self._limit is not None:
                    sizes = {entry.name: file_size(entry) for entry in listing.entries}
                    large = [name for name, size in sizes.items() if size > self._limit]
                    self._large += filter(self._is_searched, (listing.prefix + n for n in large))

    def notes(self, documents: tuple[str, ...]) -> list[str]:
        """Sentences. documents: how the names of files end that are not searched, in lower case."""
        notes, show = self._walk.left_out(self._matches), self._start.show
        if self._large:
            large = some([*map(show, self._large)], _NAMED)
            notes.append(f"Too large to be searched (max_file_size): {large}.")
        if unread := sorted(map(show, filter(self._is_searched, self._ending(documents)))):
            notes.append(f"Documents, not searched: {some(unread, _NAMED)}.")
            notes.append("Set `documents` to search them.")
        return notes

    def _ending(self, endings: tuple[str, ...]) -> Iterator[str]:
        """The paths of files whose names end so; most directories are told by one look."""
        for prefix, all_names, names in self._listed:
            lower = all_names.lower()
            if any(f"{ending}/" in lower for ending in endings):
                yield from (prefix + name for name in names if name.lower().endswith(endings))

    def _is_searched(self, path: str) -> bool:
        return bool(self._matches(path)) and self._start.allows(path)


def _fits(path: str, globs: list[Glob]) -> bool:
    return any(glob.matches(path) for glob in globs)


def content_of(
    top: Directory, path: str, limit: int | None, unless: Callable[[bytes], bool] | None = None
) -> Iterator[tuple[str, bytes | None]]:
    """The path and what the file holds, None where it cannot be read; nothing if it is gone.

    unless: what a file's first bytes say against reading it.
    """
    *names, name = path.split("/")
    with ExitStack() as stack:
        directory = top
        try:
            for inner in names:
                if (found := directory.enter(inner)) is None:
                    return
                directory = stack.enter_context(found)
            file = stack.enter_context(directory.open(name))
            if unless and unless(file.pread(SNIFFED, 0)):
                return
            if limit is None or file.version.size <= limit:
                yield path, file.read()
        except (Missing, NotAFile, TooLarge):
            pass
        except ToolError:
            yield path, None
