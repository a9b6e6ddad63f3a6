"""The files that a text search is about: opened, read, copied, and those that it does not see."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from fsagent_tools.call import current
from fsagent_tools.errors import Missing, NotAFile, TooLarge, ToolError
from fsagent_tools.files.guarded_file import Directory, ReadableFile
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
_Content = tuple[str, bytes | None]  # a path, and what the file holds, None if it cannot be read


@dataclass(frozen=True)
class SearchTarget:
    """The opened directory to search beneath, or the opened file to search; never a path alone."""

    fd: int
    path: str
    is_file: bool = False
    is_copy: bool = False
    unreadable: bool = False  # some file could not be copied

    @property
    def cwd(self) -> str | None:
        """The verified directory itself: a path could lead elsewhere by now."""
        proc = f"/proc/self/fd/{self.fd}"
        return None if self.is_file else proc if os.path.exists(proc) else self.path

    @classmethod
    @contextmanager
    def of(
        cls, opened: Directory | ReadableFile, query: Query, start: Start
    ) -> "Iterator[SearchTarget]":
        """What is local as it is, anything else as a copy."""
        if opened.fd >= 0:
            yield cls(opened.fd, opened.place.absolute, not isinstance(opened, Directory))
            return
        found: Iterable[_Content] = (
            contents(query, opened, start)
            if isinstance(opened, Directory)
            else [("", opened.read())]
        )
        with cls.copy(found) as copied:
            yield copied

    @classmethod
    @contextmanager
    def copy(cls, found: Iterable[_Content]) -> "Iterator[SearchTarget]":
        """A private copy of files, or of the single one with the path "". Raises `OSError`."""
        with tempfile.TemporaryDirectory(prefix="fsagent-search-") as top, ExitStack() as stack:
            opened, is_file, unreadable = top, False, False
            for sub, data in found:
                current.get().check()
                if data is None:
                    unreadable = True
                    continue
                path = Path(top, sub or "file")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                if not sub:
                    opened, is_file = str(path), True
            fd = os.open(opened, os.O_RDONLY)
            stack.callback(os.close, fd)
            yield cls(fd, opened, is_file, is_copy=True, unreadable=unreadable)


def contents(
    query: Query, top: Directory, start: Start, wanted: Callable[[str], object] = bool
) -> Iterator[_Content]:
    """Paths beneath `top` and what the files hold, by path; None for what could not be read.

    Files that are gone, too large, not `wanted` or outside the query's globs are left out.
    """
    depth = None if query.recursive else 1
    named = frozenset(query.named)
    walk = Walk(top, Scope(query.hidden, query.noise, query.gitignore, named, depth=depth), start)
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
    for path in sorted(paths, key=order):
        if wanted(path) and start.allows(path):
            try:
                with open_by_names(top, path) as file:
                    limit = query.max_file_size
                    if limit is None or file.version.size <= limit:
                        yield path, file.read()
            except (Missing, NotAFile, TooLarge):
                pass
            except ToolError:
                yield path, None


@contextmanager
def open_by_names(top: Directory, path: str) -> Iterator[ReadableFile]:
    """A file, opened name by name. Raises a `ToolError`, `Missing` if it is gone."""
    *names, name = path.split("/")
    with ExitStack() as stack:
        directory = top
        for inner in names:
            if (found := directory.enter(inner)) is None:
                raise Missing(f"{path} is gone.")
            directory = stack.enter_context(found)
        yield stack.enter_context(directory.open(name))


class Unseen:
    """What a search beneath `top` does not see, as far as the first directories tell.

    glob: which files are searched.
    """

    def __init__(self, query: Query, top: Directory, start: Start, glob: Glob | None) -> None:
        scope = Scope(
            query.hidden, query.noise, named=frozenset(query.named), lead=glob.lead if glob else ()
        )
        self._walk, self._query, self._start = Walk(top, scope, start), query, start
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
