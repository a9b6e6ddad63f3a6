"""The search by Python's `re`, where ripgrep cannot run: in a child process, which can be ended."""

import json
import os
import re
import sys
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress

from fsagent_tools.encoding import decode, looks_binary, mark_of
from fsagent_tools.errors import ToolError
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.policy import Policy
from fsagent_tools.search.contents import TYPES, contents
from fsagent_tools.search.query import STDIN, Query
from fsagent_tools.search.start import Start


def print_matches(query_json: str, kind: str) -> None:
    """Search the working directory, or standard input, and print what matches as ripgrep would.

    Args:
        query_json: The fields of a `Query`.
        kind: "directory" or "file".
    """
    query, status = Query(**json.loads(query_json)), 0
    try:
        regex = _compiled(query)
    except (re.error, OverflowError, RecursionError, ValueError, FutureWarning) as error:
        sys.exit(_complaint(f"error: {error}"))
    for path, data in _files(query, kind):
        if data is None:
            status = 2
            continue
        for record in _records(query, regex, os.fsencode(path or STDIN), data):
            sys.stdout.buffer.write(record)
            sys.stdout.buffer.flush()
    sys.exit(status)


def _complaint(text: str) -> int:
    sys.stderr.write(text)
    return 2


def _compiled(query: Query) -> re.Pattern[str]:
    """Raises what `re` does, `FutureWarning` for a class within a class."""
    if query.type and query.type not in TYPES:
        raise ValueError(f"unrecognized file type: {query.type}")
    flags = re.MULTILINE | (0 if query.case_sensitive else re.IGNORECASE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return re.compile(query.pattern, flags | (re.DOTALL if query.dotall else 0))


def _files(query: Query, kind: str) -> Iterator[tuple[str, bytes | None]]:
    if kind == "file":
        with open(0, "rb", closefd=False) as file:
            yield "", file.read()
        return
    files = LocalFiles(".", Policy())
    with files.directory(".") as top:
        yield from contents(query, top, Start(top.place, files))


def _records(query: Query, regex: re.Pattern[str], path: bytes, data: bytes) -> Iterator[bytes]:
    text = _text(data)
    if text is None:
        if not query.multiline and regex.search(data.decode("latin-1")):
            yield b"%b: binary file matches\n" % path
        return
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    found = _spanning(regex, text) if query.multiline else _single(regex, lines)
    if query.mode == "count":
        if count := sum(1 for _ in found):
            yield b"%b\0%d\n" % (path, count)
        return
    context = query.context if query.mode == "content" else 0
    columns = dict(
        hit for hit, _ in zip(found, range(query.most_of_file or sys.maxsize), strict=False)
    )
    around = range(-context, context + 1)
    for n in sorted({hit + step for hit in columns for step in around}):
        if 0 <= n < len(lines):
            mark = b"-"
            if n in columns:
                mark = b":%d:" % (len(_utf8(lines[n][: columns[n]])) + 1)
            yield b"%b\0%d%b%b\n" % (path, n + 1, mark, _utf8(lines[n]))


def _text(data: bytes) -> str | None:
    """As `read` shows it; None for what is no text."""
    if not mark_of(data) and looks_binary(data):
        return None
    with suppress(ToolError):
        return decode(data, "").utf8.decode()
    mark, encoding = mark_of(data) or (b"", "utf-8")
    return data.removeprefix(mark).decode(encoding, "replace")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _single(regex: re.Pattern[str], lines: list[str]) -> Iterator[tuple[int, int]]:
    """The index of each line that matches, and where in it the match begins."""
    for n, line in enumerate(lines):
        if match := regex.search(line.removesuffix("\r")):
            yield n, match.start()


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
