"""The first hits of a search in order of path, in texts of every encoding and in notebooks."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice

from fsagent_tools.encoding import Assumed, decode, is_utf8, looks_binary
from fsagent_tools.errors import NotADirectory, TimedOut, ToolError
from fsagent_tools.files.base import SNIFFED
from fsagent_tools.files.guarded import Directory, GuardedFiles, ReadableFile
from fsagent_tools.globs import Glob
from fsagent_tools.notebook import Notebook, is_notebook
from fsagent_tools.search.contents import contents, open_by_names
from fsagent_tools.search.query import UTF8_MAX, OutputLine, Query
from fsagent_tools.search.ripgrep import Search, Texts
from fsagent_tools.search.start import Start
from fsagent_tools.search.walk import order
from fsagent_tools.text import NOTEBOOK

Accepts = Callable[[str], bool]  # whether lines of a file count
_MOST = 500  # files in other encodings that are searched
_MAX_SIZE, _MAX_SUM = 16 << 20, 64 << 20  # bytes of one, and of all
_SECONDS_OF_BINARIES = 3.0  # after which files with NULs, such as images of disks, are left alone
_NO_UTF8 = (  # a byte that begins no character, or a character that breaks off or has no beginning
    r"(?-u:[\xC0\xC1\xF5-\xFF]|[\xC2-\xF4](?:[^\x80-\xBF]|$)"
    r"|[\xE0-\xF4][\x80-\xBF](?:[^\x80-\xBF]|$)|(?:^|[\x00-\x7F])[\x80-\xBF]"
    r"|[\xC2-\xDF][\x80-\xBF]{2}|[\xE0-\xEF][\x80-\xBF]{3}"
    r"|[\xF0-\xF4][\x80-\xBF]{2}(?:[\x80-\xBF]{2}|[^\x80-\xBF]|$))"
)
_SPELLED_OTHERWISE = re.compile(r"[\"^$\\]|[^\0-\x7f]")  # in JSON
_ESCAPED = re.compile(r"\\\W")
_FOREIGN = re.compile(r"[^\0-\x7f]|\.|\[:?\^|\\[^\W_abfnrtvzA]")  # may match other than ASCII


@dataclass
class Hits:
    """Lines found so far, matches and context.

    late: time ran out first. binary: files that were left out for what they contain. unsearched:
    texts that are not plain UTF-8, too large or too many to be decoded. unreadable: some file is.
    """

    lines: list[OutputLine] = field(default_factory=list)
    binary: set[str] = field(default_factory=set)
    unsearched: set[str] = field(default_factory=set)
    late: bool = False
    unreadable: bool = False

    def add(self, other: "Hits") -> None:
        """What another search found in other files."""
        self.lines = sorted([*self.lines, *other.lines], key=_position)
        self.late |= other.late
        self.unreadable |= other.unreadable

    def matches(self) -> list[OutputLine]:
        return [line for line in self.lines if line.matches]


def _position(line: OutputLine) -> tuple[str, int]:
    return order(line.path), line.number


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
) -> Iterator[Search]:
    """A search at `path` in files that match `include`; see `Search`, `Start`.

    What is not on this machine is searched in a copy.
    """
    try:
        opened: Directory | ReadableFile = files.directory(path)
    except NotADirectory:
        opened = files.open(path)
    with closing(opened):
        start = Start(opened.place, files, absolute)
        glob = start.glob("include", include, dotfiles=dotfiles) if include else None
        search = Search(query(glob), opened, start, 0, keep, glob)
        local = opened.fd >= 0
        texts = contents(search.query, opened, start)
        with nullcontext(search) if local else search.in_copy(texts) as search:
            search.deadline = time.monotonic() + seconds
            yield search


def first_hits(search: Search, accepts: Accepts, wanted: int) -> Hits:
    """The first `wanted` matches by path among the files that `accepts` lets through.

    All cores search as long as there may be fewer; only when there are more does a second run go
    through the files in order, and it ends as soon as it has them. One file, and the fallback, are
    always in order.
    """
    hits = _collect(search, accepts, wanted, in_order=False)
    if len(hits.matches()) >= wanted and not (search.is_file or search.by_python):
        hits = _collect(search, accepts, wanted, in_order=True)
    hits.lines.sort(key=_position)
    return hits


def _collect(search: Search, accepts: Accepts, wanted: int, *, in_order: bool) -> Hits:
    hits, found, last = Hits(late=True), 0, None
    known: dict[str, bool] = {}
    with closing(search.run(in_order=in_order)) as run, suppress(TimedOut):
        for line in run:
            path = line.path
            if path not in known:
                known[path] = accepts(path)
            if not known[path]:
                continue
            if line.binary:
                hits.binary.add(path)
                hits.lines = [line for line in hits.lines if line.path != path]
                found = len(hits.matches())
            elif search.query.mode != "files_with_matches" or path != last:  # its first line
                hits.lines.append(line)
                found += line.matches
                last = path
            if found >= wanted:
                break
        hits.late = False
    hits.unreadable = search.unreadable
    return hits


def hits_in_copy(search: Search, found: Texts, accepts: Accepts, wanted: int) -> Hits:
    """What a search finds in texts, which it gets as UTF-8. Raises `OSError`."""
    query = replace(search.query, type="", include=(), hidden=True, noise=True, gitignore=False)
    query = replace(query, max_file_size=None, binary=False)
    with replace(search, query=query).in_copy(found) as copied:
        return first_hits(copied, accepts, wanted)


def all_hits(
    search: Search, accepts: Accepts, wanted: int, assumed: Callable[[str], str] = lambda _: ""
) -> Hits:
    """The first `wanted` matches by path, as `first_hits` finds them, in every text.

    ripgrep knows UTF-8 and marked UTF-16. Other texts that it hit, and where the pattern may match
    what other encodings spell otherwise all of them, are decoded and searched again.

    Args:
        search: The search.
        accepts: Whether lines of a file count.
        wanted: The most matches.
        assumed: The encoding that a host or a project has for a file, by its path.
    """
    if search.by_python:  # which decodes them itself
        return first_hits(search, accepts, wanted)
    hits, whole = _with_binaries(search, accepts, wanted), search.opened.place.told
    try:
        texts = iter(()) if hits.late else _other_texts(search, accepts, hits)
        if not (first := [*islice(texts, 1)]):  # most often, so nothing is copied
            return hits
        utf8 = (
            (path, _as_utf8(data, path or whole, partial(assumed, path)))
            for path, data in chain(first, texts)
        )
        more = hits_in_copy(search, utf8, accepts, wanted)
    except OSError:  # what ripgrep found stands
        return hits
    paths = {line.path for line in more.lines}  # of others, in two encodings say, ripgrep's stay
    if not more.late:  # but not those in the JSON of notebooks, whose lines nobody is shown
        paths |= {line.path for line in hits.lines if is_notebook(line.path or whole)}
    hits.lines = [line for line in hits.lines if line.path not in paths]
    hits.add(more)
    return hits


def _with_binaries(search: Search, accepts: Accepts, wanted: int) -> Hits:
    """The first hits, with the files with NULs that match, unless to read those takes long."""
    if search.is_file:
        return first_hits(search, accepts, wanted)
    deadline = min(search.deadline, time.monotonic() + _SECONDS_OF_BINARIES)
    query = replace(search.query, binary=True)
    hits = first_hits(replace(search, query=query, deadline=deadline), accepts, wanted)
    search = replace(search, meanwhile=None)
    if hits.late and deadline < search.deadline:
        return first_hits(search, accepts, wanted)
    if query.mode == "count":
        named = replace(search, query=replace(query, mode="files_with_matches"))
        hits.binary = first_hits(named, accepts, wanted).binary
    return hits


def _other_texts(search: Search, accepts: Accepts, hits: Hits) -> Iterator[tuple[str, bytes]]:
    """The texts that are not plain UTF-8, of those with hits or of all; no longer binary then."""
    whole, pattern = search.opened.place.told, search.query.pattern
    odd = hits.binary | {line.path for line in hits.lines if not _is_utf8(line)}
    odd |= {line.path for line in hits.lines if is_notebook(line.path or whole)}
    if not search.is_file:
        if _FOREIGN.search(_ESCAPED.sub("", pattern)):
            odd |= _matching(search, accepts, hits, _NO_UTF8)
        if _SPELLED_OTHERWISE.search(pattern):
            odd |= _matching(search, accepts, hits, '"cell_type"', f"*{NOTEBOOK}")
    left = _MAX_SUM
    for n, path in enumerate(sorted(odd | {""} if search.is_file else odd, key=order)):
        with suppress(ToolError), _opened(search, path) as file:
            if looks_binary(file.pread(SNIFFED, 0)):
                continue
            if n >= _MOST or file.version.size > min(left, _MAX_SIZE):
                hits.unsearched |= {path} & odd
                continue
            data = file.pread(_MAX_SIZE, 0)
            is_plain = is_utf8(data) and b"\0" not in data
            if (is_plain and not is_notebook(path or whole)) or looks_binary(data):
                continue
            hits.binary.discard(path)
            left -= len(data)
            yield path, data


def _opened(search: Search, path: str) -> AbstractContextManager[ReadableFile]:
    top = search.opened
    return open_by_names(top, path) if isinstance(top, Directory) else nullcontext(top)


def _as_utf8(data: bytes, name: str, assumed: Assumed) -> bytes:
    """As `read` shows it; what cannot be decoded is left to the engine."""
    if is_notebook(name) and (cells := Notebook.of(data)):
        return cells.utf8
    with suppress(ToolError):
        return decode(data, "", None, assumed).utf8
    return data


def _is_utf8(line: OutputLine) -> bool:
    """A line that was cut may end within a character."""
    try:
        line.text.decode()
    except UnicodeDecodeError as error:
        return bool(line.more) and error.start > len(line.text) - UTF8_MAX
    return True


def _matching(
    search: Search, accepts: Accepts, hits: Hits, pattern: str, *include: str
) -> set[str]:
    """Paths of the first files with a line that matches another pattern."""
    query = replace(search.query, pattern=pattern, include=(*search.query.include, *include))
    query = replace(query, mode="files_with_matches", case_sensitive=True, multiline=False)
    found = first_hits(replace(search, query=query, meanwhile=None), accepts, 1 << 30)
    hits.late |= found.late
    return {line.path for line in found.lines}
