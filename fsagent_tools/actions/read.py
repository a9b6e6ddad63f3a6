"""Read a window of a text file, each line with its ID."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Literal

from pydantic import Field

from fsagent_tools.action import Hidden, Params, action
from fsagent_tools.effects import Effect
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.lines.document import Document
from fsagent_tools.lines.source import text_of
from fsagent_tools.text import MAX_LINE_CHARS, clip
from fsagent_tools.workspace import Workspace
from fsagent_tools.workspace.tracked import Tracked

LIMIT = 2000  # lines
MAX_BYTES = 51_200  # of text in one answer
BATCH = 64  # lines measured at once
PREFIX = 14  # bytes an ID and the line end add, at most

Marks = Literal["ids", "numbers", "none"]


class ReadParams(Params):
    path: str = Field(description="File to read.")
    offset: int = Field(1, ge=1, description="First line, from 1.")
    limit: int = Field(LIMIT, ge=1, description=f"Most lines (default {LIMIT}).")
    marks: Annotated[Marks, Hidden] = Field(
        "ids", description="What stands before each line: its ID, its number or nothing."
    )
    end_line: Annotated[int | None, Hidden] = Field(
        None, ge=1, description="Last line, inclusive; default: the last one."
    )
    encoding: Annotated[str | None, Hidden] = Field(
        None, description="Text encoding; default: detected."
    )
    max_line_chars: Annotated[int, Hidden] = Field(
        MAX_LINE_CHARS, ge=1, description="Characters of one line that are shown."
    )
    max_bytes: Annotated[int, Hidden] = Field(
        MAX_BYTES, ge=1, description="Bytes of text in one answer."
    )


@dataclass(frozen=True)
class Read:
    """A window of a file, lines `offset` to `end_line`, from 1; `size` of the whole file, bytes."""

    content: str
    line_count: int
    total_lines: int
    truncated: bool
    offset: int
    path: str
    end_line: int
    size: int
    _next: str  # the parameter that goes on

    def render(self) -> str:
        if not self.total_lines:
            return f"({self.path} is empty)"
        if not self.truncated:
            return self.content
        return (
            f"{self.content}\n(lines {self.offset}-{self.end_line} of {self.total_lines}; "
            f"continue with {self._next}={self.end_line + 1})"
        )


@action(effect=Effect.READ)
def read(workspace: Workspace, p: ReadParams) -> Read:
    """Read a text file; each line comes with its ID, as edit_lines takes it."""
    with workspace.reading(p.path, p.encoding) as tracked:
        document = workspace.session.document(tracked)
        total = document.lines.count
        start = p.offset - 1
        if start >= total and (total or start):
            raise InvalidArguments(
                f"{p.spelled('offset')}: {p.offset} is past the end; "
                f"{document.name} has {total} lines."
            )
        limit = p.limit if p.end_line is None else min(p.limit, p.end_line - start)
        if limit < 1:
            raise InvalidArguments(
                f"end_line: {p.end_line} is before {p.spelled('offset')} {p.offset}."
            )
        lines = _window(tracked, start, min(total, start + limit), p.max_bytes)
        widest = p.max_bytes if len(lines) == 1 == limit else p.max_line_chars
        return Read(
            _marked(document, start, lines, widest, p.marks),
            len(lines),
            total,
            start + len(lines) < total,
            p.offset,
            document.name,
            start + len(lines),
            tracked.signature.size if tracked.signature else 0,
            p.spelled("offset"),
        )


def _window(tracked: Tracked, start: int, stop: int, most: int) -> Sequence[bytes]:
    """The lines that fit into `most` bytes as they are shown, at least one."""
    lines = tracked.fitting(start, stop, most)
    if lines and _longest(lines) <= MAX_LINE_CHARS:
        return lines[: max(1, _fitting(lines, most))]
    room = most
    lines = []
    while start < stop and room > 0:
        line = tracked.line(start)
        room -= min(len(line), 4 * MAX_LINE_CHARS) + PREFIX
        if room >= 0 or not lines:
            lines.append(line)
        start += 1
    return lines


def _fitting(lines: Sequence[bytes], room: int) -> int:
    """How many lines fit into `room` bytes, prefixes included."""
    for start in range(0, len(lines), BATCH):
        batch = lines[start : start + BATCH]
        size = sum(map(len, batch)) + PREFIX * len(batch)
        if size > room:
            ends = accumulate(len(line) + PREFIX for line in batch)
            return start + bisect_right(list(ends), room)
        room -= size
    return len(lines)


def _longest(lines: Sequence[bytes]) -> int:
    return max(map(len, lines), default=0)


def _marked(
    document: Document, start: int, lines: Sequence[bytes], widest: int, marks: Marks
) -> str:
    texts = text_of(lines)
    longest = _longest(lines)  # in bytes, of which a character has one at least
    if longest > widest:
        texts = [clip(text, widest) for text in texts]
    if marks == "numbers":
        width = max(6, len(str(start + len(lines))))
        return "\n".join(f"{n:>{width}}\t{text}" for n, text in enumerate(texts, start + 1))
    if marks == "none":
        return "\n".join(texts)
    ids = document.show(start, lines)
    if MAX_LINE_CHARS < longest <= widest:
        document.seen.whole.update(ids)
    return document.style.lines(ids, texts)
