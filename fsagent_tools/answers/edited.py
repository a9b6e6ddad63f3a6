"""How a finished edit is told: diff, numbered preview, fresh IDs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from fsagent_tools.lines.document import Document
from fsagent_tools.lines.source import text_of
from fsagent_tools.results import Findings
from fsagent_tools.session.editing import Edit, Written
from fsagent_tools.text import MAX_LINE_CHARS, clip

REGION = 60  # lines of one changed region that are shown
REGIONS = 100  # regions that are shown
DIFF = 400  # lines of a diff that the model sees; the host gets all

EditMarks = Literal["ids", "none"]


@dataclass(frozen=True)
class How:
    """How the text was found and how many places changed; `strategy` "" is an insertion."""

    strategy: str = ""
    replacements: int = 0


@dataclass(frozen=True)
class Edited:
    """What an edit did. `size` and `lines` are the file's now, `insertions` and `deletions` lines.

    preview: changed lines with the ones beside them, numbered from 1; region: the same with their
    IDs, "" where the toolset shows none. strategy: see `How`.
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
    region: str
    lint: Findings | None

    def render(self) -> str:
        told = [_clipped(self.diff) or f"Only line endings changed in {self.path}."]
        if self.strategy not in ("", "exact"):
            told.insert(0, f"No exact match; matched by {self.strategy}:")
        if self.replacements > 1:
            told.insert(0, f"Replaced {self.replacements} places.")
        if self.region:
            told += ["Lines now, with their IDs:", self.region]
        return "\n".join(told)


def told(edit: Edit, written: Written, how: How, marks: EditMarks) -> Edited:
    """The result of a change that was `written` through `edit`."""
    document, regions = edit.document, written.regions()
    ids = marks == "ids"
    return Edited(
        written.path,
        written.absolute,
        written.bytes_written,
        written.lines,
        written.diff(0 if ids else 3),
        written.insertions,
        written.deletions,
        how.replacements,
        how.strategy,
        _joined(regions, written.lines, lambda *window: numbered_lines(document, *window)),
        tagged(document, regions) if ids and regions else "",
        written.lint,
    )


def tagged(document: Document, regions: Sequence[tuple[int, int]]) -> str:
    """Changed regions with their IDs."""
    return _joined(regions, document.lines.count, document.tagged) or "(the file is empty now)"


def numbered_lines(document: Document, start: int, stop: int) -> str:
    """Lines `start` to `stop` (0-based) with their numbers from 1."""
    texts = text_of(document.lines.between(start, stop))
    shown = (clip(text, MAX_LINE_CHARS) for text in texts)
    return "\n".join(f"{number} {text}" for number, text in enumerate(shown, start + 1))


def _joined(regions: Sequence[tuple[int, int]], count: int, show: Callable[[int, int], str]) -> str:
    parts = []
    for start, end in regions[:REGIONS]:
        stop = min(end, count)
        if stop - start > REGION:
            half = REGION // 2
            head, tail = show(start, start + half), show(stop - half, stop)
            parts.append(f"{head}\n({stop - start - REGION} lines not shown)\n{tail}")
        elif stop > start:
            parts.append(show(start, stop))
    if more := len(regions) - REGIONS:
        parts += [f"({more} more places not shown)"] * (more > 0)
    return "\n...\n".join(parts)


def _clipped(diff: str) -> str:
    lines = diff.split("\n")
    if len(lines) <= DIFF:
        return diff
    return "\n".join([*lines[:DIFF], f"({len(lines) - DIFF} more lines of the diff not shown)"])
