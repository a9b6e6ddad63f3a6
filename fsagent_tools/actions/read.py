"""Read a window of a file: text with its line IDs, documents, pictures, notebooks."""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fsagent_tools.errors import BinaryFile, InvalidArguments, Missing, TooLarge
from fsagent_tools.files.guarded import ReadableFile
from fsagent_tools.lines.document import Document
from fsagent_tools.lines.source import Window
from fsagent_tools.notebook import PICTURE, Notebook
from fsagent_tools.results import Block
from fsagent_tools.text import MAX_LINE_CHARS, NOTEBOOK, clip
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.formats import HEAD, explained
from fsagent_tools.toolkit.media import (
    DOCUMENTS,
    MAX_BINARY,
    Media,
    MediaReader,
    notebook_blocks,
    reader,
)
from fsagent_tools.toolkit.params import number_as_text
from fsagent_tools.toolkit.window import (
    Bounds,
    Marks,
    Read,
    ReadPicture,
    beside_numbers,
    mark_bytes,
    marked,
    numbered,
    part_of_line,
    together,
    whole,
    window,
    window_start,
)

if TYPE_CHECKING:
    from fsagent_tools.toolkit.matches import Matches

_PLACE = re.compile(r"(.+):([1-9]\d{0,8}):([1-9]\d{0,11})", re.DOTALL)
_LIMIT = 2000  # lines
_MAX_BYTES = 51_200  # of text in one answer
MOST_PICTURES = 5  # in one answer
_MOST_PARTS = 50  # of one call, beside the first


class ReadParams(Params):
    path: str = Field(description="File to read.")
    offset: int = Field(1, ge=1, description="First line, from 1.")
    limit: int = Field(_LIMIT, ge=1, description=f"Most lines (default {_LIMIT}).")
    marks: Marks = Field(
        "ids",
        description="Before each line: its ID, its number, or nothing and endings as they are.",
    )
    numbers: bool = Field(False, description="Line numbers, too.")
    more: list[str] = Field(
        default_factory=list,
        max_length=_MOST_PARTS,
        description="Read these too: b.py, a.py:300-340.",
    )
    pattern: str | None = Field(None, description="Regex: show only the lines that match.")
    pages: str | None = Field(None, description="Pages of a PDF, e.g. 1-5.")
    end_line: int | None = Field(
        None, ge=1, description="Last line, inclusive; default: the last one."
    )
    column: int | None = Field(
        None, ge=1, description="Of one long line: first character, from 1. Or path:LINE:COLUMN."
    )
    encoding: str | None = Field(None, description="Text encoding; default: detected.")
    max_line_chars: int = Field(
        MAX_LINE_CHARS, ge=1, description="Characters of one line that are shown."
    )
    max_bytes: int = Field(
        _MAX_BYTES, ge=1, description="Bytes of text in one answer, IDs and notes included."
    )
    whole: bool = Field(
        False, description="Give the host all lines asked for, whatever the model's text shows."
    )
    max_binary_size: int = Field(
        MAX_BINARY, ge=0, description="Bytes of a document or picture that is still opened."
    )

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        return number_as_text(values, "pages")


@action(effect=Effect.READ)
def read(workspace: Workspace, p: ReadParams) -> Read:
    """Read a text file. Each line comes with its ID, as `edit_lines` takes it."""
    first = _one(workspace, p)
    if not p.more:
        return first

    def part(path: str, start: int, end: int | None, room: int) -> Read:
        lines = {"offset": start, "end_line": end, "limit": _LIMIT}
        return _one(workspace, p.changed(path=path or p.path, **lines, max_bytes=room, more=[]))

    text, every = together(first, p.more, p.max_bytes, part)
    return replace(
        first,
        truncated=any(one.truncated for one in every),
        note="",
        blocks=tuple(block for one in every for block in one.blocks),
        _text=text,
    )


def _one(workspace: Workspace, asked: ReadParams) -> Read:
    if asked.path.startswith("/"):  # so begins what commands keep for themselves
        workspace = workspace.readable(asked.path)
    with _opened(workspace, asked) as (file, p):
        if p.pattern is not None:
            return _matching(workspace, p, file)
        try:
            with workspace.session.reading(file, workspace.style, p.encoding) as document:
                show = _lines if p.column is None else _part_of_line
                found = show(document, p, file)

            return _with_pictures(found, p, file)
        except BinaryFile as refusal:
            head, name = file.pread(HEAD, 0), file.place.told
            other = reader(head, name)
            if other and (media := _media(p, file, other)):
                workspace.session.saw(file.place.relative)
                return media
            raise explained(refusal, head, name) from None


