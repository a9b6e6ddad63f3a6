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
from fsagent_tools.lines.ids import cut
from fsagent_tools.lines.source import clipped, text_of
from fsagent_tools.text import MAX_LINE_CHARS
from fsagent_tools.workspace import Workspace
from fsagent_tools.workspace.tracked import Tracked

LIMIT = 2000  # lines
MAX_BYTES = 51_200  # of text in one answer
PREFIX = 14  # bytes an ID and the line end add, at most

Marks = Literal["ids", "numbers", "none"]


class ReadParams(Params):
    path: str = Field(description="File to read.")
    offset: int = Field(1, ge=1, description="First line, from 1.")
    limit: int = Field(LIMIT, ge=1, description=f"Most lines (default {LIMIT}).")
    marks: Annotated[Marks, Hidden] = Field(
        "ids", description="What stands before each line: its ID, its number or nothing."
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
    """A window of a file; `offset` is its first line, from 1."""

    content: str
    line_count: int
    total_lines: int
    truncated: bool
    offset: int
    path: str

    def render(self) -> str:
        if not self.total_lines:
            return f"({self.path} is empty)"
        if not self.truncated:
            return self.content
        last = self.offset + self.line_count - 1
        return (
            f"{self.content}\n(lines {self.offset}-{last} of {self.total_lines}; "
            f"continue with offset={last + 1})"
        )


@action(effect=Effect.READ)
def read(workspace: Workspace, p: ReadParams) -> Read:
    """Read a text file; each line comes with its ID, as edit_lines takes it."""
    with workspace.reading(p.path, p.encoding) as tracked:
        return tracked.once(p, lambda: _read(workspace.session.document(tracked), tracked, p))


def _read(document: Document, tracked: Tracked, p: ReadParams) -> Read:
    total = document.lines.count
    start = p.offset - 1
    if start >= total and (total or start):
        raise InvalidArguments(
            f"offset: {p.offset} is past the end; {document.name} has {total} lines."
        )
    lines = _window(tracked, start, min(total, start + p.limit), p.max_bytes)
    document.lines = tracked.lines or document.lines  # decoding may have changed them
    widest = p.max_bytes if len(lines) == 1 == p.limit else p.max_line_chars
    return Read(
        _marked(document, start, lines, widest, p.marks),
        len(lines),
        total,
        start + len(lines) < total,
        p.offset,
        document.name,
    )


def _window(tracked: Tracked, start: int, stop: int, most: int) -> Sequence[bytes]:
    """The lines that fit into `most` bytes as they are shown, at least one."""
    lines = tracked.fitting(start, stop, most)
    sizes = [*map(len, lines)]
    if sizes and max(sizes) <= MAX_LINE_CHARS:
        ends = [*accumulate(sizes)]
        fit = bisect_right(range(len(ends)), most, key=lambda n: ends[n] + PREFIX * (n + 1))
        return lines[: max(1, fit)]
    room = most
    lines = []
    while start < stop and room > 0:
        line = tracked.line(start)
        room -= min(len(line), 4 * MAX_LINE_CHARS) + PREFIX
        if room >= 0 or not lines:
            lines.append(line)
        start += 1
    return lines


def _marked(
    document: Document, start: int, lines: Sequence[bytes], widest: int, marks: Marks
) -> str:
    shown = clipped(lines, widest)
    if marks == "ids":
        ids = document.show(start, lines)
        if widest > MAX_LINE_CHARS and shown is lines:
            document.seen.whole.update(cut(ids))
        return document.style.lines(ids, shown)
    texts = text_of(shown)
    if marks == "numbers":
        width = max(6, len(str(start + len(lines))))
        texts = [f"{n:>{width}}\t{text}" for n, text in enumerate(texts, start + 1)]
    return "\n".join(texts)
