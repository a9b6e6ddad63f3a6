"""How a finished edit is told: diff, numbered preview, fresh IDs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from fsagent_tools.lines.diff import MOST_PLACES, marked_diff
from fsagent_tools.lines.document import Document
from fsagent_tools.lines.source import text_of
from fsagent_tools.results import Findings
from fsagent_tools.session.editing import Edit, Written
from fsagent_tools.text import MAX_LINE_CHARS, changed_part, clip, first_lines

_ENDS = 5  # lines of a longer text
_LINES = 60  # of one changed place in a preview
_LINE_FOR_LINE = re.compile(r"^((?:-(?!-- ).*\n)+)((?:\+(?!\+\+ ).*(?:\n|\Z))+)", re.MULTILINE)
DIFF = 400  # lines of a diff that the model sees; the host gets all

EditMarks = Literal["ids", "none"]


@dataclass(frozen=True)
class How:
    """How the text was found and how many places changed; `strategy` "" is an insertion.

    note: what was done to the new text, or which of several places were changed.
    """

    strategy: str = ""
    replacements: int = 0
    note: str = ""


@dataclass(frozen=True)
class Edited:
    """What an edit did. `size` and `lines` are the file's now, `insertions` and `deletions` lines.

    preview: changed lines with the ones beside them, numbered from 1. strategy, note: see `How`.
    _marked: the diff with line IDs, "" where the toolset shows none.
    """

    path: str
    absolute: str
    size: int
    lines: int
    diff: str
    insertions: int
    deletions: int
    replacements: int
    strategy: str
    preview: str
    _marked: str
    lint: Findings | None
    note: str = ""
    _broken: str = ""
    _changed: bool = True
    tells_note = True  # in the line above the diff

    def render(self) -> str:
        return self._under_note(self._marked or self.plain_diff())

    def plain(self) -> str:
        return self._under_note(self.plain_diff())

    def plain_diff(self) -> str:
        what = "Only line endings" if self._changed else "Nothing"
        return of_sent(self.diff) or f"{what} changed in {self.path}."

    def _under_note(self, diff: str) -> str:
        first = ""
        if self.strategy not in ("", "exact"):
            how = ", ".join(filter(None, (self.strategy, self.note)))
            first = f"No exact match; matched by {how}:"
        elif self.note:
            first = f"{self.note.capitalize()}."
        elif self.replacements > 1:
            first = f"Replaced {self.replacements} places."
        return "\n".join(filter(None, (first, diff, self._broken)))


def edited_of(edit: Edit, written: Written, how: How, marks: EditMarks) -> Edited:
    """The result of a change that was `written` through `edit`."""
    document = edit.document
    return Edited(
        written.path,
        written.absolute,
        written.bytes_written,
        written.lines,
        written.diff(),
        written.insertions,
        written.deletions,
        how.replacements,
        how.strategy,
        _preview(document, written),
        marked_diff(document, written.old, written.hunks) if marks == "ids" else "",
        written.lint,
        how.note,
        written.broken,
        written.changed,
    )


def of_files(texts: Sequence[tuple[str, str]]) -> str:
    """What is told of each of several files beneath its path."""
    return "\n".join(f"== {path}\n{text}" for path, text in texts)


def numbered_lines(document: Document, start: int, stop: int) -> str:
    """Lines `start` to `stop` (0-based) with their numbers from 1."""
    texts = text_of(document.lines.between(start, stop))
    shown = (clip(text, MAX_LINE_CHARS) for text in texts)
    return "\n".join(f"{number} {text}" for number, text in enumerate(shown, start + 1))


def of_sent(diff: str) -> str:
    """As much of a diff as a model is shown that has sent its lines: of many, the ends."""
    rows: list[str] = []
    for sign, run in groupby(diff.split("\n"), lambda row: row[:1]):
        lines = [*run]
        if sign in ("+", "-") and (left := len(lines) - 2 * _ENDS) > _ENDS:
            what = "added" if sign == "+" else "removed"
            lines[_ENDS:-_ENDS] = [f"({left:,} {what} lines not shown)"]
        rows += lines
    return clipped("\n".join(rows))


def clipped(diff: str) -> str:
    """As much of a diff as a model is shown."""
    if len(diff) > MAX_LINE_CHARS:
        diff = _LINE_FOR_LINE.sub(_with_parts, diff)
    return first_lines(diff, DIFF, MAX_LINE_CHARS + len("+"), " of the diff not shown")


def _with_parts(match: re.Match[str]) -> str:
    """Lines in the place of as many others, of long ones what is around the change."""
    old, new = (match[n].rstrip("\n").split("\n") for n in (1, 2))
    if len(old) != len(new) or len(match[0]) <= MAX_LINE_CHARS:
        return match[0]
    both = [changed_part(one[1:], other[1:]) for one, other in zip(old, new, strict=True)]
    rows = [f"-{one}" for one, _ in both] + [f"+{other}" for _, other in both]
    return "\n".join(rows) + "\n" * match[2].endswith("\n")


def _preview(document: Document, written: Written) -> str:
    parts = []
    regions = written.regions()
    for start, end in regions[:MOST_PLACES]:
        stop = min(end, written.lines)
        if stop - start > _LINES:
            head = numbered_lines(document, start, start + _LINES // 2)
            tail = numbered_lines(document, stop - _LINES // 2, stop)
            parts.append(f"{head}\n({stop - start - _LINES} lines not shown)\n{tail}")
        elif stop > start:
            parts.append(numbered_lines(document, start, stop))
    if (more := len(regions) - MOST_PLACES) > 0:
        parts.append(f"({more} more places not shown)")
    return "\n...\n".join(parts)