@contextmanager
def _opened(workspace: Workspace, p: ReadParams) -> Iterator[tuple[ReadableFile, ReadParams]]:
    """The file, or the one that `path:LINE:COLUMN` names."""
    place = _PLACE.fullmatch(p.path)
    try:
        opened = workspace.files.open(p.path)
    except Missing:
        if not place:
            raise
        path, line, column = place.groups()
        opened = workspace.files.open(path)
        p = p.changed(path=path, offset=int(line), column=int(column))
    with opened as file:
        yield file, p


def _part_of_line(document: Document, p: ReadParams, file: ReadableFile) -> Read:
    """As much of one line, from a column on, as an answer holds."""
    lines, total, first = document.lines, document.lines.count, p.column or 1
    line = window_start(p.offset, total, document.name)
    text, whole = part_of_line(lines, line, first - 1, p.max_bytes)
    if first > max(1, whole):
        raise InvalidArguments(
            f"`column`={first} is past the end; line {p.offset} has {whole:,} characters."
        )
    about = _about(p, file, (line + 1, total))
    last = first - 1 + len(text)
    about["truncated"] = last < whole
    about["note"] = f"(line {p.offset}, columns {first:,}-{last:,} of {whole:,})"
    if last < whole:
        about["note"] = f"{about['note'][:-1]}; {_next_part(file, p.offset, last)})"
    return Read(text, 1, total, **about)


def _next_part(file: ReadableFile, line: int, shown: int) -> str:
    return f"continue with `path`={file.place.told}:{line}:{shown + 1}"


def _lines(document: Document, p: ReadParams, file: ReadableFile) -> Read:
    total = document.lines.count
    start = window_start(p.offset, total, document.name)
    limit = p.limit if p.end_line is None else min(p.limit, p.end_line - start)
    if limit < 1:
        raise InvalidArguments(f"`end_line`={p.end_line} is before `offset`={p.offset}.")
    stop = min(total, start + limit)
    found = _window(document, (start, stop), p)
    count = found.count
    widest = p.max_bytes if count == 1 == limit else p.max_line_chars
    text = marked(document, found, widest, p.marks)
    if p.numbers and p.marks == "ids":
        text = beside_numbers(found, text)
    about = _about(p, file, (start + count, total), stop)
    if found.clips(widest):
        about["truncated"] = True
        if count == 1 and found.clips(p.max_bytes):
            about["note"] = f"({_next_part(file, start + 1, widest)})"
    about["note"] = " ".join(filter(None, (about["note"], document.note())))
    if p.whole and about["truncated"]:
        return Read(whole(document, start, stop), count, total, **about, _text=text)
    return Read(text, count, total, **about)


def _window(document: Document, lines: tuple[int, int], p: ReadParams) -> Window:
    """The lines to show; the note on how to go on takes room, too."""
    start, stop = lines
    total, room = document.lines.count, p.max_bytes
    mark = mark_bytes(document, p.marks, stop) + (len(str(stop)) + 1 if p.numbers else 0)
    if stop < total or document.lines.bytes_in(start, stop) + mark * (stop - start) > room:
        room = max(1, room - len(_note(p.offset, total, total)) - 1)
    return window(document, start, stop, Bounds(room, p.max_line_chars, mark))


def _about(
    p: ReadParams, file: ReadableFile, end: tuple[int, int], wanted: int | None = None
) -> dict[str, Any]:
    """What every result tells of the file; `end`: the last line shown and the last there is.

    wanted: the last line of the window that was asked for.
    """
    last, total = end
    window = wanted if {"limit", "end_line"} & {*p.given} else None
    return {
        "truncated": last < (total if window is None else window),
        "offset": p.offset,
        "end_line": last,
        "path": file.place.told,
        "absolute": file.place.told_absolute,
        "size": file.version.size,
        "mtime": file.version.mtime_ns / 1e9,
        "note": _note(p.offset, last, total) if last < total else "",
    }


def _note(first: int, last: int, total: int) -> str:
    return f"(lines {first}-{last} of {total}; continue with `offset`={last + 1})"


