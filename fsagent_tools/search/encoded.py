"""Notebooks and files that are not UTF-8: they are searched as the text that `read` shows."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from fsagent_tools.encoding import Assumed, decode, is_utf8, looks_binary
from fsagent_tools.errors import InvalidRegex, TimedOut, ToolError
from fsagent_tools.files.guarded_file import Directory, ReadableFile
from fsagent_tools.notebook import Notebook, is_notebook
from fsagent_tools.policy import MAX_WHOLE
from fsagent_tools.search.contents import content_of
from fsagent_tools.search.hits import Hits, first_hits
from fsagent_tools.search.query import OutputLine
from fsagent_tools.search.ripgrep import Search
from fsagent_tools.search.walk import order
from fsagent_tools.search.where import Where, spool
from fsagent_tools.text import NOTEBOOK

_SPELLED_OTHERWISE = re.compile(r"[\"^$\\]|[^\0-\x7f]")  # in JSON
_MOST = 500  # files, in a search for what is not in ASCII
_MAX_SIZE, _MAX_SUM = 16 << 20, 64 << 20  # bytes of one, and of all
_SECONDS = 10.0  # for our own engine where ripgrep has answered; some patterns take it very long
_NO_UTF8 = (  # a byte that begins no character, or a character that breaks off or has no beginning
    r"(?-u:[\xC0\xC1\xF5-\xFF]|[\xC2-\xF4](?:[^\x80-\xBF]|$)"
    r"|[\xE0-\xF4][\x80-\xBF](?:[^\x80-\xBF]|$)|(?:^|[\x00-\x7F])[\x80-\xBF]"
    r"|[\xC2-\xDF][\x80-\xBF]{2}|[\xE0-\xEF][\x80-\xBF]{3}"
    r"|[\xF0-\xF4][\x80-\xBF]{2}(?:[\x80-\xBF]{2}|[^\x80-\xBF]|$))"
)


def all_hits(
    search: Search,
    opened: Directory | ReadableFile,
    accepts: Callable[[str], bool],
    wanted: int,
    assumed: Callable[[str], str] = lambda _: "",
) -> Hits:
    """The first `wanted` matches by path, as `first_hits` finds them, in every text.

    assumed: the encoding that a host or a project has for a file, by its path beneath the start.
    ripgrep knows UTF-8 and marked UTF-16. Files of hits that are neither, a single file, and where
    the pattern has characters that other encodings spell otherwise all such files, are decoded and
    searched by our own engine, as far as that knows the pattern's syntax.
    """
    hits = first_hits(search, accepts, wanted)
    if search.program is None or search.where.kind == "spool" or hits.late:
        return hits
    if isinstance(opened, Directory) and not hits.lines:
        hits.binary.update(_binary(search, accepts))
    query = replace(search.query, type="", include=())  # what is read has passed them
    plain = query.pattern.isascii()  # ripgrep's answer is whole, but for how it is shown
    try:
        texts = _texts(search, opened, accepts, hits)
        if (first := next(texts, None)) is None:  # most often, so no file is made
            return hits
        every = chain([first], texts)
        start = opened.place.told
        shown = ((p, _as_utf8(d, p or start, partial(assumed, p))) for p, d in every)
        with spool(shown) as file:
            where = Where(file.fileno(), opened.place.absolute, "spool")
            due = min(search.deadline, time.monotonic() + _SECONDS) if plain else search.deadline
            again = replace(search, query=query, where=where, deadline=due)
            more = first_hits(again, accepts, wanted)
    except (InvalidRegex, OSError):  # what ripgrep found stands
        return hits
    except TimedOut:
        hits.late = True
        return hits
    if more.late and plain:
        return hits
    hits.binary -= {line.path for line in more.lines}
    paths = {line.path for line in more.lines}  # of others, in two encodings say, ripgrep's stay
    if not more.late:  # but not the JSON of notebooks, whose lines nobody is shown
        paths.update(line.path for line in hits.lines if is_notebook(line.path or start))
    hits.lines = [line for line in hits.lines if line.path not in paths]
    hits.add(more)
    return hits


def _texts(
    search: Search,
    opened: Directory | ReadableFile,
    accepts: Callable[[str], bool],
    hits: Hits,
) -> Iterator[tuple[str, bytes | None]]:
    """What is to be decoded, one at a time. Raises `TimedOut`."""
    if not isinstance(opened, Directory):
        small = opened.version.size <= _MAX_SIZE
        data = opened.pread(_MAX_SIZE, 0) if small else b"\0"
        is_odd = is_notebook(opened.place.told) or b"\0" in data or not is_utf8(data)
        if not looks_binary(data) and is_odd:
            yield "", data
        return
    odd = {line.path for line in hits.lines if not _is_utf8(line)} | hits.binary
    odd.update(line.path for line in hits.lines if is_notebook(line.path))
    if _SPELLED_OTHERWISE.search(search.query.pattern):
        odd.update(_matching(search, accepts, '"cell_type"', include=(f"*{NOTEBOOK}",)))
    if not search.query.pattern.isascii():
        odd.update(_matching(search, accepts, _NO_UTF8))
    left = _MAX_SUM
    for path in sorted(odd, key=order):
        for _, content in content_of(opened, path, min(left, _MAX_SIZE), looks_binary):
            if content is not None and not (path in hits.binary and looks_binary(content)):
                left -= len(content)
                yield path, content


def _as_utf8(data: bytes | None, name: str, assumed: Assumed) -> bytes | None:
    """As `read` shows it; what cannot be decoded is left to the engine."""
    if data and is_notebook(name) and (cells := Notebook.of(data)):
        return cells.utf8
    try:
        return data and decode(data, "", None, assumed).utf8
    except ToolError:
        return data


def _is_utf8(line: OutputLine) -> bool:
    """A line that was cut may end within a character."""
    try:
        line.text.decode()
    except UnicodeDecodeError as error:
        return bool(line.more) and error.start > len(line.text) - 4
    return True


def _binary(search: Search, accepts: Callable[[str], bool]) -> set[str]:
    """Files with NULs that match; some of them are text all the same."""
    query = replace(
        search.query, binary=True, max_file_size=search.query.max_file_size or MAX_WHOLE
    )
    due = min(search.deadline, time.monotonic() + _SECONDS)
    return first_hits(replace(search, query=query, deadline=due), accepts, 1).binary


def _matching(
    search: Search, accepts: Callable[[str], bool], pattern: str, **restricted: Any
) -> list[str]:
    """Paths of the first files with this pattern, as far as single lines tell."""
    query = replace(
        search.query,
        pattern=pattern,
        mode="files_with_matches",
        case_sensitive=True,
        multiline=False,
        context=0,
        **restricted,
    )
    found = first_hits(replace(search, query=query), accepts, _MOST)
    if found.late:
        raise TimedOut("The search took too long.")
    return [line.path for line in found.lines]
