"""The search that stands in for ripgrep: runs in a child process, which can be ended."""

import os
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice

from fsagent_tools.errors import InvalidRegex, ToolError
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.policy import Policy
from fsagent_tools.process.reader import tie_to_host
from fsagent_tools.search.contents import TYPES, contents
from fsagent_tools.search.dialect import translate
from fsagent_tools.search.query import STDIN, Query
from fsagent_tools.search.start import Start
from fsagent_tools.search.where import unspool
from fsagent_tools.text import decode, is_utf8, mark_of

_UNMARKED = (b"", "")


def search_stdin(query: str, kind: str) -> None:
    """Search the working directory, or what standard input holds; print what is found.

    kind: a `WhereKind`.
    """
    tie_to_host()
    wanted = Query.from_json(query)
    try:
        search = RegexSearch(wanted)
        for record in search.records(_found(wanted, kind)):
            sys.stdout.buffer.write(record)
            sys.stdout.buffer.flush()
    except InvalidRegex as error:
        sys.stderr.write(f"error: {error.message}")
        sys.exit(2)
    sys.exit(2 if search.unreadable else 0)


def _found(query: Query, kind: str) -> Iterator[tuple[str, bytes | None]]:
    if kind == "directory":
        files = LocalFiles(".", Policy())
        with files.directory(".") as top:
            yield from contents(query, top, Start(top.place, files))
    with open(0, "rb", closefd=False) as file:
        if kind == "spool":
            yield from unspool(file)
        elif kind == "file":
            yield "", file.read()


def _is_binary(data: bytes) -> bool:
    _, encoding = mark_of(data) or _UNMARKED
    return b"\0" in data and encoding in ("", "utf-8")


def _decoded(data: bytes) -> str:
    """Text as its mark says; without one UTF-8, or what `read` takes it for."""
    mark, encoding = mark_of(data) or _UNMARKED
    data = data.removeprefix(mark)
    if encoding not in ("", "utf-8"):
        return data.decode(encoding, "replace")
    if not encoding and not is_utf8(data):
        with suppress(ToolError):
            return decode(data, "").utf8.decode()
    return data.decode("utf-8", "surrogateescape")


class RegexSearch:
    """A query in Python's regex dialect. `unreadable`: some file could not be read."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.unreadable = False
        flags = re.MULTILINE | (0 if query.case_sensitive else re.IGNORECASE)
        flags |= re.DOTALL if query.dotall else 0
        self.regex = translate(query.pattern, flags)
        if query.type and query.type not in TYPES:
            raise InvalidRegex(f"unrecognized file type: {query.type}")

    def records(self, found: Iterable[tuple[str, bytes | None]]) -> Iterator[bytes]:
        """The output of ripgrep for paths and contents; None for what could not be read."""
        for path, data in found:
            if data is None:
                self.unreadable = True
            elif not _is_binary(data):
                yield from self._records(os.fsencode(path or STDIN), data)
            elif not path:
                yield b"%b: binary file matches\n" % STDIN.encode()

    def _records(self, path: bytes, data: bytes) -> Iterator[bytes]:
        text = _decoded(data)
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        hits = self._spanning(text) if self.query.multiline else self._single(lines)
        if self.query.invert:
            matching = {*hits}
            hits = (n for n in range(len(lines)) if n not in matching)
        if self.query.mode == "count":
            if count := sum(1 for _ in hits):
                yield b"%b\0%d\n" % (path, count)
            return
        most = 1 if self.query.mode == "files_with_matches" else self.query.most or None
        found = list(islice(hits, most))
        if self.query.mode == "files_with_matches" and found:
            yield b"%b\0%d\n" % (path, 1)
            return
        around = self.query.context
        wanted = set(found)
        shown = {n for hit in found for n in range(hit - around, hit + around + 1)}
        for n in sorted(n for n in shown if 0 <= n < len(lines)):
            line = lines[n].encode("utf-8", "surrogateescape")
            yield b"%b\0%d%b%b\n" % (path, n + 1, b":" if n in wanted else b"-", line)

    def _single(self, lines: list[str]) -> Iterator[int]:
        search = self.regex.search
        return (n for n, line in enumerate(lines) if search(line.removesuffix("\r")))

    def _spanning(self, text: str) -> Iterator[int]:
        """Indices of all lines that a match touches, each once."""
        starts = [0, *(m.end() for m in re.finditer("\n", text))]
        last = -1
        for match in self.regex.finditer(text):
            if match.start() == len(text) > 0 and text[-1] == "\n":
                return
            first = bisect_right(starts, match.start()) - 1
            end = bisect_right(starts, max(match.start(), match.end() - 1)) - 1
            yield from range(max(first, last + 1), end + 1)
            last = max(last, end)