def _with_pictures(found: Read, p: ReadParams, file: ReadableFile) -> Read:
    """Among the lines of a notebook the pictures that its cells drew."""
    if not p.path.lower().endswith(NOTEBOOK) or PICTURE not in found.content:
        return found
    data = file.pread(file.version.size, 0)
    cells = Notebook.of(data)
    shown = range(found.offset - 1, found.end_line)
    wanted = [row for row in cells.pictures.items() if row[0] in shown] if cells else []
    numbers, note = [number for _, number in wanted[:MOST_PICTURES]], found.note
    if len(wanted) > MOST_PICTURES:
        line = wanted[MOST_PICTURES][0] + 1
        more = f"(pictures from line {line} on are not shown; continue with `offset`={line})"
        note = " ".join(filter(None, (note, more)))
    return replace(found, blocks=notebook_blocks(data, numbers), note=note)


def _media(p: ReadParams, file: ReadableFile, other: MediaReader) -> Read | None:
    if (media := _content(p, file, other)) is None:
        return None
    total = len(media.lines)
    start = window_start(p.offset, total, file.place.told)
    stop, blocks = _shown(p, media, start)
    content = "\n".join(clip(line, p.max_line_chars) for line in media.lines[start:stop])
    about = _about(p, file, (stop, total), min(total, start + p.limit))
    if total == len(blocks) == 1:
        data = blocks[0].data
        return ReadPicture(content, 1, 1, **about, blocks=tuple(blocks), image_data=data)
    return Read(content, stop - start, total, **about, blocks=tuple(blocks))


def _content(p: ReadParams, file: ReadableFile, other: MediaReader) -> Media | None:
    name, size = file.place.told, file.version.size
    if size > p.max_binary_size:
        raise TooLarge(
            f"{name} has {size:,} bytes; at most {p.max_binary_size:,} are opened.",
            hint="Raise `max_binary_size`.",
        )
    return other(file.pread(size, 0), name, p.pages)


def _shown(p: ReadParams, media: Media, start: int) -> tuple[int, list[Block]]:
    """Where the window from line `start` ends, and the pictures in it."""
    stop, room = start, p.max_bytes
    wanted: list[int] = []
    while stop < min(len(media.lines), start + p.limit) and len(wanted) < MOST_PICTURES:
        room -= min(len(media.lines[stop]), p.max_line_chars) + 1
        if room < 0 and stop > start:
            break
        wanted += [media.pictures[stop]] if stop in media.pictures else []
        stop += 1
    drawn = media.draw(wanted) if wanted and media.draw else ()
    return stop, [block for block in drawn if block]


def _matching(workspace: Workspace, p: ReadParams, file: ReadableFile) -> Read:
    """The lines from `offset` on that match, at most `limit`."""
    ids = p.marks == "ids"
    wanted = {"pattern": p.pattern, "path": p.path, "max_results": p.offset - 1 + p.limit}
    # those before `offset` count as bytes there, too
    hidden = {"ids": ids, "documents": True, "max_bytes": sys.maxsize}
    grep = import_module("fsagent_tools.actions.grep").grep  # a third of a start, seldom needed
    found: Matches = grep.run(workspace, grep.params(**wanted, **hidden))
    rows = [row for row in found.matches if row["line"] >= p.offset][: p.limit]
    numbers, texts = [row["line"] for row in rows], [row["content"] for row in rows]
    if ids and all("line_id" in row or not row["content"].strip() for row in rows):
        marked = [(row.get("line_id"), row["content"]) for row in rows]
        content = "\n".join(workspace.style.line(i, text) if i else text for i, text in marked)
    else:
        content = numbered(numbers, texts)
    total = _line_count(workspace, p, file)
    last = numbers[-1] if rows and (found.truncated or len(rows) == p.limit) else total
    matching = Read(content, len(rows), total, **_about(p, file, (last, total)))
    return matching if rows else replace(matching, note=f"(no line matches {p.pattern!r})")


def _line_count(workspace: Workspace, p: ReadParams, file: ReadableFile) -> int:
    name = file.place.relative.lower()
    if name.endswith(DOCUMENTS):
        other = None if name.endswith(NOTEBOOK) else reader(file.pread(HEAD, 0), name)
        if other and (media := _content(p, file, other)):
            return len(media.lines)
    reading = workspace.session.reading
    with reading(file, workspace.style, p.encoding, glimpse=True) as document:
        return document.lines.count
