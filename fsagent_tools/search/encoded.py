"""Files in other encodings than UTF-8: they are searched as the text that `read` shows of them."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from fsagent_tools.errors import InvalidRegex, TimedOut
from fsagent_tools.files.port import Directory, ReadableFile
from fsagent_tools.search.contents import content_of
from fsagent_tools.search.hits import Hits, first_hits
from fsagent_tools.search.query import Binary, OutputLine
from fsagent_tools.search.ripgrep import Search
from fsagent_tools.search.where import Where, spool
from fsagent_tools.text import is_utf8

_MOST = 500  # files, in a search for what is not in ASCII
_MAX_SIZE, _MAX_SUM = 16 << 20, 64 << 20  # bytes of one, and of all
_NO_UTF8 = (  # a byte that begins no character, or a character that breaks off or has no beginning
    r"(?-u:[\xC0\xC1\xF5-\xFF]|[\xC2-\xF4](?:[^\x80-\xBF]|$)"
    r"|[\xE0-\xF4][\x80-\xBF](?:[^\x80-\xBF]|$)|(?:^|[\x00-\x7F])[\x80-\xBF])"
)


def all_hits(
    search: Search,
    opened: Directory | ReadableFile,
    accepts: Callable[[str], bool],
    wanted: int,
) -> Hits:
    """The first `wanted` matches by path, as `first_hits` finds them, in every text.

    ripgrep knows UTF-8 and marked UTF-16. Files of hits that are neither, a single file, and where
    the pattern has characters that other encodings spell otherwise all such files, are decoded and
    searched by our own engine, as far as that knows the pattern's syntax.
    """
    hits = first_hits(search, accepts, wanted)
    if search.program is None or search.where.kind == "spool" or hits.late:
        return hits
    again = set[str]()
    try:
        with spool(_texts(search, opened, accepts, hits, again)) as file:
            if not again:
                return hits
            where = Where(file.fileno(), opened.place.absolute, "spool")
            more = first_hits(replace(search, where=where), accepts, wanted)
    except TimedOut:
        hits.late = True
        return hits
    except InvalidRegex:
        return hits
    hits.lines = [line for line in hits.lines if line.path not in again]
    hits.add(more)
    return hits


def _texts(
    search: Search,
    opened: Directory | ReadableFile,
    accepts: Callable[[str], bool],
    hits: Hits,
    again: set[str],
) -> Iterator[tuple[str, bytes | None]]:
    """What is to be decoded, one at a time; their paths go into `again`. Raises `TimedOut`."""
    if not isinstance(opened, Directory):
        small = opened.version.size <= _MAX_SIZE
        data = opened.pread(_MAX_SIZE, 0) if small else b"\0"
        if b"\0" not in data and not is_utf8(data):
            again.add("")
            yield "", data
        return
    odd = {line.path for line in hits.lines if not _is_utf8(line)}
    if not search.query.pattern.isascii():
        odd |= set(_encoded(search, accepts))
    left = _MAX_SUM
    for path in sorted(odd):
        for _, content in content_of(opened, path, min(left, _MAX_SIZE)):
            if content is not None:
                left -= len(content)
                again.add(path)
                yield path, content


def _is_utf8(line: OutputLine) -> bool:
    """A line that was cut may end within a character."""
    try:
        line.text.decode()
    except UnicodeDecodeError as error:
        return bool(line.more) and error.start > len(line.text) - 4
    return True


def _encoded(search: Search, accepts: Callable[[str], bool]) -> Iterator[str]:
    """Paths of the first files that are no UTF-8, as far as single lines tell."""
    query = replace(
        search.query,
        pattern=_NO_UTF8,
        mode="files_with_matches",
        case_sensitive=True,
        multiline=False,
        context=0,
    )
    found = 0
    run = replace(search, query=query).run()
    try:
        for record in run:
            if not isinstance(record, Binary) and accepts(record.path):
                yield record.path
                found += 1
            if found >= _MOST:
                return
    finally:
        run.close()
