"""The search that stands in for ripgrep: runs in a child process, which can be ended."""

import codecs
import os
import re
import stat
import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice

from fsagent_tools.errors import InvalidRegex
from fsagent_tools.files.door import Door
from fsagent_tools.files.roots import Place
from fsagent_tools.globs import Glob
from fsagent_tools.policy import Policy
from fsagent_tools.search.dialect import TYPES, translate
from fsagent_tools.search.query import Query
from fsagent_tools.search.start import Start
from fsagent_tools.search.walk import FILE, SUBDIRECTORY, Scope, Walk, order

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def search_stdin(query: str, kind: str) -> None:
    """Search the working directory, or the file that is standard input; print what is found."""
    try:
        search = RegexSearch(Query.from_json(query))
        for record in search.in_stdin() if kind == "file" else search.beneath("."):
            sys.stdout.buffer.write(record)
            sys.stdout.buffer.flush()
    except InvalidRegex as error:
        sys.stderr.write(f"error: {error.message}")
        sys.exit(2)
    sys.exit(2 if search.unreadable else 0)


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
        wanted = (query.include.removeprefix("/"), query.type and f"**/{TYPES[query.type]}")
        self.wanted = [Glob(pattern) for pattern in wanted if pattern]

    def in_stdin(self) -> Iterator[bytes]:
        with open(0, "rb", closefd=False) as file:
            data = file.read()
        if (
            b"\0" in data
            and not data.startswith(_MARKS[1][0])
            and not data.startswith(_MARKS[2][0])
        ):
            yield b"<stdin>: binary file matches\n"
        else:
            yield from self._records(b"<stdin>", data)

    def beneath(self, root: str) -> Iterator[bytes]:
        """Records of all files, in order of their paths."""
        query = self.query
        depth = None if query.recursive else 1
        scope = Scope(query.hidden, query.gitignore, frozenset(query.named), depth=depth)
        absolute = os.path.abspath(root)
        fd = os.open(root, os.O_RDONLY)
        walk = Walk(fd, scope, Start(Place(".", absolute), Door(absolute, Policy())))
        paths = [
            listing.prefix + entry.name
            for listing in walk
            for entry in listing.entries
            if entry.is_file(follow_symlinks=False)
            and all(glob.matches(listing.prefix + entry.name) for glob in self.wanted)
        ]
        self.unreadable = walk.unreadable > 0
        for path in sorted(paths, key=order):
            if data := self._read(fd, path):
                yield from self._records(os.fsencode(path), data)

    def _read(self, fd: int, path: str) -> bytes:
        """The content of a file; empty for what is too large, gone, no file or binary."""
        *directories, name = path.split("/")
        with ExitStack() as stack:
            try:
                for directory in directories:
                    fd = os.open(directory, SUBDIRECTORY, dir_fd=fd)
                    stack.callback(os.close, fd)
                file = stack.enter_context(open(os.open(name, FILE, dir_fd=fd), "rb"))
                status = os.fstat(file.fileno())
                limit = self.query.max_file_size
                if not stat.S_ISREG(status.st_mode) or (limit and status.st_size > limit):
                    return b""
                data = file.read()
            except FileNotFoundError:
                return b""
            except OSError:
                self.unreadable = True
                return b""
        marked = any(data.startswith(mark) for mark, _ in _MARKS[1:])
        return b"" if b"\0" in data and not marked else data

    def _records(self, path: bytes, data: bytes) -> Iterator[bytes]:
        encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "")
        data = data.removeprefix(next((m for m, n in _MARKS if n == encoding), b""))
        errors = "replace" if encoding.startswith("utf-16") else "surrogateescape"
        text = data.decode(encoding or "utf-8", errors)
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        hits = self._spanning(text) if self.query.multiline else self._single(lines)
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
        matching = set(found)
        shown = {n for hit in found for n in range(hit - around, hit + around + 1)}
        for n in sorted(n for n in shown if 0 <= n < len(lines)):
            line = lines[n].encode("utf-8", "surrogateescape")
            yield b"%b\0%d%b%b\n" % (path, n + 1, b":" if n in matching else b"-", line)

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
