"""The first hits of a search in order of path, in texts of every encoding and in notebooks."""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice

from fsagent_tools.encoding import Assumed, decode, is_utf8, looks_binary
from fsagent_tools.errors import NotADirectory, TimedOut, ToolError
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.files.guarded_file import SNIFFED, Directory, ReadableFile
from fsagent_tools.globs import Glob
from fsagent_tools.notebook import Notebook, is_notebook
from fsagent_tools.search.contents import SearchTarget, open_by_names
from fsagent_tools.search.query import UTF8_MAX, Binary, OutputLine, Query
from fsagent_tools.search.ripgrep import Search
from fsagent_tools.search.start import Start
from fsagent_tools.search.walk import order
from fsagent_tools.text import NOTEBOOK

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

    def sort(self) -> None:
        self.lines.sort(key=lambda line: (order(line.path), line.number))

    def add(self, other: "Hits") -> None:
        """What another search found in other files."""
        self.lines += other.lines
        self.sort()
        self.late |= other.late
        self.unreadable |= other.unreadable

    def matches(self) -> list[OutputLine]:
        return [line for line in self.lines if line.matches]


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
    try:
        opened: Directory | ReadableFile = files.directory(path)
    except NotADirectory:
        opened = files.open(path)
    with closing(opened):
        start = Start(opened.place, files, absolute)
        glob = start.glob("include", include, dotfiles=dotfiles) if include else None
        wanted = query(glob)
        with SearchTarget.of(opened, wanted, start) as source:
            deadline = time.monotonic() + seconds
            search = Search(wanted, source, deadline, keep, start.programs, start.denied)
            yield TextSearch(opened, start, glob, search)


def first_hits(search: Search, accepts: Callable[[str], bool], wanted: int) -> Hits:
    """The first `wanted` matches by path among the files that `accepts` lets through.

    All cores search as long as there may be fewer; only when there are more does a second run go
    through the files in order, and it ends as soon as it has them.
    """
    hits = _collect(search, accepts, wanted, in_order=False)
    if len(hits.matches()) >= wanted and not search.is_sorted:
        hits = _collect(search, accepts, wanted, in_order=True)
    hits.sort()
    return hits


def _collect(
    search: Search, accepts: Callable[[str], bool], wanted: int, *, in_order: bool
) -> Hits:
    hits, found, last = Hits(late=True), 0, None
    known: dict[str, bool] = {}
    with closing(search.run(in_order=in_order)) as run, suppress(TimedOut):
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
            elif search.query.mode != "files_with_matches" or path != last:  # its first line
                hits.lines.append(record)
                found += record.matches
                last = path
            if found >= wanted:
                break
        hits.late = False
    hits.unreadable = search.unreadable
    return hits


def hits_in_copy(
    search: Search,
    found: Iterable[tuple[str, bytes | None]],
    accepts: Callable[[str], bool],
    wanted: int,
) -> Hits:
    """What a search finds in texts, which it gets as UTF-8. Raises `OSError`."""
    query = replace(search.query, type="", include=(), hidden=True, noise=True, gitignore=False)
    with SearchTarget.copy(found) as source:
        query = replace(query, max_file_size=None, binary=False)
        copied = replace(search, query=query, source=source, denied=(), meanwhile=None)
        return first_hits(copied, accepts, wanted)


def all_hits(
    it: TextSearch,
    accepts: Callable[[str], bool],
    wanted: int,
    assumed: Callable[[str], str] = lambda _: "",
) -> Hits:
    """The first `wanted` matches by path, as `first_hits` finds them, in every text.

    ripgrep knows UTF-8 and marked UTF-16. Other texts that it hit, and where the pattern may match
    what other encodings spell otherwise all of them, are decoded and searched again.

    Args:
        it: The search.
        accepts: Whether lines of a file count.
        wanted: The most matches.
        assumed: The encoding that a host or a project has for a file, by its path.
    """
    if it.search.by_python:  # which decodes them itself
        return first_hits(it.search, accepts, wanted)
    hits, whole = _with_binaries(it.search, accepts, wanted), it.opened.place.told
    try:
        texts = iter(()) if hits.late else _other_texts(it, accepts, hits)
        if not (first := [*islice(texts, 1)]):  # most often, so nothing is copied
            return hits
        utf8 = (
            (path, _as_utf8(data, path or whole, partial(assumed, path)))
            for path, data in chain(first, texts)
        )
        more = hits_in_copy(it.search, utf8, accepts, wanted)
    except OSError:  # what ripgrep found stands
        return hits
    paths = {line.path for line in more.lines}  # of others, in two encodings say, ripgrep's stay
    if not more.late:  # but not those in the JSON of notebooks, whose lines nobody is shown
        paths |= {line.path for line in hits.lines if is_notebook(line.path or whole)}
    hits.lines = [line for line in hits.lines if line.path not in paths]
    hits.add(more)
    return hits


def _with_binaries(search: Search, accepts: Callable[[str], bool], wanted: int) -> Hits:
    """The first hits, with the files with NULs that match, unless to read those takes long."""
    if search.source.is_file:
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


def _other_texts(
    it: TextSearch, accepts: Callable[[str], bool], hits: Hits
) -> Iterator[tuple[str, bytes]]:
    """The texts that are not plain UTF-8, of those with hits or of all; no longer binary then."""
    whole, pattern = it.opened.place.told, it.search.query.pattern
    odd = hits.binary | {line.path for line in hits.lines if not _is_utf8(line)}
    odd |= {line.path for line in hits.lines if is_notebook(line.path or whole)}
    may_be_odd = set[str]()
    if not isinstance(it.opened, Directory):
        may_be_odd = {""}
    else:
        if _FOREIGN.search(_ESCAPED.sub("", pattern)):
            odd |= _matching(it.search, accepts, hits, _NO_UTF8)
        if _SPELLED_OTHERWISE.search(pattern):
            odd |= _matching(it.search, accepts, hits, '"cell_type"', include=(f"*{NOTEBOOK}",))
    left = _MAX_SUM
    for n, path in enumerate(sorted(odd | may_be_odd, key=order)):
        with suppress(ToolError), _opened(it, path) as file:
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


def _opened(it: TextSearch, path: str) -> AbstractContextManager[ReadableFile]:
    if isinstance(it.opened, Directory):
        return open_by_names(it.opened, path)
    return nullcontext(it.opened)


def _as_utf8(data: bytes, name: str, assumed: Assumed) -> bytes:
    """As `read` shows it; what cannot be decoded is left to the engine."""
    if is_notebook(name) and (cells := Notebook.of(data)):
        return cells.utf8
    try:
        return decode(data, "", None, assumed).utf8
    except ToolError:
        return data


def _is_utf8(line: OutputLine) -> bool:
    """A line that was cut may end within a character."""
    try:
        line.text.decode()
    except UnicodeDecodeError as error:
        return bool(line.more) and error.start > len(line.text) - UTF8_MAX
    return True


def _matching(
    search: Search,
    accepts: Callable[[str], bool],
    hits: Hits,
    pattern: str,
    include: tuple[str, ...] = (),
) -> set[str]:
    """Paths of the first files with a line that matches another pattern."""
    query = replace(
        search.query,
        pattern=pattern,
        include=(*search.query.include, *include),
        mode="files_with_matches",
        case_sensitive=True,
        multiline=False,
    )
    found = first_hits(replace(search, query=query, meanwhile=None), accepts, 1 << 30)
    hits.late |= found.late
    return {line.path for line in found.lines}
