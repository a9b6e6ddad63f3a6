"""The files that a text search is about, read one after the other, from wherever they are."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, Literal, Self

from fsagent_tools.call import current
from fsagent_tools.errors import Missing, NotAFile, TooLarge, ToolError
from fsagent_tools.files.directory import LocalDirectory
from fsagent_tools.files.open_file import OpenFile
from fsagent_tools.files.port import Directory, ReadableFile
from fsagent_tools.globs import GLOBSTAR, Glob
from fsagent_tools.search.dialect import TYPES
from fsagent_tools.search.query import Query
from fsagent_tools.search.start import Start, printable_path
from fsagent_tools.search.walk import Scope, Walk, file_size, order

WhereKind = Literal["directory", "file", "spool"]
UNREADABLE = -1  # in place of a size
_LOOKED_AT = 100  # directories


@dataclass(frozen=True)
class Where:
    """The opened directory to search beneath, or the opened file to search; never a path alone.

    kind: "spool" is a file that `spool` made.
    """

    fd: int
    absolute: str
    kind: WhereKind = "directory"

    @property
    def cwd(self) -> str | None:
        """The verified directory itself: a path could lead elsewhere by now."""
        if self.kind != "directory":
            return None
        proc = f"/proc/self/fd/{self.fd}"
        return proc if os.path.exists(proc) else self.absolute

    @classmethod
    @contextmanager
    def of(cls, opened: Directory | ReadableFile, query: Query, start: Start) -> "Iterator[Self]":
        """What is local as it is, anything else as a temporary file of its contents."""
        absolute = opened.place.absolute
        if isinstance(opened, LocalDirectory):
            yield cls(opened.fd, absolute)
        elif isinstance(opened, OpenFile):
            yield cls(opened.fd, absolute, "file")
        else:
            with spool(opened, query, start) as spooled:
                yield cls(spooled.fileno(), absolute, "spool")


def contents(query: Query, top: Directory, start: Start) -> Iterator[tuple[str, bytes | None]]:
    """Paths beneath `top` and what the files hold, by path; None for what could not be read.

    Files that are gone, too large or outside the query's globs are left out.
    """
    depth = None if query.recursive else 1
    walk = Walk(
        top,
        Scope(query.hidden, query.noise, query.gitignore, frozenset(query.named), depth=depth),
        start,
    )
    typed = f"**/{TYPES[query.type]}" if query.type in TYPES else ""
    globs = [Glob(pattern) for pattern in (query.include.removeprefix("/"), typed) if pattern]
    paths = [
        listing.prefix + entry.name
        for listing in walk
        for entry in listing.entries
        if entry.is_file(follow_symlinks=False)
        and all(glob.matches(listing.prefix + entry.name) for glob in globs)
    ]
    if walk.unreadable:
        yield "", None
    for path in sorted(paths, key=order):
        if start.allows(path):
            yield from _content(top, path, query.max_file_size)


def left_out(query: Query, top: Directory, start: Start, glob: Glob | None) -> list[str]:
    """What a search beneath `top` does not see, as far as the first directories tell; sentences.

    glob: which files are searched.
    """
    lead = glob.lead if glob else ()
    matches = Glob(glob.pattern if glob else GLOBSTAR).matches
    scope = Scope(query.hidden, query.noise, named=frozenset(query.named), lead=lead)
    walk, limit = Walk(top, scope, start), query.max_file_size
    with closing(walk.__iter__()) as steps:
        large = [
            path
            for listing in islice(steps, _LOOKED_AT if query.recursive else 1)
            for entry in listing.entries
            if limit is not None and file_size(entry) > limit
            if matches(path := listing.prefix + entry.name) and start.allows(path)
        ]
    notes = walk.left_out(matches)
    if large:
        names = ", ".join(printable_path(path) for path in large[:3])
        more = f" and {len(large) - 3:,} more" if len(large) > 3 else ""
        notes.append(f"Too large to be searched (max_file_size): {names}{more}.")
    return notes


def _content(top: Directory, path: str, limit: int | None) -> Iterator[tuple[str, bytes | None]]:
    *names, name = path.split("/")
    with ExitStack() as stack:
        directory = top
        try:
            for inner in names:
                if (found := directory.enter(inner)) is None:
                    return
                directory = stack.enter_context(found)
            file = stack.enter_context(directory.open(name))
            if limit is None or file.version.size <= limit:
                yield path, file.read()
        except (Missing, NotAFile, TooLarge):
            pass
        except ToolError:
            yield path, None


def spool(opened: Directory | ReadableFile, query: Query, start: Start) -> IO[bytes]:
    """An open temporary file without a name that holds all contents, for `unspool`.

    A single file has the path "".
    """
    import tempfile  # slow to import, and only for files that are elsewhere

    spooled = tempfile.TemporaryFile()  # noqa: SIM115  # the caller closes it
    try:
        found = (
            contents(query, opened, start)
            if isinstance(opened, Directory)
            else iter([("", opened.read())])
        )
        for path, data in found:
            current.get().check()
            name = path.encode("utf-8", "surrogateescape")
            spooled.write(b"%d %d\n" % (len(name), UNREADABLE if data is None else len(data)))
            spooled.write(name + (data or b""))
        spooled.seek(0)
    except BaseException:
        spooled.close()
        raise
    return spooled


def unspool(spooled: IO[bytes]) -> Iterator[tuple[str, bytes | None]]:
    """What `spool` wrote, as `contents` gives it."""
    while header := spooled.readline():
        length, size = map(int, header.split())
        path = spooled.read(length).decode("utf-8", "surrogateescape")
        yield path, None if size == UNREADABLE else spooled.read(size)
