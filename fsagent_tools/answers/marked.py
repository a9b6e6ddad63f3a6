"""A finished edit as one diff whose new and unchanged lines carry their IDs."""

from collections.abc import Sequence

from fsagent_tools.lines.diff import Hunk, grouped
from fsagent_tools.lines.document import Document
from fsagent_tools.lines.source import Lines, text_of
from fsagent_tools.session.editing import Written
from fsagent_tools.text import MAX_LINE_CHARS, clip

CONTEXT = 1  # unchanged lines beside a change that adds or removes some; a replaced line tells all
MOST_LINES = 60  # of one changed place that are shown
MOST_PLACES = 100  # that are shown


def marked_diff(document: Document, written: Written) -> str:
    """`document` is the text as it is now."""
    rows: list[str] = []
    groups = grouped(written.hunks, CONTEXT)
    shift = 0
    for group in groups[:MOST_PLACES]:
        rows += _rows(document, written.old, group, shift)
        shift += sum(hunk.growth for hunk in group)
    if (more := len(groups) - MOST_PLACES) > 0:
        rows.append(f"({more} more places not shown)")
    if not document.lines.count:
        rows.append("(the file is empty now)")
    return "\n".join(rows)


def _rows(document: Document, old: Lines, group: Sequence[Hunk], shift: int) -> list[str]:
    """`shift`: how many lines the places above have added."""
    beside = CONTEXT * any(hunk.growth for hunk in group)
    at = max(0, group[0].start - beside) + shift
    rows = [f"@@ {at + 1}"]
    for hunk in group:
        start = hunk.start + shift
        rows += _now(document, " ", at, start)
        rows += _removed(old, hunk)
        at = start + len(hunk.new)
        rows += _now(document, "+", start, at)
        shift += hunk.growth
    stop = min(document.lines.count, group[-1].stop + beside + shift)
    return rows + _now(document, " ", at, stop)


def _now(document: Document, mark: str, start: int, stop: int) -> list[str]:
    if stop - start > MOST_LINES:
        half = MOST_LINES // 2
        skipped = f"({stop - start - 2 * half} lines not shown)"
        head, tail = (start, start + half), (stop - half, stop)
        return [*_now(document, mark, *head), skipped, *_now(document, mark, *tail)]
    shown = document.tagged(start, stop).split("\n") if stop > start else []
    return [mark + line for line in shown]


def _removed(old: Lines, hunk: Hunk) -> list[str]:
    stop = min(hunk.stop, hunk.start + MOST_LINES)
    rows = [f"-{clip(text, MAX_LINE_CHARS)}" for text in text_of(old.between(hunk.start, stop))]
    return [*rows, f"({hunk.stop - stop} more lines removed)"] if stop < hunk.stop else rows
