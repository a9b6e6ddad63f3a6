"""Documents among the files of a search: their texts are searched, or named as not searched."""

import time
from collections.abc import Iterator
from dataclasses import replace

from fsagent_tools.call import current
from fsagent_tools.encoding import looks_binary, mark_of
from fsagent_tools.errors import Cancelled, ToolError
from fsagent_tools.files.base import SNIFFED
from fsagent_tools.files.guarded import Directory, ReadableFile
from fsagent_tools.search.contents import contents
from fsagent_tools.search.results import Hits, hits_in_copy
from fsagent_tools.search.ripgrep import Search
from fsagent_tools.toolkit.formats import HEAD, format_of
from fsagent_tools.toolkit.media import DOCUMENTS, MAX_BINARY, document_text, reader

_NAMED = 3  # of the documents that could not be read


def is_document(path: str) -> bool:
    return path.lower().endswith(DOCUMENTS)


def unsearched(file: ReadableFile) -> str:
    """What to say of a file that was named and is no text, "" for text."""
    head = file.pread(max(HEAD, SNIFFED), 0)
    if mark_of(head) or not looks_binary(head):
        return ""
    name = file.place.told
    if reader(head, name):
        return (
            f"Not searched: {name} is a document or picture. `read` shows it. Or set `documents`."
        )
    kind = format_of(head, name)
    return f"Not searched: {name} is {kind.name if kind else 'a binary file'}."


def search_documents(search: Search) -> tuple[Hits, list[str]]:
    """What a search finds in the texts of the documents of its place, lines as `read` counts them;
    and sentences on those that could not be read."""
    problems = list[str]()
    hits = hits_in_copy(search, _texts(search, problems), search.accepts, search.query.most)
    more = len(problems) - _NAMED
    rest = [f"And {more:,} more documents."] if more > 0 else []
    return hits, [*(f"Not searched: {problem}" for problem in problems[:_NAMED]), *rest]


def _files(search: Search) -> Iterator[tuple[str, bytes | None]]:
    if isinstance(search.opened, Directory):
        most = min(search.query.max_file_size or MAX_BINARY, MAX_BINARY)
        query = replace(search.query, max_file_size=most)
        yield from contents(
            query, search.opened, search.start, lambda p: is_document(p) and search.accepts(p)
        )
    elif is_document(search.start.relative("")):
        yield "", search.opened.pread(MAX_BINARY, 0)


def _texts(search: Search, problems: list[str]) -> Iterator[tuple[str, bytes | None]]:
    """The texts of documents, as far as the time of a search goes; what could not be read is added
    to `problems`.
    """
    for path, data in _files(search):
        if time.monotonic() > search.deadline:  # the search that follows says so
            return
        name = search.start.show(path)
        try:
            text = document_text(data or b"", name)
        except Cancelled:
            raise
        except ToolError as error:
            problems.append(error.message if name in error.message else f"{name}: {error.message}")
            continue
        yield path, text.encode("utf-8", "replace")
        current.get().check()
