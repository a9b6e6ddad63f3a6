"""The search by Python's `re`, where ripgrep cannot run: in a child process, which can be ended.

It also searches files that are not on a disk, and texts that are not UTF-8, as `read` shows them.
"""

import os
import re
import sys
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from fsagent_tools.encoding import decode, is_utf8, looks_binary, mark_of
from fsagent_tools.errors import ToolError
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.policy import Policy
from fsagent_tools.search.contents import TYPES, contents
from fsagent_tools.search.query import STDIN, Query
from fsagent_tools.search.start import Start
from fsagent_tools.search.where import unspool

_UNMARKED = (b"", "")


def search_stdin(query: str, kind: str) -> None:
    """Search the working directory, or what standard input holds; print it as ripgrep would.

    kind: a `WhereKind`.
    """
    wanted, unreadable = Query.from_json(query), False
    try:
        regex = _compiled(wanted)
    except (re.error, OverflowError, RecursionError, ValueError, FutureWarning) as error:
        sys.stderr.write(f"error: {error}")
        sys.exit(2)
    for path, data in _found(wanted, kind):
        if data is None:
            unreadable = True
            continue
        for record in _records(wanted, regex, os.fsencode(path or STDIN), data):
            sys.stdout.buffer.write(record)
            sys.stdout.buffer.flush()
    sys.exit(2 if unreadable else 0)


def _compiled(query: Query) -> re.Pattern[str]:
    """Raises what `re` does, `FutureWarning` for a class within a class."""
    if query.type and query.type not in TYPES:
        raise ValueError(f"unrecognized file type: {query.type}")
    flags = re.MULTILINE | (0 if query.case_sensitive else re.IGNORECASE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return re.compile(query.pattern, flags | (re.DOTALL if query.dotall else 0))


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


def _records(query: Query, regex: re.Pattern[str], path: bytes, data: bytes) -> Iterator[bytes]:
    unmarked = (mark_of(data) or _UNMARKED)[1] in ("", "utf-8")
    if unmarked and b"\0" in data and looks_binary(data):
        if path == STDIN.encode():
            yield b"%b: binary file matches\n" % path
        return
    text = _decoded(data)
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    hits = _hits(query, regex, text, lines)
    if query.mode != "content":
        most = 1 if query.mode == "files_with_matches" else None
        if count := len([*islice(hits, most)]):
            yield b"%b\0%d\n" % (path, count)
        return
    found = dict(islice(hits, query.most or None))
    around = range(-query.context, query.context + 1)
    for n in sorted({hit + step for hit in found for step in around}):
        if 0 <= n < len(lines):
            line = lines[n].encode("utf-8", "surrogateescape")
            mark = b":" if n in found else b"-"
            if n in found and query.columns:
                before = lines[n][: found[n]].encode("utf-8", "surrogateescape")
                mark = b":%d:" % (len(before) + 1)
            yield b"%b\0%d%b%b\n" % (path, n + 1, mark, line)


def _hits(
    query: Query, regex: re.Pattern[str], text: str, lines: list[str]
) -> Iterator[tuple[int, int]]:
    """The index of each line of `text` that is wanted, and where in it the match begins."""
    return _spanning(regex, text) if query.multiline else _single(regex, lines)


def _single(regex: re.Pattern[str], lines: list[str]) -> Iterator[tuple[int, int]]:
    found = ((n, regex.search(line.removesuffix("\r"))) for n, line in enumerate(lines))
    return ((n, match.start()) for n, match in found if match)


def _decoded(data: bytes) -> str:
    """Text as its mark says; without one UTF-8, or what `read` takes it for."""
    mark, encoding = mark_of(data) or _UNMARKED
    data = data.removeprefix(mark)
    if encoding not in ("", "utf-8"):
        return data.decode(encoding, "replace")
    if not encoding and (b"\0" in data or not is_utf8(data)):
        with suppress(ToolError):
            return decode(data, "").utf8.decode()
    return data.decode("utf-8", "surrogateescape")


def _spanning(regex: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """The same for all lines that a match touches, each once."""
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    last = -1
    for match in regex.finditer(text):
        if match.start() == len(text) > 0 and text[-1] == "\n":
            return
        first = bisect_right(starts, match.start()) - 1
        end = bisect_right(starts, max(match.start(), match.end() - 1)) - 1
        for n in range(max(first, last + 1), end + 1):
            yield n, max(0, match.start() - starts[n])
        last = max(last, end)
