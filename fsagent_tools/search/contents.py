"""The files that a text search is about: listed, opened by name, and those that it does not see."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import islice

from fsagent_tools.errors import Missing, NotAFile, TooLarge, ToolError
from fsagent_tools.files.guarded import Directory, ReadableFile
from fsagent_tools.globs import GLOBSTAR, Glob
from fsagent_tools.search.query import Query
from fsagent_tools.search.start import Start
from fsagent_tools.search.walk import Scope, Walk, order, status
from fsagent_tools.text import some

TYPES = {  # the file types of ripgrep that are asked for most
    **{name: f"*.{name}" for name in ("cs", "go", "lua", "swift", "txt")},
    **{"c": "*.[chH]", "cpp": "*.{C,cc,cpp,cxx,h,H,hh,hpp,hxx,inl,c++,h++}", "rust": "*.rs"},
    **{"css": "*.{css,scss}", "html": "*.{htm,html,ejs}", "java": "*.{java,jsp,jspx,properties}"},
    **{"js": "*.{js,jsx,vue,cjs,mjs}", "ts": "*.{ts,tsx,cts,mts}", "kotlin": "*.{kt,kts}"},
    **{"json": "{*.json,composer.lock,*.sarif}", "toml": "{*.toml,Cargo.lock}"},
    **{"md": "*.{markdown,md,mdown,mdwn,mdx,mkd,mkdn}", "py": "*.{py,pyi}"},
    **{"php": "*.{php,php3,php4,php5,php7,php8,pht,phtml}", "sql": "*.{sql,psql}"},
    **{"sh": "*.{sh,bash,zsh,ksh,csh,tcsh}", "yaml": "*.{yaml,yml}"},
    "xml": "*.{xml,xml.dist,dtd,xsl,xslt,xsd,xjb,rng,sch,xhtml}",
}
_MOST_DIRECTORIES = 100  # that are looked at for what is not seen
_NAMED = 3  # files of a note


def contents(
    query: Query,
    opened: Directory | ReadableFile,
    start: Start,
    wanted: Callable[[str], object] = bool,
) -> Iterator[tuple[str, bytes | None]]:
    """Paths beneath `opened` and what the files hold, by path; None for what could not be read.

    A single file has the path "". Files that are gone, too large, not `wanted` or outside the
    query's globs are left out.
    """
    if not isinstance(opened, Directory):
        yield "", opened.read()
        return
    depth, named = None if query.recursive else 1, frozenset(query.named)
    scope = Scope(query.hidden, query.noise, query.gitignore, named, depth=depth)
    walk = Walk(opened, scope, start)
    typed = (f"**/{TYPES[query.type]}",) if query.type in TYPES else ()
    lists = [[Glob(text.removeprefix("/")) for text in texts] for texts in (query.include, typed)]
    paths = [
        path
        for listing in walk
        for entry in listing.entries
        if entry.is_file(follow_symlinks=False) and (path := listing.prefix + entry.name)
        if all(any(glob.matches(path) for glob in globs) for globs in lists if globs)
    ]
    if walk.unreadable:
        yield "", None
    limit = query.max_file_size
    for path in sorted(paths, key=order):
        if wanted(path) and start.allows(path):
            try:
                with suppress(Missing, NotAFile, TooLarge), open_by_names(opened, path) as file:
                    if limit is None or file.version.size <= limit:
                        yield path, file.read()
            except ToolError:
                yield path, None


@contextmanager
def open_by_names(top: Directory, path: str) -> Iterator[ReadableFile]:
    """A file, opened name by name. Raises a `ToolError`, `Missing` if it is gone."""
    *names, name = path.split("/")
    with ExitStack() as stack:
        for inner in names:
            if (found := top.enter(inner)) is None:
                raise Missing(f"{path} is gone.")
            top = stack.enter_context(found)
        yield stack.enter_context(top.open(name))


class Unseen:
    """What a search beneath `top` does not see, as far as the first directories tell.

    glob: which files are searched.
    """

    def __init__(self, query: Query, top: Directory, start: Start, glob: Glob | None) -> None:
        named, lead = frozenset(query.named), glob.lead if glob else ()
        self._walk = Walk(top, Scope(query.hidden, query.noise, named=named, lead=lead), start)
        self._query, self._start = query, start
        self._matches = Glob(glob.pattern if glob else GLOBSTAR).matches
        self._files: list[tuple[str, bool]] = []  # each with whether it is too large

    def search(self) -> None:
        """Once; an engine may search meanwhile."""
        limit = self._query.max_file_size
        with closing(self._walk.__iter__()) as steps:
            for listing in islice(steps, _MOST_DIRECTORIES if self._query.recursive else 1):
                for entry in listing.entries:
                    large = limit is not None and status(entry, "st_size") > limit
                    self._files.append((listing.prefix + entry.name, large))

    def notes(self, documents: tuple[str, ...]) -> list[str]:
        """Sentences. documents: how the names of files end that are not searched, in lower case."""
        notes = self._walk.left_out(self._matches)
        if large := self._some(path for path, is_large in self._files if is_large):
            notes.append(f"Too large to be searched (max_file_size): {large}.")
        if unread := self._some(p for p, _ in self._files if p.lower().endswith(documents)):
            notes.append(f"Documents, not searched: {unread}.")
            notes.append("Set `documents` to search them.")
        return notes

    def _some(self, paths: Iterable[str]) -> str:
        found = (path for path in paths if self._matches(path) and self._start.allows(path))
        return some(sorted(map(self._start.show, found)), _NAMED)
